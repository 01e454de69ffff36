package preemption

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/queue/rules"
)

// SetRules adds rules or replaces those with the name. It fails if the name is empty or there are too
// many rules or selectors ([rules.ValidateForm]); bad selectors do not make it fail: see
// [Decision.RuleFaults]. Consecutive edits of rules together cost O(rules + queues).
func SetRules(c rules.Config) Edit {
	c = c.Clone()
	return Edit{kind: editSetRules, name: c.Name, rules: &c}
}

// RemoveRules removes rules. Queues may still refer to them: then they have none. It fails if
// there are none with the name.
func RemoveRules(name string) Edit { return Edit{kind: editRemoveRules, name: name} }

func (e *Edit) setsRules() bool { return e.kind == editSetRules || e.kind == editRemoveRules }

// editRules applies consecutive edits of rules, the first being number first. The result is not
// nil.
func editRules(configs []rules.Config, first int, edits []Edit) ([]rules.Config, error) {
	next, faults := editNamed(configs, first, edits, "rules", func(c *rules.Config) string { return c.Name }, func(e *Edit) *rules.Config { return e.rules })
	for i, e := range edits {
		if e.kind != editSetRules {
			continue
		}
		found, _ := rules.ValidateForm("", []rules.Config{*e.rules}).(fault.List)
		for _, f := range found {
			faults.Add(fmt.Sprintf("edits[%d]%s", first+i, strings.TrimPrefix(f.Path, "[0]")), "%s", f.Problem)
		}
	}
	if err := faults.Err(); err != nil {
		return configs, err
	}
	slices.SortFunc(next, func(a, b rules.Config) int { return cmp.Compare(a.Name, b.Name) })
	return next, nil
}

func equalRules(a, b *rules.Config) bool { return reflect.DeepEqual(a, b) }

// RulesReadMore reports whether rules of a queue read local queues, the creation or the triggers of
// a preemptor: then two waiting workloads that differ in them are not alike; see
// [queue.Pending.AlikeBy].
func (s *Snapshot) RulesReadMore(queue string) bool { return s.evaluator().ReadsMore(queue) }

// HasRules reports whether a queue refers to rules that there are.
func (s *Snapshot) HasRules(queue string) bool { return s.evaluator().Has(queue) }

// Rules returns a copy of the rules with the name; ok is false if there are none.
func (s *Snapshot) Rules(name string) (c rules.Config, ok bool) { return s.evaluator().Config(name) }
