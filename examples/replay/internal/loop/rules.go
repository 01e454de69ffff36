package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/rules"
)

// readRules reads a PreemptionConfig of Kueue, to which all queues refer. It fails on what is not valid
// or not known, and on a rule that waits for its trigger: the replay observes no triggers.
func readRules(file string) (*rules.Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var object kueue.PreemptionConfig
	if data, err = yaml.YAMLToJSON(data); err == nil {
		err = json.Unmarshal(data, &object)
	}
	if err != nil {
		return nil, err
	}
	c, notes := object.Rules()
	switch {
	case len(notes) > 0:
		return nil, errors.New(notes[0].Text)
	case c.Name == "" || len(c.Rules) == 0:
		return nil, errors.New("want a PreemptionConfig with rules")
	case slices.ContainsFunc(c.Rules, func(r rules.Rule) bool { return r.ActivationPolicy.MinTriggerRequiredDuration.Or(0) > 0 }):
		return nil, errors.New("minTriggerRequiredDuration is not replayed")
	}
	return &c, nil
}

// ruleWord reads the word rules=FILE.
func (p *Policy) ruleWord(word string) (is bool, err error) {
	file, is := strings.CutPrefix(word, "rules=")
	if !is {
		return false, nil
	}
	if p.rules, err = readRules(file); err != nil {
		return true, fmt.Errorf("rules=%s: %w", file, err)
	}
	return true, nil
}

// timed reports whether time changes whom the rules accept.
func (p *Policy) timed() bool {
	return p.rules != nil && slices.ContainsFunc(p.rules.Rules, func(r rules.Rule) bool {
		return slices.ContainsFunc(r.CandidateSelectors, func(s rules.CandidateSelector) bool { return !s.Time.IsZero() })
	})
}

// ruled returns the queues as they refer to the rules, and the rules.
func (p *Policy) ruled(queues []queue.Queue) ([]queue.Queue, []rules.Config) {
	if p.rules == nil {
		return queues, nil
	}
	queues = slices.Clone(queues)
	for i := range queues {
		queues[i].Rules = p.rules.Name
	}
	return queues, []rules.Config{*p.rules}
}
