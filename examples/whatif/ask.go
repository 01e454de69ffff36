package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// answer is a decision with its request and notes.
type answer struct {
	*cluster
	request  preemption.Request
	decision preemption.Decision
	assigned workload.Workload // the request's workload with the assigned flavors
	notes    []string          // notes on the answer, then on the input
}

// ask finds the workload and decides.
func (c *cluster) ask(o options) (*answer, error) {
	a := &answer{cluster: c}
	o.now = c.Now
	var err error
	if c.IsSample && o.request == "" && o.workload == "" {
		o.workload = answers.SampleWorkload
	}
	if c.Recorded != nil && o.workload == "" && o.request == "" {
		a.request = c.recordedRequest(&o)
	} else if a.request, err = a.build(o, &c.Input); err != nil {
		return nil, err
	}
	if a.Sharing != "" {
		a.notes = append(a.notes, a.Sharing)
	}
	a.decision, err = c.Preemptor.Decide(c.Snapshot, a.request)
	for _, f := range a.decision.RuleFaults {
		a.notes = append(a.notes, "no rule of this tier and of later ones permits anybody, because a selector is bad: "+f)
	}
	a.assigned = a.decision.Assignment.Pin(a.request.Workload)
	for _, choice := range a.decision.Assignment {
		if t := c.Found.Topologies[choice.Flavor]; t != "" {
			a.notes = append(a.notes, fmt.Sprintf("flavor %s has a topology (%s): room on its nodes is not checked", choice.Flavor, t))
		}
	}
	a.notes = slices.Concat(a.notes, c.limitNotes(), c.Found.Warnings)
	return a, err
}

// whyMissing is the note on the first object that was left out and may be what is missing: no queue and
// no workload is missing because of rules or limits.
func whyMissing(notes []string) string {
	return objects.FirstLeftOut(slices.DeleteFunc(slices.Clone(notes), func(n string) bool {
		return strings.HasPrefix(n, "PreemptionConfig ") || strings.HasPrefix(n, "PreemptionLimit ")
	}))
}

// build makes the request for a pending or a new workload, with the flavors of the command
// line.
func (a *answer) build(o options, in *answers.Input) (preemption.Request, error) {
	p, err := find(o, in)
	if err != nil {
		return preemption.Request{}, err
	}
	localNotes := p.LocalNotes
	namespace, _, inNamespace := strings.Cut(p.Workload.ID, "/")
	if o.queue != "" {
		local, err := queueOf(o.queue, in)
		if err != nil {
			return preemption.Request{}, err
		}
		p.Workload.Queue = local.ClusterQueue
		localNotes = local.Notes
		if o.request != "" {
			namespace, inNamespace = local.Namespace, true
		}
	}
	if !inNamespace {
		namespace = ""
	}
	if p.Workload.Queue == "" {
		return preemption.Request{}, fmt.Errorf("workload %s: %s; name its queue with -queue%s", p.Workload.ID, p.Unresolved, whyMissing(in.Found.Warnings))
	}
	i := slices.IndexFunc(a.State.Queues, func(q queue.Queue) bool { return q.Name == p.Workload.Queue })
	if i < 0 {
		return preemption.Request{}, fmt.Errorf("queue %q is not in the input%s%s", p.Workload.Queue, nearest(p.Workload.Queue, queueNames(a.State)), whyMissing(in.Found.Warnings))
	}
	q := &a.State.Queues[i]
	if o.queue != "" {
		p.CountPods(q)
	}
	w, notes := in.Prepare(p, localNotes, namespace, o.now)
	if o.flavor != "" {
		if err := force(&w, q, o.flavor); err != nil {
			return preemption.Request{}, err
		}
	}
	a.notes = bridge.Texts(notes)
	return preemption.Request{Workload: w, MinCounts: p.MinCounts, Now: o.now}, nil
}

