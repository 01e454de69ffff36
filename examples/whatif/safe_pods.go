package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/safe"
	"github.com/cedesched/cede/workload"
)

// safePods answers about the pod of the options on its node, or about all that run there, in the namespace of the options: whatever the
// queues say.
func (o *options) safePods(std stdio) (result, error) {
	c, filter, notes, err := o.readNodes(std)
	if err != nil {
		return result{}, err
	}
	snapshot, err := c.Snapshot()
	if err != nil {
		return result{}, answers.Faults(err)
	}
	config := placement.Config{}
	if filter != nil {
		config.Filters = []placement.Filter{filter}
	}
	preemptor, err := placement.New(config)
	if err != nil {
		return result{}, err
	}
	pods, err := o.podsAsked(snapshot)
	if err != nil {
		return result{}, err
	}
	s := serve.Safety{Now: o.nowOfNodes(std), Workloads: []serve.Safe{}, Pods: []serve.SafePod{}}
	var outcomes []safe.Outcome
	names := []string{}
	progress := std.screen.Start("pods", int64(len(pods)))
	defer progress.Done()
	for i := range pods {
		answer, err := safe.UntilOnNodes(preemptor, snapshot, pods[i].ID, safe.Options{Now: s.Now})
		if err != nil {
			return result{}, answers.Faults(err)
		}
		s.Pods = append(s.Pods, serve.SafePod{PodAnswer: answer, Node: pods[i].Node, Words: wordsOfPod(&answer)})
		outcomes = append(outcomes, answer.Outcome)
		progress.Add(1)
	}
	slices.SortStableFunc(s.Pods, func(a, b serve.SafePod) int {
		return cmp.Or(cmp.Compare(rankOfSafe(a.Outcome), rankOfSafe(b.Outcome)), a.At.Compare(b.At), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pod, b.Pod))
	})
	for i := range s.Pods {
		names = append(names, s.Pods[i].Pod)
	}
	for _, doubt := range c.Doubts {
		if doubt.Workload == "" && (doubt.Node == "" || slices.ContainsFunc(pods, func(p workload.Pod) bool { return doubt.Node == p.Node })) {
			s.Doubts = append(s.Doubts, doubt.Text)
		}
	}
	s.Notes = append(append([]string{}, notes...), bridge.Texts(c.Notes)...)
	return result{statusOfSafe(outcomes, s.Doubts), func(b *cli.Page) {
		if len(s.Doubts) > 0 {
			b.SayIn(answers.ColourOf(answers.Unknown), "Who is safe is unknown: %s. As far as is known:\n", s.Doubts[0])
		}
		if o.pod != "" {
			b.SayIn(colourOfSafe(outcomes[0]), "%s\n", s.Pods[0].Words)
		} else {
			printSafePods(b, s.Pods, s.Now)
		}
		printNotes(b, s.Notes)
	}, s, names}, nil
}

// podsAsked are the running pods of which the options ask.
func (o *options) podsAsked(snapshot *placement.Snapshot) (pods []workload.Pod, err error) {
	if o.pod == "" {
		for p := range snapshot.Pods() {
			if o.namespace == "" || answers.Namespace(p.ID) == o.namespace {
				pods = append(pods, p)
			}
		}
		if len(pods) == 0 && o.namespace != "" {
			return nil, fmt.Errorf("no pod of namespace %q runs in the input", o.namespace)
		}
		return pods, nil
	}
	id := o.pod
	if !strings.Contains(id, "/") && o.namespace != "" {
		id = o.namespace + "/" + id
	}
	pod, runs := snapshot.Find(id)
	if !runs {
		var ids []string
		for p := range snapshot.Pods() {
			ids = append(ids, p.ID)
		}
		return nil, fmt.Errorf("no pod %q runs in the input%s", o.pod, nearest(id, ids))
	}
	return []workload.Pod{pod}, nil
}

// printSafePods prints all answers as a table.
func printSafePods(b *cli.Page, list []serve.SafePod, now time.Time) {
	counts := map[safe.Outcome]int{}
	t := &cli.Table{Columns: []cli.Column{
		{Name: "pod", Least: 22, Cut: true}, {Name: "node", Least: 12, Cut: true}, {Name: "safe", Least: 8}, {Name: "then", Least: 8, Cut: true}, {Name: "priority", Right: true}, {Name: "asks", Least: 12, Cut: true},
	}}
	for i := range list {
		s := &list[i]
		counts[s.Outcome]++
		on, priority, asks := "", "", ""
		if r := s.Request; r != nil {
			on, priority, asks = r.Node, fmt.Sprint(r.Priority), "a place"
			if r.Resource != "" {
				asks = units.Amount(r.Resource, r.Amount) + " " + r.Resource
			}
			if r.Pods > 1 {
				asks = fmt.Sprintf("%d pods, each %s", r.Pods, asks)
			}
			if on == s.Node {
				on = "same"
			}
		}
		t.Row(s.Pod, s.Node, answers.SafeFor(s.Outcome, s.At, now), on, priority, asks)
	}
	b.Say("%s.\n", safeCounts(plural(len(list), "1 pod runs", "%d pods run"), counts))
	if !t.Empty() {
		b.Gap()
		b.Table(t)
	}
}

// wordsOfPod is an answer in a sentence.
func wordsOfPod(a *safe.PodAnswer) string {
	keeps := map[placement.Rule]string{
		placement.RulePriority: " (no priority is higher)", placement.RuleMinRuntime: " (its minimum runtime)",
		placement.RuleGuarded: " (it is guarded)", placement.RuleBudget: " (a disruption budget)",
	}[a.Keeps]
	switch a.Outcome {
	case safe.Never:
		return fmt.Sprintf("%s is safe: while what runs stays, no pod makes it yield%s.", a.Pod, keeps)
	case safe.Leaving:
		return a.Pod + " was told to stop already."
	case safe.Now:
		return fmt.Sprintf("%s is not safe: %s makes it yield now.", a.Pod, leastPods(a.Request))
	case safe.Later:
		return fmt.Sprintf("%s is safe until %s%s; from then on %s makes it yield.", a.Pod, answers.SafeClock(a.At), keeps, leastPods(a.Request))
	}
	return fmt.Sprintf("Whether any pod makes %s yield is unknown: %s.", a.Pod, answers.SafeDoubts(a.Doubts))
}

// leastPods is the least request for room on nodes in words.
func leastPods(r *safe.PodRequest) string {
	who, asks := "a pod", ""
	if r.Pods > 1 {
		who = fmt.Sprintf("a group of %d pods", r.Pods)
	}
	if r.Resource != "" {
		asks = " that asks for " + units.Amount(r.Resource, r.Amount) + " " + r.Resource
	}
	return fmt.Sprintf("%s of priority %d%s on %s", who, r.Priority, asks, r.Node)
}
