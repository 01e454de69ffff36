package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

func (a *answer) printJSON(w io.Writer) error {
	var decision *placement.Decision
	if a.decided {
		decision = &a.decision
	}
	encoder := json.NewEncoder(printable.JSON(w))
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Verdict  string              `json:"verdict"`          // yes, no, held or unknown
		Doubts   []string            `json:"doubts,omitempty"` // why it is unknown
		Request  placement.Request   `json:"request"`
		Decision *placement.Decision `json:"decision,omitempty"` // as far as is known
		Notes    []string            `json:"notes,omitempty"`
	}{a.verdict(), a.doubts, a.request, decision, slices.Concat(a.notes, a.warnings)})
}

func (a *answer) printText(w io.Writer, screen cli.Screen) error {
	b := &cli.Page{Screen: screen}
	if a.isSample {
		b.WriteString("This is the embedded sample. For your cluster:\n" +
			"  kubectl get nodes,pods,poddisruptionbudgets,priorityclasses -A -o json |\n    go run ./examples/nodes -pod NAMESPACE/NAME\n\n")
	}
	a.printVerdict(b)
	a.printNominations(b)
	a.printVictims(b)
	a.printReasons(b)
	notes := slices.Concat(a.notes, a.warnings)
	for _, n := range notes[:min(shownNotes, len(notes))] {
		b.Say("Note: %s.\n", n)
	}
	if n := len(notes) - shownNotes; n > 0 {
		b.Say("And %s more (-o json for all).\n", plural(n, "note"))
	}
	return b.Print(w)
}

