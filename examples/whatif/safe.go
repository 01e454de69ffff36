package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/safe"
)

var safeVerb = verb{
	name: "safe", short: "until when a running workload keeps its place, and who takes it",
	long: "Says of a running workload until when no request at all could make it yield, and the least request that then could: of which queue, with which priority, for how much. Without a workload it says so of all, the safest last. A request is any new or waiting workload that the queues admit; what runs stays, so ask again when something starts or ends. Of what Kueue places by a topology it is known only by quota: on nodes somebody else may be taken. -pod and -pods are about nodes alone.",
	examples: []string{
		"safe vision/segment-ablation",
		"safe -live -n NAMESPACE",
		"safe -live -new -o json NAMESPACE/NAME",
		"safe -live -pod NAMESPACE/POD",
	},
	yes: "nobody could make it yield now, or any of them", no: "somebody could, or it was told to leave",
	unknown: "unknown: the answer depends on what cannot be read, or on what is not modelled",
	flags: func(c *cobra.Command, o *options) {
		queueFlag(c, o)
		c.Flags().StringVar(&o.workload, "workload", "", "ask about the running workload `NAMESPACE/NAME`, as the argument does")
		c.Flags().StringVar(&o.pod, "pod", "", "ask about the running pod `NAMESPACE/NAME` on its node, by the rules of kube-scheduler: no queues are read")
		c.Flags().BoolVar(&o.allPods, "pods", false, "ask so about each running pod (of the namespace -n)")
		c.Flags().BoolVar(&o.newOnly, "new", false, "requests that are made from now on: nothing that waits already")
	},
	takes: (*options).takeWorkload, operand: oneWorkload,
	check: func(_ *cobra.Command, o *options) error {
		switch onNodes := o.pod != "" || o.allPods; {
		case o.pod != "" && o.allPods:
			return errors.New("-pod, -pods: ask about one pod, or about all")
		case onNodes && (o.workload != "" || o.queue != "" || o.newOnly):
			return errors.New("-pod: it is about the nodes, as -pods is, with no workload, -queue or -new beside")
		}
		return nil
	},
	run: func(c *cluster, o *options, std stdio) (result, error) {
		if o.pod != "" || o.allPods {
			return o.safePods(std)
		}
		list, err := c.safe(o)
		if err != nil {
			return result{}, err
		}
		doubts := append([]string{}, c.UsageDoubts()...)
		var outcomes []safe.Outcome
		for i := range list {
			outcomes = append(outcomes, list[i].Outcome)
		}
		notes, status := append(c.inputNotes(), c.accept(doubts)...), statusOfSafe(outcomes, doubts)
		if o.workload != "" && !o.newOnly && list[0].Outcome == safe.Now {
			left, err := c.nameWaiting(&list[0], o, std)
			if err != nil {
				return result{}, err
			}
			notes = append(notes, left...)
		}
		return result{status, func(b *cli.Page) {
			if len(doubts) > 0 {
				b.SayIn(answers.ColourOf(answers.Unknown), "Who is safe is unknown: %s. As far as is known:\n", doubts[0])
			}
			if o.workload != "" {
				b.SayIn(colourOfSafe(list[0].Outcome), "%s\n", list[0].Words)
			} else {
				c.printSafe(b, list, o.output == "wide")
			}
			printNotes(b, notes)
			c.printSampleHint(b, "safe -live")
		}, serve.Safety{Now: c.Now, Workloads: list, Doubts: doubts, Notes: notes}, namesOfSafe(list)}, nil
	},
}

// nameWaiting names those that wait and would take the place of a workload now.
func (c *cluster) nameWaiting(s *serve.Safe, o *options, std stdio) (notes []string, err error) {
	waiting, err := c.waiting(o)
	if err != nil {
		return nil, err
	}
	notes, err = c.shortenAll(o, waiting, std, func(i int, one *answers.Short) error {
		if one != nil && one.Outcome == preemption.Preempt.String() && slices.Contains(one.Victims, s.Workload) {
			s.Waiting = append(s.Waiting, waiting[i].Workload.ID)
		}
		return nil
	})
	if len(s.Waiting) > 0 {
		s.Words += fmt.Sprintf(" Of those that wait, %s would take its place now.", some(s.Waiting))
	}
	return notes, err
}

func namesOfSafe(list []serve.Safe) []string {
	names := []string{}
	for i := range list {
		names = append(names, list[i].Workload)
	}
	return names
}

func statusOfSafe(list []safe.Outcome, doubts []string) int {
	status := cli.StatusYes
	if len(doubts) > 0 {
		status = cli.StatusUnknown
	}
	for _, outcome := range list {
		switch outcome {
		case safe.Now, safe.Leaving:
			if len(doubts) == 0 {
				return cli.StatusNo
			}
		case safe.Unknown:
			status = cli.StatusUnknown
		}
	}
	return status
}

func colourOfSafe(o safe.Outcome) printable.Colour {
	switch o {
	case safe.Never, safe.Later:
		return printable.Green
	case safe.Unknown:
		return printable.Magenta
	}
	return printable.Red
}

