package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/examples/kubescheduler/mirror"
	"github.com/cedesched/cede/examples/kubescheduler/offline"
	"github.com/cedesched/cede/examples/kubescheduler/plugin"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// cluster is what kube-scheduler is asked about.
type cluster struct {
	offline.Objects
	question offline.Question
	pods     []*v1.Pod // that ask
	unknown  []doubt   // what is not known of the manifest
}

// byScheduler decides as kube-scheduler v1.37 with the plugin of cede: it asks the scheduler, over the objects of the input.
func (a *answer) byScheduler(o *options, piped io.Reader) error {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	var c cluster
	if err := a.readCluster(&c.Objects, o, piped); err != nil {
		return err
	}
	asking, err := a.readManifest(&c.Objects, o, piped)
	if err != nil {
		return err
	}
	for _, one := range asking {
		for _, odd := range c.Complete(one.kind, one.id) {
			c.unknown = append(c.unknown, doubtOf(odd))
		}
	}
	if err := c.find(o, asking, a); err != nil {
		for _, odd := range c.Odd {
			if odd.Path == "" && (odd.Object == "Pod "+o.pod || odd.Object == "PodGroup "+o.group || odd.Object == "CompositePodGroup "+o.group) {
				a.id, a.doubts = o.pod+o.group, []string{doubtOf(odd).text}
				return nil
			}
		}
		return err
	}
	a.nodes, a.leaves = map[string]string{}, map[string]bool{}
	for p := range c.Pods() {
		a.nodes[mirror.ID(p)], a.leaves[mirror.ID(p)] = p.Spec.NodeName, p.DeletionTimestamp != nil
	}
	groups := c.HasGroups()
	said, err := a.run(&c, o, groups)
	if err != nil {
		return err
	}
	if _, minimum := o.config.MinRuntime.Get(); a.refused && (minimum || o.config.Budgets == placement.Hard) {
		c.unknown = append(c.unknown, doubt{"", "cede could not decide, and kube-scheduler's own preemption keeps neither budgets nor minimum runtimes"})
	}
	if groups && c.question.Pod != "" {
		without := answer{request: a.request, leaves: a.leaves}
		other, err := without.run(&c, o, false)
		if err != nil {
			return err
		}
		if other.Outcome != said.Outcome || !slices.Equal(other.Victims, said.Victims) {
			c.unknown = append(c.unknown, doubt{"GenericWorkload", fmt.Sprintf("pod groups count if kube-scheduler has the feature GenericWorkload, "+
				"which is off by default; without it the answer is %q", other.Outcome)})
		}
	}
	a.doubts, a.assumed = accept(append(c.unknown, c.doubts(said)...), o.assume)
	return nil
}

// run asks the scheduler, with pod groups or without.
func (a *answer) run(c *cluster, o *options, groups bool) (offline.Answer, error) {
	if err := c.SetFeatures(groups); err != nil {
		return offline.Answer{}, err
	}
	args, err := argumentsOf(o)
	if err != nil {
		return offline.Answer{}, err
	}
	said, err := offline.Run(context.Background(), &c.Objects, c.question, &offline.Preemption{Name: plugin.Name, Args: args,
		New: func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			made, err := plugin.New(ctx, args, handle)
			if one, ok := made.(*plugin.Plugin); ok {
				one.Watch = func(d plugin.Decided) { err = a.watch(d) }
				if !o.now.IsZero() {
					one.Clock = func() time.Time { return o.now }
				}
			}
			return made, err
		}})
	if err != nil {
		return said, err
	}
	a.take(said)
	return said, nil
}

// argumentsOf are the arguments of the plugin.
func argumentsOf(o *options) (runtime.Object, error) {
	no := false
	args := plugin.Arguments{Budgets: o.config.Budgets.String(), Annotate: &no}
	if d, ok := o.config.MinRuntime.Get(); ok {
		args.MinRuntime = d.String()
	}
	raw, err := json.Marshal(args)
	return &runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON}, err
}

