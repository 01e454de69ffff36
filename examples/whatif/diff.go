package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/workload"
)

var diffVerb = verb{
	name: "diff", short: "which answers change: with another quota, policy, priority, state",
	long: "Compares the answers about all that waits before and after a change: another state of the cluster (-to), other objects, quota, policies, priorities or rules. A name of both a queue and a cohort means the queue.",
	examples: []string{
		"diff -f yesterday.json -to today.json",
		"diff -live -quota vision:h100:nvidia.com/gpu=64",
		"diff -sample rules -rule hero:others-yield=off",
	},
	yes: "no answer changes", no: "an answer changes", unknown: "no answer changes as far as is known, and one is unknown",
	flags: func(c *cobra.Command, o *options) {
		allFlag(c, o)
		c.Flags().StringArrayVar(&o.to, "to", nil, "compare with the state in `FILE`")
		changeFlags(c, o, "compare with")
	},
	check: func(_ *cobra.Command, o *options) error {
		switch {
		case len(o.to) == 0 && !o.changes():
			return errors.New("diff needs something to compare with: -to FILE, or -apply FILE, -quota, -policy, -priority, -rules, -rule")
		case len(o.to) > 0 && len(o.applied) > 0:
			return errors.New("-to compares with another state and -apply with this one changed: give one of them")
		case slices.Contains(o.applied, "-"):
			return errors.New("-apply -: want a file")
		case len(o.to) > 0 && slices.Contains(o.to, "-") && (len(o.files) == 0 || slices.Contains(o.files, "-")) && !o.live:
			return errors.New("-to - and the cluster are both read from standard input: give the cluster with -f FILE")
		}
		return nil
	},
	run: runDiff,
}

// diffRow is a workload with another answer.
type diffRow = serve.DiffRow

func runDiff(before *cluster, o *options, std stdio) (result, error) {
	after, err := before.other(o, std)
	if err != nil {
		return result{}, err
	}
	rows, evicted, same, skipped, err := compareAnswers(before, after, o, std)
	if err != nil {
		return result{}, err
	}
	leaves, err := after.settle(o)
	if err != nil {
		return result{}, err
	}
	today, err := before.settle(o)
	if err != nil {
		return result{}, err
	}
	notes := append(before.inputNotes(), skipped...)
	for _, n := range after.inputNotes() {
		if !slices.Contains(notes, n) {
			notes = append(notes, "after the change: "+n)
		}
	}
	status := cli.StatusYes
	switch {
	case len(rows) > 0:
		status = cli.StatusNo
	case same.unknown > 0 || len(skipped) > 0:
		status = cli.StatusUnknown
	}
	return result{status, func(b *cli.Page) {
		printDiff(b, rows, same)
		if len(evicted) > 0 {
			b.Say("%s: %s.\n", plural(len(evicted), "1 that runs would then be told to leave, and is not today", "%d that run would then be told to leave, and are not today"), some(evicted))
		}
		if again := yieldAgain(rows, evicted); len(again) > 0 {
			b.Say("%s: %s.\n", plural(len(again), "1 that runs would be told to leave for another one than today", "%d that run would be told to leave for another one than today"), some(again))
		}
		no := slices.DeleteFunc(slices.Clone(rows), func(r diffRow) bool { return r.After != nil && statusOf(r.After.Outcome) == cli.StatusYes })
		if yes := len(rows) - len(no); yes > 0 && yes+same.yes > 1 {
			with := ""
			if len(o.to)+len(o.priorities)+len(o.refers)+len(o.switched) == 0 { // the changes that next makes, too
				with = "; next with the same change says what becomes of them together"
			}
			b.Say("Each is answered as if it were alone: together fewer may be admitted%s.\n", with)
		}
		if leaves.Outcome != preemption.Fits {
			b.Gap()
			printLeaves(b, before, &leaves, answers.VictimNames(today.Victims))
		}
		printNotes(b, notes)
		before.printSampleHint(b, "diff -live "+before.quotaHint())
	}, serve.Diff{Now: before.Now, Change: rows, Evicted: evicted, Same: same.all, Settlement: anyExcess(leaves), Notes: notes}, nil}, nil
}

// other returns the cluster after the change.
func (c *cluster) other(o *options, std stdio) (*cluster, error) {
	after := *c
	if len(o.to) > 0 {
		to := *o
		to.files, to.live, to.liveSaid = o.to, false, true
		loaded, err := load(&to, std)
		if err != nil {
			return nil, err
		}
		after = *loaded
	}
	if len(o.applied) > 0 {
		if err := after.apply(o); err != nil {
			return nil, err
		}
	}
	if err := after.change(o); err != nil {
		return nil, err
	}
	var err error
	if after.Snapshot, err = preemption.NewSnapshot(after.State); err != nil {
		return nil, fmt.Errorf("after the change %w", answers.Faults(err))
	}
	return &after, nil
}

// apply adds the objects of -apply.
func (c *cluster) apply(o *options) error {
	sources, err := objects.Files(o.applied, nil)
	if err != nil {
		return err
	}
	if c.Input, err = c.With(sources); err != nil {
		return fmt.Errorf("-apply: %w", err)
	}
	seeNodes(&c.Input, c.nodes)
	c.share(o)
	c.LimitAsFound()
	c.Preemptor, err = preemption.New(c.Config)
	return err
}