// safe answers about the workload of the options, or about all that run in their queue and namespace: those that
// are safe for the shortest time first.
func (c *cluster) safe(o *options) ([]serve.Safe, error) {
	if err := c.checkQueue(o.queue); err != nil {
		return nil, err
	}
	options := safe.Options{Now: c.Now, OnNodes: c.OnNodes()}
	if o.newOnly {
		options.Since = c.Now
	}
	asker, err := safe.New(c.Preemptor, c.Snapshot, options)
	if err != nil {
		return nil, answers.Faults(err)
	}
	list := []serve.Safe{}
	if o.workload != "" {
		id, err := c.running(o)
		if err != nil {
			return nil, err
		}
		answer, err := asker.Until(id)
		return append(list, c.safeOf(answer)), err
	}
	for _, answer := range asker.All() {
		if w, ok := c.Snapshot.Find(answer.Workload); ok && o.wants(&w) {
			list = append(list, c.safeOf(answer))
		}
	}
	slices.SortStableFunc(list, func(a, b serve.Safe) int {
		return cmp.Or(cmp.Compare(rankOfSafe(a.Outcome), rankOfSafe(b.Outcome)), a.At.Compare(b.At), cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Workload, b.Workload))
	})
	return list, nil
}

// rankOfSafe puts what leaves first and what is safe for good last.
func rankOfSafe(o safe.Outcome) int {
	return slices.Index([]safe.Outcome{safe.Leaving, safe.Now, safe.Unknown, safe.Later, safe.Never}, o)
}

// safeCounts says how many are what.
func safeCounts(run string, counts map[safe.Outcome]int) string {
	return fmt.Sprintf("%s: %d safe for good, %d until a time, %d not, %d unknown, %d told to leave already", run,
		counts[safe.Never], counts[safe.Later], counts[safe.Now], counts[safe.Unknown], counts[safe.Leaving])
}

// running returns the ID of the running workload that the options name.
func (c *cluster) running(o *options) (string, error) {
	var ids []string
	for w := range c.Snapshot.Workloads() {
		ids = append(ids, w.ID)
	}
	candidates := []string{o.workload}
	if c.namespace != "" && !strings.Contains(o.workload, "/") {
		candidates = append(candidates, c.namespace+"/"+o.workload)
	}
	if c.owned != nil {
		candidates = append(candidates, c.owned.ids...)
	}
	for _, id := range candidates {
		if slices.Contains(ids, id) {
			return id, nil
		}
	}
	switch found := ending(ids, o.workload); len(found) {
	case 0:
		if id, err := c.named(o); err == nil && slices.Contains(pendingNames(c.Found.Pending), id) {
			return "", fmt.Errorf("workload %s does not run, it waits: why %[1]s says why", id)
		}
		return "", fmt.Errorf("no workload %q runs in the input%s", o.workload, nearest(o.workload, ids))
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("%s may mean %s: name one as NAMESPACE/NAME", o.workload, some(found))
	}
}

// safeOf adds to an answer what people read.
func (c *cluster) safeOf(a safe.Answer) serve.Safe {
	s := serve.Safe{Answer: a, Words: c.SafeWords(a, c.Now)}
	if why := c.checked(a.Workload); why != "" {
		s.Words += " It does not run yet: " + why + "."
	}
	return s
}

// printSafe prints all answers as a table: on a screen on which it has no room otherwise, or if it is not to be whole, without flavors.
func (c *cluster) printSafe(b *cli.Page, list []serve.Safe, whole bool) {
	counts := map[safe.Outcome]int{}
	for i := range list {
		counts[list[i].Outcome]++
	}
	b.Say("%s.\n", safeCounts(plural(len(list), "1 workload runs", "%d workloads run"), counts))
	t := c.safeTable(list, true)
	if !whole && !b.Fits(t) {
		t = c.safeTable(list, false)
	}
	if t.Empty() {
		return
	}
	b.Gap()
	b.Table(t)
	if slices.ContainsFunc(list, func(s serve.Safe) bool { return s.Request != nil }) {
		b.Say("THEN, PRIORITY and ASKS are the least request that makes it yield from then on: of which queue (own: its own), with which priority, for how much. It need not wait today; safe NAMESPACE/NAME names who does.\n")
	}
}

// safeTable is the table, with flavors and the names of own queues or without.
func (c *cluster) safeTable(list []serve.Safe, whole bool) *cli.Table {
	t := &cli.Table{Columns: []cli.Column{
		{Name: "workload", Least: 22, Cut: true}, {Name: "queue", Least: 14, Cut: true}, {Name: "safe", Least: 8}, {Name: "then", Least: 9, Cut: true}, {Name: "priority", Right: true}, {Name: "asks", Least: 17, Cut: true},
	}}
	for i := range list {
		s := &list[i]
		by, priority, asks := "", "", ""
		if r := s.Request; r != nil {
			by, priority, asks = r.Queue, fmt.Sprint(r.Priority), answers.SafeAsks(r, whole)
			if by == s.Queue && !whole {
				by = "own"
			}
			if r.Priority == math.MinInt32 {
				priority = "any"
			}
		}
		t.Row(s.Workload, s.Queue, answers.SafeFor(s.Outcome, s.At, c.Now), by, priority, asks)
	}
	return t
}
