package loop

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// readRules reads the one PreemptionConfig of Kueue in a file, to which all queues refer. It fails on
// another object, on what is not valid or not known, and on a rule that waits for its trigger: the
// replay observes no triggers.
func readRules(file string) (*rules.Config, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var of read.Kueue
	var odd error
	names := []string{}
	notes, err := input.Read([]input.Source{{Name: file, Reader: f}}, input.Options{}, func(o *input.Object) error {
		var err error
		if names = append(names, o.ID()); o.Group() != kueue.Group || o.Kind != "PreemptionConfig" {
			err = fmt.Errorf("%s %s: want a PreemptionConfig of %s", o.Kind, o.ID(), kueue.Group)
		} else if err = of.Add(o); errors.Is(err, input.ErrAgain) {
			return err
		} else if err != nil {
			err = fmt.Errorf("PreemptionConfig %s: %w", o.ID(), err)
		}
		odd = cmp.Or(odd, err)
		return err
	})
	c := of.Cluster()
	notes = append(bridge.Texts(c.Notes), notes...)
	switch configs := c.State.Rules; {
	case odd != nil:
		return nil, odd
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), file+": "))
	case len(names) > 1:
		return nil, fmt.Errorf("it has %d PreemptionConfigs, %s: want one", len(names), strings.Join(names, " and "))
	case len(notes) > 0:
		return nil, errors.New(notes[0])
	case len(configs) == 0 || len(configs[0].Rules) == 0:
		return nil, errors.New("want a PreemptionConfig with rules")
	case slices.ContainsFunc(configs[0].Rules, func(r rules.Rule) bool { return r.ActivationPolicy.MinTriggerRequiredDuration.Or(0) > 0 }):
		return nil, errors.New("minTriggerRequiredDuration is not replayed")
	}
	return &c.State.Rules[0], nil
}

// ruleWord reads the word rules=FILE.
func (p *Policy) ruleWord(word string) (is bool, err error) {
	file, is := strings.CutPrefix(word, "rules=")
	if !is {
		return false, nil
	}
	if p.rules != nil {
		return true, fmt.Errorf("rules=%s: another rules= is there already: give one", file)
	}
	if p.rules, err = readRules(file); err != nil {
		return true, fmt.Errorf("rules=%s: %w", file, err)
	}
	return true, nil
}

// timed reports whether time changes which jobs the rules accept.
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