// compareAnswers returns the workloads with another answer, by queue, then as in the queue
// before; who would be told to leave that is not today; how many stay as they are; and notes on what was not looked at.
func compareAnswers(before, after *cluster, o *options, std stdio) (rows []diffRow, evicted []string, count sameAnswers, notes []string, err error) {
	one, err := before.waiting(o)
	if err != nil {
		return nil, nil, count, nil, err
	}
	other, err := after.waiting(o)
	if err != nil {
		return nil, nil, count, nil, err
	}
	answered := func(c *cluster, list []answers.Waiting) (map[string]*answers.Short, error) {
		found := map[string]*answers.Short{}
		for i := range list {
			found[list[i].Workload.ID] = &answers.Short{}
		}
		left, err := c.shortenAll(o, list, std, func(i int, s *answers.Short) error {
			found[list[i].Workload.ID] = cmp.Or(s, found[list[i].Workload.ID])
			return nil
		})
		for i := range c.State.Admitted {
			if id := c.State.Admitted[i].ID; found[id] == nil {
				found[id] = &answers.Short{Outcome: answers.Runs, Words: "runs"}
			}
		}
		notes = append(notes, left...)
		return found, err
	}
	was, err := answered(before, one)
	if err != nil {
		return nil, nil, count, nil, err
	}
	is, err := answered(after, other)
	if err != nil {
		return nil, nil, count, nil, err
	}
	rows = []diffRow{}
	seen := map[string]bool{}
	for _, w := range slices.Concat(one, other) {
		id := w.Workload.ID
		if !o.wants(&workload.Workload{ID: id, Queue: w.Workload.Queue}) || seen[id] || was[id] != nil && was[id].Outcome == "" || is[id] != nil && is[id].Outcome == "" { // or not looked at
			continue
		}
		seen[id] = true
		if change := answers.ChangeOf(was[id], is[id]); change != "" {
			rows = append(rows, diffRow{Workload: id, Queue: w.Workload.Queue, Change: change, Before: was[id], After: is[id]})
			continue
		}
		count.all++
		switch {
		case is[id].Outcome == answers.Unknown:
			count.unknown++
		case statusOf(is[id].Outcome) == cli.StatusYes:
			count.yes++
		}
	}
	slices.SortStableFunc(rows, func(a, b diffRow) int { return cmp.Compare(a.Queue, b.Queue) })
	return rows, evictions(was, is), count, slices.Compact(notes), nil
}

// evictions lists who yields for what waits after a change, and did not before.
func evictions(was, is map[string]*answers.Short) []string {
	before, list := map[string]bool{}, []string{}
	for _, s := range was {
		for _, id := range s.Victims {
			before[id] = true
		}
	}
	for _, s := range is {
		if s.Outcome == preemption.Preempt.String() {
			for _, id := range s.Victims {
				if !before[id] && !slices.Contains(s.Leaving, id) {
					list = append(list, id)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// yieldAgain lists who yields for a workload after a change, and did not for that one before, but for another one.
func yieldAgain(rows []diffRow, evicted []string) []string {
	var list []string
	for _, r := range rows {
		if r.After == nil || r.After.Outcome != preemption.Preempt.String() {
			continue
		}
		for _, id := range r.After.Victims {
			if !slices.Contains(evicted, id) && !slices.Contains(r.After.Leaving, id) && (r.Before == nil || !slices.Contains(r.Before.Victims, id)) {
				list = append(list, id)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// printLeaves says who has to leave if usage is to be within what is allowed after a change; today are those who have to as it is.
func printLeaves(b *cli.Page, c *cluster, after *settle.Answer, today []string) {
	more := *after
	more.Victims = slices.DeleteFunc(slices.Clone(after.Victims), func(v preemption.Victim) bool { return slices.Contains(today, v.Workload) })
	if len(more.Victims) == 0 && len(after.Victims) > 0 {
		b.Say("%s over what is allowed; the change makes nobody leave for that (whatif settle names who has to).\n", plural(len(after.Victims), "1 that runs is today already", "%d that run are today already"))
		return
	}
	b.Say("Running work does not leave by itself. If usage is to be within what is then allowed (whatif settle says why):\n%s.\n", c.Words(printer.SettlementMessage(more)))
}

func printDiff(b *cli.Page, rows []diffRow, same sameAnswers) {
	if len(rows) == 0 {
		b.Say("No answer changes (%s).\n", plural(same.all, "1 workload", "%d workloads")+same.ofUnknown())
		return
	}
	t := &cli.Table{Columns: []cli.Column{
		{Name: "workload", Least: 14, Cut: true}, {Name: "queue", Least: 8, Cut: true},
		{Name: "change", Colour: func(cell string) printable.Colour {
			return map[string]printable.Colour{"better": printable.Green, "worse": printable.Red}[cell]
		}},
		{Name: "before", Least: 18}, {Name: "after", Least: 18},
	}}
	count := map[string]int{}
	words := func(s *answers.Short) string {
		if s == nil {
			return "is not there"
		}
		return s.Words
	}
	if b.Screen.Width == 0 { // a text in the middle would be as wide as the longest
		t.Columns = append(t.Columns[:3:3], cli.Column{Name: "before -> after"})
	}
	for _, r := range rows {
		count[r.Change]++
		if b.Screen.Width == 0 {
			t.Row(r.Workload, r.Queue, r.Change, words(r.Before)+" -> "+words(r.After))
		} else {
			t.Row(r.Workload, r.Queue, r.Change, words(r.Before), words(r.After))
		}
	}
	b.Say("%s: %d better, %d worse, %d otherwise. %s.\n\n",
		plural(len(rows), "1 answer changes", "%d answers change"), count["better"], count["worse"], count["other"],
		plural(same.all, "1 stays as it is", "%d stay as they are")+same.ofUnknown())
	b.Table(t)
}

// sameAnswers counts the answers that stay as they are, and of these the unknown ones.
type sameAnswers struct{ all, unknown, yes int }

// ofUnknown says how many of them are unknown.
func (s sameAnswers) ofUnknown() string {
	if s.unknown == 0 {
		return ""
	}
	return fmt.Sprintf(", of which %d unknown", s.unknown)
}
