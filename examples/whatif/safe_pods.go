package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/safe"
)

// safePod answers about the pod of the options, on its node: whatever the queues say.
func (o *options) safePod(std stdio) (result, error) {
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
		return result{}, fmt.Errorf("no pod %q runs in the input%s", o.pod, nearest(id, ids))
	}
	answer, err := safe.UntilOnNodes(preemptor, snapshot, id, safe.Options{Now: o.nowOfNodes(std)})
	if err != nil {
		return result{}, answers.Faults(err)
	}
	s := serve.Safety{Now: o.nowOfNodes(std), Workloads: []serve.Safe{}, Pods: []serve.SafePod{{PodAnswer: answer, Words: wordsOfPod(&answer)}}}
	for _, doubt := range c.Doubts {
		if doubt.Workload == "" && (doubt.Node == "" || doubt.Node == pod.Node) {
			s.Doubts = append(s.Doubts, doubt.Text)
		}
	}
	s.Notes = slices.Concat([]string{}, notes, bridge.Texts(c.Notes))
	return result{statusOfSafe([]safe.Outcome{answer.Outcome}, s.Doubts), func(b *cli.Page) {
		if len(s.Doubts) > 0 {
			b.SayIn(answers.ColourOf(answers.Unknown), "Whether it is safe is unknown: %s. As far as is known:\n", s.Doubts[0])
		}
		b.SayIn(colourOfSafe(answer.Outcome), "%s\n", s.Pods[0].Words)
		printNotes(b, s.Notes)
	}, s, []string{id}}, nil
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
		return fmt.Sprintf("%s is safe until %s%s; from then on %s makes it yield.", a.Pod, clockOf(a.At), keeps, leastPods(a.Request))
	}
	return fmt.Sprintf("Whether any pod makes %s yield is unknown: %s.", a.Pod, doubtWords(a.Doubts))
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
