package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/examples/internal/workers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/workload"
)

// print prints each answer: the sentence, a row for each worker, who yields there, and what is in doubt.
func (f *fleet) print(b *cli.Page, o *options, out *workers.Answers) {
	if len(out.Workloads) == 0 {
		b.Say("The manager has sent out no workload that does not run.\n")
	}
	for i := range out.Workloads {
		a := &out.Workloads[i]
		b.Gap()
		b.SayIn(colourOfDispatch(a.Verdict), "%s\n", a.Sentence)
		if a.Design != "" {
			b.Say("The design does otherwise: %s.\n", a.Design)
		}
		b.Gap()
		f.printWorkers(b, a, o.workload != "")
		if a.Forecast != nil {
			f.printForecast(b, a.Forecast)
		}
		if o.workload != "" {
			f.printVictims(b, o, a)
		}
		printNotes(b, once(slices.DeleteFunc(slices.Clone(a.Doubts), func(d string) bool { return strings.Contains(a.Sentence, d) })))
	}
	printNotes(b, out.Notes)
}

func colourOfDispatch(verdict string) printable.Colour {
	switch verdict {
	case workers.Running, workers.Fits, workers.OpensNow:
		return printable.Green
	case workers.Waits, workers.OpensAt:
		return printable.Yellow
	}
	return printable.Red
}

// printForecast prints what happens next, and when the workload starts.
func (f *fleet) printForecast(b *cli.Page, of *workers.Forecast) {
	b.Gap()
	b.Say("%s\n", of.Sentence)
	if len(of.Events) == 0 {
		return
	}
	b.Gap()
	t := &cli.Table{Columns: []cli.Column{{Name: "at"}, {Name: "in", Right: true}, {Name: "worker", Least: 6}, {Name: "what"}, {Name: "workloads", Least: 30}}}
	for _, e := range of.Events {
		t.Row(e.At.UTC().Format(time.TimeOnly), duration.HumanDuration(e.At.Sub(f.Now)), e.Worker, e.What, strings.Join(e.Workloads, ", "))
	}
	b.Table(t)
}

// printWorkers prints a row for each worker. The victims are only counted if they are named below.
func (f *fleet) printWorkers(b *cli.Page, a *workers.Answer, named bool) {
	t := &cli.Table{Columns: []cli.Column{
		{Name: "worker", Least: 6}, {Name: "gate"}, {Name: "signal"}, {Name: "opens"}, {Name: "answer", Least: 30, Colour: answers.Colour}, {Name: "victims ran", Right: true},
	}}
	for i := range a.Workers {
		r := &a.Workers[i]
		name, position, signal, opens, ran := r.Worker, r.Gate, "", "", ""
		if r.Opens.After(f.Now) {
			opens = r.Opens.Format(time.TimeOnly)
		} else if !r.Opens.IsZero() {
			opens = "now"
		}
		if !r.Reached {
			name += " (lost)"
		}
		if !r.Since.IsZero() {
			position += " " + units.Age(f.Now, r.Since)
		}
		if !r.Signal.IsZero() {
			signal = units.Age(f.Now, r.Signal) + " ago"
		}
		if r.Signal.After(f.Now) {
			signal = "after now"
		}
		if r.LostWork > 0 {
			ran = units.Age(f.Now, f.Now.Add(-time.Duration(r.LostWork)*time.Second))
		}
		words := r.Words
		if n := len(a.Victims[r.Worker]); named && n > 0 {
			words = counted(r, n)
		}
		t.Row(name, position, signal, opens, words, ran)
	}
	b.Table(t)
	if yielding := slices.DeleteFunc(slices.Clone(a.Workers), func(r workers.Row) bool { return len(a.Victims[r.Worker]) == 0 }); len(yielding) > 1 {
		b.Say("The victims in %s lose least.\n", a.Cheapest)
	}
}

// counted is the answer in a worker with so many victims, without their names.
func counted(r *workers.Row, victims int) string {
	words := "waits for "
	for _, begin := range []string{"gated: would preempt ", "preempts "} {
		if strings.HasPrefix(r.Words, begin) {
			words = begin
		}
	}
	words += plural(victims, "1 workload", "%d workloads")
	if leaving := len(r.Leaving); leaving > 0 && leaving < victims {
		words += fmt.Sprintf(", %d of them leaving already", leaving)
	}
	return words
}

// printVictims prints who yields in each worker, as ask does.
func (f *fleet) printVictims(b *cli.Page, o *options, a *workers.Answer) {
	var reasons []preemption.VictimReason
	for i := range a.Workers {
		name := a.Workers[i].Worker
		c := f.clusters[name]
		if c == nil || len(a.Victims[name]) == 0 {
			continue
		}
		one := *o
		one.workload = a.Workload
		asked, err := c.ask(one)
		if err != nil || asked.decision == nil {
			continue
		}
		b.Gap()
		b.Say("In %s, for %s:\n", name, strings.Join(assignedFlavors(&asked.assigned), ", "))
		asked.printVictims(b)
		for _, r := range asked.reasons() {
			if !slices.Contains(reasons, r) {
				reasons = append(reasons, r)
			}
		}
	}
	printReasons(b, reasons, explain.Reason)
}

// assignedFlavors are the flavors of a workload, in the order in which it asks for them.
func assignedFlavors(w *workload.Workload) (names []string) {
	for _, u := range w.Usage() {
		if u.Amount > 0 && !slices.Contains(names, u.Flavor) {
			names = append(names, u.Flavor)
		}
	}
	return names
}
