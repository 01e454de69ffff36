package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// RulesView is a configuration of preemption rules, for editing.
type RulesView struct {
	Name   string     `json:"name"`
	Queues []string   `json:"queues"` // that refer to it
	Rules  []RuleView `json:"rules"`
	// JSON is that of [rules.Config], with the edits but with all rules switched on.
	JSON string `json:"json"`
}

// RuleView is a rule that can be switched off.
type RuleView struct {
	Name string `json:"name"`
	Text string `json:"text"` // trigger and scopes
	On   bool   `json:"on"`
}

// Rules returns the rules with the edits, by name.
func (m *Model) Rules() []RulesView {
	list := []RulesView{}
	for i := range m.now.rules {
		c := &m.now.rules[i]
		v := RulesView{Name: c.Name, Queues: []string{}, Rules: []RuleView{}}
		for q := range m.now.Snapshot.Queues() {
			if q.Rules == c.Name {
				v.Queues = append(v.Queues, q.Name)
			}
		}
		on, _ := m.now.Snapshot.Rules(c.Name)
		for _, r := range c.Rules {
			var scopes []string
			for _, s := range r.CandidateSelectors {
				scopes = append(scopes, string(s.Scope))
			}
			v.Rules = append(v.Rules, RuleView{
				Name: r.Name, Text: fmt.Sprintf("%s: %s", r.ActivationPolicy.Trigger, answers.OrNothing(scopes)),
				On: slices.ContainsFunc(on.Rules, func(o rules.Rule) bool { return o.Name == r.Name }),
			})
		}
		if text, err := json.MarshalIndent(c, "", "  "); err == nil {
			v.JSON = string(text)
		}
		list = append(list, v)
	}
	return list
}

// ruleEdits are edits of rules, as they come to be applied.
type ruleEdits struct {
	list    []rules.Config  // all rules
	changed map[string]bool // by name
	off     []Edit          // rules that are switched off, when the others are known
}

// set reads the rules of an edit; an empty value removes them.
func (r *ruleEdits) set(e Edit) error {
	r.changed[e.Node] = true
	r.list = slices.DeleteFunc(slices.Clone(r.list), func(c rules.Config) bool { return c.Name == e.Node })
	if e.Value == "" {
		return nil
	}
	c, err := readRules(e.Value)
	if err != nil {
		return err
	}
	if c.Name == "" {
		return errors.New("name: is empty")
	}
	if c.Name != e.Node {
		return fmt.Errorf("name: %q: it stays %q", c.Name, e.Node)
	}
	if err := rules.Validate([]rules.Config{c}); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "configs[0].", ""))
	}
	r.list = append(r.list, c)
	slices.SortFunc(r.list, func(a, b rules.Config) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// readRules reads one configuration of rules as a state would, and names all its faults.
func readRules(text string) (c rules.Config, err error) {
	if !json.Valid([]byte(text)) {
		_, err := preemption.ParseState([]byte(text))
		return c, cmp.Or(errors.Unwrap(err), errors.New("text after the JSON value"))
	}
	st, err := preemption.ParseState([]byte(`{"rules":[` + text + `]}`))
	var faults preemption.Faults
	if errors.As(err, &faults) {
		for i := range faults {
			faults[i].Path = strings.TrimPrefix(faults[i].Path, "rules[0].")
		}
		return c, faults
	}
	if err != nil {
		return c, err
	}
	return st.Rules[0], nil
}

// edits returns the edits of the snapshot. all are the rules before some are switched off.
func (r *ruleEdits) edits(origin *preemption.Snapshot) (edits []preemption.Edit, all []rules.Config, err error) {
	all, list := r.list, r.list
	for _, e := range r.off {
		if list, err = answers.SwitchRule(list, e.Node, e.Field, "off"); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", e.Text(), err)
		}
		r.changed[e.Node] = true
	}
	for _, name := range slices.Sorted(maps.Keys(r.changed)) {
		at := slices.IndexFunc(list, func(c rules.Config) bool { return c.Name == name })
		if at >= 0 {
			edits = append(edits, preemption.SetRules(list[at]))
		} else if _, was := origin.Rules(name); was {
			edits = append(edits, preemption.RemoveRules(name))
		}
	}
	return edits, all, nil
}