// watch keeps a decision of the plugin, and explains it.
func (a *answer) watch(d plugin.Decided) error {
	e, err := explain.Printer{Amount: units.Amount, Unit: groupID}.ExplainPlacement(d.Preemptor, d.Snapshot, d.Request)
	a.await(&e.Decision)
	for i := range e.Decision.Victims {
		e.Decision.Victims[i].Group = groupID(e.Decision.Victims[i].Group)
	}
	if a.explained = &e; err == nil {
		asked := d.Request
		asked.Group, asked.MinCount = a.request.Group, 0 // how many are enough kube-scheduler knows
		top := explain.Printer{Amount: units.Amount}.PlacementAnswer(&asked, &e.Decision)
		e.Steps = append(top, e.Steps[len(top):]...)
	}
	return err
}

// await takes victims that terminate already out of a decision: nobody tells them again.
func (a *answer) await(d *placement.Decision) {
	d.Victims = slices.DeleteFunc(slices.Clone(d.Victims), func(v placement.Victim) bool {
		leaves := !slices.ContainsFunc(v.Pods, func(id string) bool { return !a.leaves[id] })
		if leaves {
			a.notes = append(a.notes, fmt.Sprintf("%s terminates already: its room is waited for", strings.Join(v.Pods, ", ")))
		}
		return leaves
	})
	if d.Outcome == preemption.Preempt && len(d.Victims) == 0 {
		d.Outcome = preemption.Wait
	}
}

// groupID is the ID of a group as the options have it, of that in the plugin's snapshot. IDs of pods stay: they have one slash.
func groupID(id string) string {
	kind, rest, _ := strings.Cut(id, "/")
	switch {
	case !strings.Contains(rest, "/"):
		return id
	case kind == string(fwk.CompositePodGroupKeyType):
		return "composite/" + rest
	}
	return rest
}

// take takes the answer of the scheduler. The decision of cede is that, unless the scheduler did otherwise: cede was not asked, or
// was refused.
func (a *answer) take(said offline.Answer) {
	a.message, a.decided = said.Message, true
	if a.explained != nil && !agrees(&a.explained.Decision, said) {
		a.explained, a.refused = nil, true
		a.notes = append(a.notes, "cede could not decide: kube-scheduler's own preemption did")
	}
	switch {
	case said.Outcome == offline.Failed:
		a.explained, a.decided, a.message = nil, false, ""
		return
	case said.Outcome == offline.NotTried:
		a.held, a.decided = said.Message, false
	case said.Outcome == offline.Fits:
		a.message, a.feasible = "", said.Feasible
		a.decision = placement.Decision{Outcome: preemption.Fits}
	case a.explained != nil:
		a.decision = a.explained.Decision
		return
	case said.Outcome == offline.Preempts && len(said.Victims) > 0:
		a.decision = placement.Decision{Outcome: preemption.Preempt}
	case said.Outcome == offline.Preempts, strings.Contains(said.Message, "not eligible due to a terminating pod"):
		a.decision = placement.Decision{Outcome: preemption.Wait}
	default:
		a.decision = placement.Decision{Outcome: preemption.Impossible}
	}
	for _, id := range slices.Sorted(maps.Keys(said.Nodes)) {
		a.decision.Nominations = append(a.decision.Nominations, placement.Nomination{Pod: id, Node: said.Nodes[id]})
	}
	for _, id := range said.Victims {
		a.decision.Victims = append(a.decision.Victims, placement.Victim{Pods: []string{id}})
	}
}

// agrees reports whether a decision is what the scheduler did.
func agrees(d *placement.Decision, said offline.Answer) bool {
	var victims []string
	for _, v := range d.Victims {
		victims = append(victims, v.Pods...)
	}
	return slices.Equal(slices.Sorted(slices.Values(victims)), said.Victims) && (said.Outcome == offline.Preempts) == (d.Outcome.Succeeds() || len(d.Nominations) > 0)
}

// steps is what is printed about a decision of the scheduler.
func (a *answer) steps() []explain.Step {
	if a.explained != nil {
		return a.explained.Steps
	}
	asked := placement.Request{Group: a.request.Group, Priority: a.request.Priority, Pods: a.request.Pods}
	if asked.Group == "" {
		asked.Pods = []workload.Pod{{ID: a.id}}
	}
	return explain.Printer{Amount: units.Amount}.PlacementAnswer(&asked, &a.decision)
}

// said is the sentence of kube-scheduler that the answer ends with.
func (a *answer) said() string {
	if a.message == "" || a.held != "" {
		return ""
	}
	return cmp.Or(strings.TrimSuffix(strings.TrimSpace(a.message), "."), "nothing")
}