func (a *answer) who() string {
	if a.request.Group == "" {
		return fmt.Sprintf("Pod %s (priority %d)", a.id, a.request.Priority)
	}
	least := "any number of them"
	if a.request.MinCount > 0 {
		least = fmt.Sprintf("at least %d of them", a.request.MinCount)
	}
	return fmt.Sprintf("Group %s (priority %d, %s, %s)", a.id, a.request.Priority, plural(len(a.request.Pods), "pod"), least)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// verdict is the answer in a word: yes, no, held or unknown.
func (a *answer) verdict() string {
	switch {
	case a.held != "":
		return "held"
	case len(a.doubts) > 0:
		return cli.Unknown
	case a.decision.Outcome.Succeeds():
		return "yes"
	}
	return "no"
}

// status is the exit status of the answer.
func (a *answer) status() int {
	switch a.verdict() {
	case "yes":
		return cli.StatusYes
	case cli.Unknown:
		return cli.StatusUnknown
	}
	return cli.StatusNo
}

// printVerdict says the answer first, then what is decided as far as is known.
func (a *answer) printVerdict(b *cli.Page) {
	otherwise := ""
	switch a.verdict() {
	case "held":
		b.Say("%s is held: %s.\n", a.who(), a.held)
		otherwise = "Once it is considered, it "
	case cli.Unknown:
		b.Say("Whether %s has room is unknown: %s.\n", a.who(), a.doubts[0])
		for _, d := range a.doubts[1:] {
			b.Say("Nor is this known: %s.\n", d)
		}
		otherwise = "As far as is known, it "
	default:
		b.Say("%s: %s\n\n", a.who(), a.decisionText())
		return
	}
	if a.decided {
		b.Say("%s%s\n", otherwise, a.decisionText())
	}
	b.WriteString("\n")
}

// decisionText says the decision in a sentence.
func (a *answer) decisionText() string {
	d := &a.decision
	pods := 0
	for _, v := range d.Victims {
		pods += len(v.Pods)
	}
	switch d.Outcome {
	case preemption.Fits:
		return "has room; nobody has to yield." + a.partly()
	case preemption.Wait:
		if d.Reason != 0 {
			return "has no room now; time alone helps." + a.when()
		}
		return "has room once the terminating pods are gone; nobody else has to yield." + a.partly() + a.when()
	case preemption.Preempt:
		against := ""
		if d.Violations > 0 {
			against = fmt.Sprintf(", %d against a disruption budget", d.Violations)
		}
		yield := "yield"
		if len(d.Victims) == 1 {
			yield = "yields"
		}
		return fmt.Sprintf("has room when %s %s (%s%s).%s", plural(len(d.Victims), "unit"), yield, plural(pods, "pod"), against, a.partly())
	}
	switch {
	case len(a.state.Nodes) == 0:
		return "has no room: there are no nodes in the input."
	case a.noNode:
		return "has no room: no node in the input could take it, even if empty."
	}
	switch d.Reason {
	case placement.ReasonPolicyNever:
		return "has no room, and its priority class preempts nobody."
	case placement.ReasonNoVictims:
		return "has no room, and nothing of lower priority runs where it may."
	case placement.ReasonBudgets:
		return "has no room, and disruption budgets protect the pods that could make room."
	}
	return fmt.Sprintf("has no room, even without all that it may preempt: then %d of %s would have a place.",
		d.Placeable, plural(len(a.request.Pods), "pod"))
}

// when says when asking again helps.
func (a *answer) when() string {
	if a.decision.RetryAt.IsZero() {
		return ""
	}
	return fmt.Sprintf(" Ask again at %s.", a.decision.RetryAt.Format(time.RFC3339Nano))
}

// printReasons says what is missing and who may not yield.
func (a *answer) printReasons(b *cli.Page) {
	for _, s := range a.decision.Shortage {
		b.Say("Too little %s in %s: %d more on one node at least.\n", s.Resource, plural(s.Domains, "domain"), s.Missing)
	}
	if len(a.decision.Shortage) > 0 {
		b.WriteString("\n")
	}
	if len(a.decision.Blockers) == 0 {
		return
	}
	t := &cli.Table{Columns: []cli.Column{
		{Name: "may not yield", Least: 20}, {Name: "priority", Right: true}, {Name: "rule", Least: 8}, {Name: "until", Least: 20}, {Name: "set by", Least: 10},
	}}
	for _, k := range a.decision.Blockers {
		name, until, setBy := k.Pod, "-", k.SetBy
		if k.Group != "" {
			name = "group " + k.Group
		}
		if !k.Until.IsZero() {
			until = k.Until.Format(time.RFC3339Nano)
		}
		if setBy == "" {
			setBy = "-"
		}
		t.Row(name, k.Priority, k.Rule, until, setBy)
	}
	b.Table(t)
}

func (a *answer) partly() string {
	if n := len(a.decision.Nominations); n < len(a.request.Pods) {
		return fmt.Sprintf(" Only %d of %s have a place.", n, plural(len(a.request.Pods), "pod"))
	}
	return ""
}

const (
	shown      = 40 // rows of a table
	shownNotes = 20
)

func more(b *cli.Page, n int) {
	if n > shown {
		b.Say("... and %d more (-o json for all)\n\n", n-shown)
	}
}

func (a *answer) printNominations(b *cli.Page) {
	list := a.decision.Nominations
	if len(list) == 0 {
		return
	}
	t := &cli.Table{Columns: []cli.Column{{Name: "pod", Least: 20}, {Name: "node", Least: 20}}}
	for _, n := range list[:min(shown, len(list))] {
		t.Row(n.Pod, n.Node)
	}
	b.Table(t)
	more(b, len(list))
}

// printVictims lists the victims, the most important first.
func (a *answer) printVictims(b *cli.Page) {
	list := slices.Clone(a.decision.Victims)
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(x, y placement.Victim) int { return cmp.Compare(y.Priority, x.Priority) })
	nodes := map[string]string{}
	for _, p := range a.state.Pods {
		nodes[p.ID] = p.Node
	}
	t := &cli.Table{Columns: []cli.Column{
		{Name: "yields", Least: 20}, {Name: "priority", Right: true}, {Name: "pods", Right: true}, {Name: "nodes", Least: 16}, {Name: "against a budget", Least: 7},
	}}
	for _, v := range list[:min(shown, len(list))] {
		name := v.Pods[0]
		if v.Group != "" {
			name = "group " + v.Group
		}
		var on []string
		for _, id := range v.Pods {
			on = append(on, nodes[id])
		}
		slices.Sort(on)
		on = slices.Compact(on)
		where := strings.Join(on[:min(4, len(on))], " ")
		if len(on) > 4 {
			where += fmt.Sprintf(" and %d more", len(on)-4)
		}
		against := "-"
		if v.Violations > 0 {
			against = fmt.Sprint(v.Violations)
		}
		t.Row(name, v.Priority, len(v.Pods), where, against)
	}
	b.Table(t)
	more(b, len(list))
	if len(a.decision.Withdrawn) > 0 {
		b.Say("Promises withdrawn: %s.\n", strings.Join(a.decision.Withdrawn, ", "))
	}
}