// find returns the workload of the request.
func find(o options, in *answers.Input) (*bridge.Pending, error) {
	if o.request != "" {
		return describe(o, in)
	}
	pending := in.Found.Pending
	if o.workload == "" {
		switch len(pending) {
		case 0:
			return nil, fmt.Errorf("no workload waits in the input: describe one with -request and -queue%s", whyMissing(in.Found.Warnings))
		case 1:
			o.workload = pending[0].Workload.ID
		default:
			return nil, fmt.Errorf("%d workloads wait in the input: name one with -workload, as in %s", len(pending), some(pendingNames(pending)))
		}
	}
	for i := range pending {
		if p := &pending[i]; p.Workload.ID == o.workload {
			return p, nil
		}
	}
	for i := range in.State.Admitted {
		if w := &in.State.Admitted[i]; w.ID == o.workload {
			since := ""
			if !w.ReservedAt.IsZero() {
				since = " since " + w.ReservedAt.UTC().Format(time.RFC3339)
			}
			return nil, fmt.Errorf("workload %s holds quota in queue %s already%s", w.ID, w.Queue, since)
		}
	}
	if slices.Contains(in.Found.Finished, o.workload) {
		return nil, fmt.Errorf("workload %s is finished", o.workload)
	}
	if len(pending) == 0 {
		return nil, fmt.Errorf("workload %q is not in the input, and none waits there: describe one with -request and -queue%s", o.workload, leftOut(o.workload, in))
	}
	if why := leftOut(o.workload, in); why != "" {
		return nil, fmt.Errorf("workload %q cannot be asked about%s", o.workload, why)
	}
	return nil, fmt.Errorf("workload %q is not in the input%s", o.workload, nearest(o.workload, pendingNames(pending)))
}

// leftOut returns the note on the object with that name if it was left out.
func leftOut(id string, in *answers.Input) string {
	for _, w := range in.Found.Warnings {
		if strings.HasPrefix(w, "Workload "+id+":") || strings.Contains(w, "(Workload "+id+"):") {
			return "; " + w
		}
	}
	return ""
}

// describe makes the pending workload that the command line describes.
func describe(o options, in *answers.Input) (*bridge.Pending, error) {
	set := workload.PodSet{Name: "main", Count: o.count}
	for _, item := range strings.Split(o.request, ",") {
		name, text, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("-request %q: want RESOURCE=QUANTITY,..., as in cpu=4,nvidia.com/gpu=8", o.request)
		}
		quantity, err := bridge.ParseQuantity(text)
		amount := quantity.Amount(name)
		if err != nil {
			return nil, fmt.Errorf("-request %s: %w", item, err)
		}
		if amount < 0 {
			return nil, fmt.Errorf("-request %s: is negative", item)
		}
		if slices.ContainsFunc(set.Requests, func(r quota.Amount) bool { return r.Resource == name }) {
			return nil, fmt.Errorf("-request %q: %s is listed twice", o.request, name)
		}
		set.Requests = append(set.Requests, quota.Amount{Resource: name, Amount: amount})
	}
	p := &bridge.Pending{Workload: workload.Workload{
		ID: o.name, Priority: o.priority, Created: o.now, Queued: o.now, PodSets: []workload.PodSet{set},
	}}
	if slices.ContainsFunc(in.State.Admitted, func(w workload.Workload) bool { return w.ID == p.Workload.ID }) {
		return nil, fmt.Errorf("-name %q is the name of a workload that runs", o.name)
	}
	return p, nil
}

// queueOf returns the local queue with the name; for the name of a queue, one without a name
// that points to it.
func queueOf(name string, in *answers.Input) (bridge.LocalQueue, error) {
	namespace, local, ok := strings.Cut(name, "/")
	if !ok {
		return bridge.LocalQueue{ClusterQueue: name}, nil
	}
	for _, l := range in.Found.LocalQueues {
		if l.Namespace == namespace && l.Name == local {
			return l, nil
		}
	}
	return bridge.LocalQueue{}, fmt.Errorf("local queue %q is not in the input%s", name, nearest(name, localQueueNames(in.Found)))
}

func pendingNames(pending []bridge.Pending) []string {
	var names []string
	for _, p := range pending {
		names = append(names, p.Workload.ID)
	}
	slices.Sort(names)
	return names
}

func queueNames(st preemption.State) []string {
	var names []string
	for _, q := range st.Queues {
		names = append(names, q.Name)
	}
	slices.Sort(names)
	return names
}

func localQueueNames(c read.Cluster) []string {
	var names []string
	for _, l := range c.LocalQueues {
		names = append(names, l.Namespace+"/"+l.Name)
	}
	slices.Sort(names)
	return names
}

// shown is the number of names in a message.
const shown = 3

func some(names []string) string {
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// nearest suggests the names most similar to the given one.
func nearest(name string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	distance := make(map[string]int, len(names))
	for _, n := range names {
		distance[n] = levenshtein.ComputeDistance(name, n)
		if _, base, ok := strings.Cut(n, "/"); ok { // the namespace is often forgotten
			distance[n] = min(distance[n], levenshtein.ComputeDistance(name, base)+1)
		}
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return distance[a] - distance[b] })
	return "; the nearest: " + strings.Join(names[:min(shown, len(names))], ", ")
}
