package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
)

func (a *answer) printJSON(w io.Writer) error {
	var decision *placement.Decision
	if a.decided {
		decision = &a.decision
	}
	return printJSON(w, struct {
		Verdict  string              `json:"verdict"`          // yes, no, held or unknown
		Doubts   []string            `json:"doubts,omitempty"` // why it is unknown
		Request  placement.Request   `json:"request"`
		Decision *placement.Decision `json:"decision,omitempty"` // as far as is known
		Assumed  []string            `json:"assumed,omitempty"`  // doubts that are taken to be without effect
		Message  string              `json:"message,omitempty"`  // why not, in the words of kube-scheduler
		Feasible []string            `json:"feasible,omitempty"` // the nodes with room for a pod, by kube-scheduler
		Notes    []string            `json:"notes,omitempty"`
	}{a.verdict(), a.doubts, a.request, decision, a.assumed, a.said(), a.feasible, slices.Concat(a.notes, a.warnings)})
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(printable.JSON(w))
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func (a *answer) printText(w io.Writer, screen cli.Screen) error {
	b := &cli.Page{Screen: screen}
	if a.isSample {
		b.WriteString("This is the embedded sample. For your cluster:\n" +
			"  kubectl get nodes,pods,poddisruptionbudgets,priorityclasses -A -o json |\n    cede-nodes -pod NAMESPACE/NAME\n\n")
	}
	if err := a.printVerdict(b); err != nil {
		return err
	}
	a.printNominations(b)
	a.printVictims(b)
	if text := a.said(); text != "" {
		b.Say("kube-scheduler v1.37 says: %s.\n", text)
	}
	for _, text := range a.assumed {
		b.Say("Assumed to be without effect: %s.\n", text)
	}
	printNotes(b, slices.Concat(a.notes, a.warnings))
	return b.Print(w)
}

func printNotes(b *cli.Page, notes []string) {
	for _, n := range notes[:min(shownNotes, len(notes))] {
		b.Say("Note: %s.\n", n)
	}
	if n := len(notes) - shownNotes; n > 0 {
		b.Say("And %d more notes (-o json for all).\n", n)
	}
}

// printDoubts says that it is unknown whether something is so, and why.
func printDoubts(b *cli.Page, what string, doubts []string) {
	if len(doubts) == 0 {
		return
	}
	b.Say("Whether %s is unknown: %s.\n", what, doubts[0])
	for _, d := range doubts[1:] {
		b.Say("Nor is this known: %s.\n", d)
	}
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
func (a *answer) status() int { return statusOf(a.verdict()) }

func statusOf(verdict string) int {
	switch verdict {
	case "yes":
		return cli.StatusYes
	case cli.Unknown:
		return cli.StatusUnknown
	}
	return cli.StatusNo
}

// printVerdict says whether there is an answer, then how the decision came about as far as is known.
func (a *answer) printVerdict(b *cli.Page) error {
	who := "pod " + a.id
	if a.request.Group != "" {
		who = "group " + a.id
	}
	switch a.verdict() {
	case "held":
		text := ""
		if a.decided {
			text = " What follows is the answer once it is considered."
		}
		b.Say("%s is held: %s.%s\n\n", who, a.held, text)
	case cli.Unknown:
		printDoubts(b, who+" has room", a.doubts)
		if a.decided {
			b.Say("What follows is the answer as far as is known.\n")
		}
		b.WriteString("\n")
	}
	if !a.decided {
		return nil
	}
	if a.preemptor == nil && a.explained == nil && a.decision.Outcome == preemption.Impossible {
		b.Say("%s, priority %d\nIt has no place: %s.\n", who, a.request.Priority, a.said())
		a.message = ""
		return nil
	}
	pr := explain.Printer{Amount: units.Amount, Width: cmp.Or(b.Screen.Width, -1)} // -1: as wide as needed
	steps := a.steps()
	if a.preemptor != nil {
		e, err := pr.ExplainPlacement(a.preemptor, a.snapshot, a.request)
		if err != nil {
			return err
		}
		steps = e.Steps
	}
	b.WriteString(pr.Text(steps) + "\n")
	return nil
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
			on = append(on, a.nodes[id])
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
