package explain

import (
	"fmt"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// Row is one sample of a metric.
type Row struct {
	Name   string
	Labels []Label
	Value  int64
}

// Label is a label of a metric.
type Label struct{ Name, Value string }

// String returns the row in the text format of Prometheus.
func (r Row) String() string {
	var parts []string
	for _, l := range r.Labels {
		value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(l.Value)
		parts = append(parts, fmt.Sprintf(`%s="%s"`, l.Name, value))
	}
	name := r.Name
	if len(parts) > 0 {
		name += "{" + strings.Join(parts, ",") + "}"
	}
	return fmt.Sprintf("%s %d", name, r.Value)
}

// Rows returns counters by reason, to be added up over explanations: one decision by outcome
// (cede_explained_total); the workloads that may yield and those that each rule keeps, by level
// (cede_explained_candidates, cede_explained_kept); those that may yield by rules, by trigger
// (cede_explained_rules_candidates); the candidates that were taken and put back
// (cede_explained_taken, cede_explained_put_back); and the ways that would help
// (cede_explained_ways). No label names a workload, so their number is bounded. The order is
// that of the explanation.
func Rows(e preemption.Explanation) []Row {
	var rows []Row
	add := func(name string, value int64, labels ...string) {
		rows = append(rows, newRow(name, value, append([]string{"queue", e.Question.Queue}, labels...)...))
	}
	add("total", 1, "outcome", e.Decision.Outcome.String())
	for _, l := range e.Levels {
		add("candidates", l.MayYield.Count, "level", l.Node)
		for _, k := range l.Kept {
			name := "UsesNothing"
			if k.Rule != 0 {
				name = k.Rule.String()
			}
			add("kept", k.Count, "level", l.Node, "rule", name, "set_by", k.SetBy)
		}
	}
	if e.Rules != nil {
		for _, t := range e.Rules.Tiers {
			if t.Holds {
				add("rules_candidates", t.MayYield.Count, "config", e.Rules.Config, "trigger", string(t.Trigger))
			}
		}
	}
	var taken, back int64
	for _, a := range e.Attempts {
		taken, back = taken+a.TakenCount, back+a.PutBack.Count
	}
	add("taken", taken)
	add("put_back", back)
	for _, w := range e.Ways {
		add("ways", 1, "kind", w.Kind.String())
	}
	return rows
}

// newRow makes a row of names and values of labels.
func newRow(name string, value int64, labels ...string) Row {
	row := Row{Name: "cede_explained_" + name, Value: value}
	for i := 0; i < len(labels); i += 2 {
		row.Labels = append(row.Labels, Label{labels[i], labels[i+1]})
	}
	return row
}

// PlacementRows is [Rows] for decisions about nodes: one decision by outcome
// (cede_explained_placement_total); the units that may yield and those that each rule keeps
// (cede_explained_placement_candidates, cede_explained_placement_kept); the domains by result
// (cede_explained_placement_domains); and the ways that would help
// (cede_explained_placement_ways). No label names a pod, a group or a node.
func PlacementRows(e placement.Explanation) []Row {
	var rows []Row
	add := func(name string, value int64, labels ...string) {
		rows = append(rows, newRow("placement_"+name, value, labels...))
	}
	add("total", 1, "outcome", e.Decision.Outcome.String())
	add("candidates", e.MayYield.Count)
	for _, k := range e.Kept {
		add("kept", k.Count, "rule", k.Rule.String(), "set_by", k.SetBy)
	}
	add("domains", e.WithVictims.Count, "result", "WithVictims")
	add("domains", e.NoVictims.Count, "result", placement.ReasonNoVictims.String())
	add("domains", e.NoRoom.Count, "result", placement.ReasonNoRoom.String())
	add("domains", e.BudgetsBar.Count, "result", placement.ReasonBudgets.String())
	add("domains", e.Skipped, "result", "Skipped")
	for _, w := range e.Ways {
		add("ways", 1, "kind", w.Kind.String())
	}
	return rows
}
