package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// answer is a verdict with its request, decision and notes.
type answer struct {
	*cluster
	waiting  answers.Waiting // before who stands in front of it is looked at
	options  *options
	verdict  answers.Verdict
	request  preemption.Request
	decision *preemption.Decision // nil: nothing can be decided
	assigned workload.Workload    // the request's workload with the assigned flavors
	notes    []string             // notes on the answer, then on the input
	brief    bool                 // it is printed without what its sentence says
}

// ask finds the workload and decides.
func (c *cluster) ask(o options) (*answer, error) {
	if o.request == "" && o.workload == "" {
		o.workload = answers.SampleAsks[c.Sample]
	}
	if o.workload != "" {
		id, err := c.named(&o)
		if err != nil {
			return nil, err
		}
		o.workload = id
	}
	c, err := c.otherwise(&o)
	if err != nil {
		return nil, err
	}
	if c.ByFairShares() {
		if c, err = c.requesting(&o); err != nil {
			return nil, err
		}
	}
	w, err := c.wanted(&o)
	if err != nil {
		return nil, err
	}
	a := &answer{cluster: c, waiting: w, options: &o, request: w.Request, assigned: w.Workload, notes: w.Notes}
	if err = c.behind(&w, &o); err != nil {
		return nil, err
	}
	if w.Held != "" {
		if slices.ContainsFunc(c.Found.QueueNotes[w.Workload.Queue], isStopPolicy) {
			a.notes = append(a.notes, fmt.Sprintf("to ask as if the queue admitted again: -policy %s:%s=None", w.Workload.Queue, answers.StopPolicy))
		}
		if a.cluster, err = c.resumed(w.Workload.Queue); err != nil {
			return nil, err
		}
	}
	if a.Sharing != "" {
		a.notes = append(a.notes, a.Sharing)
	}
	if w.Unasked == "" && w.Refused == "" {
		if err := a.decide(); err != nil {
			return nil, err
		}
	}
	a.verdict = w.Verdict(a.decision)
	if a.verdict.Outcome == answers.Unknown {
		a.notes = append(append(a.notes, c.accept(w.Doubts)...), c.localQueues(&w)...)
		if len(w.Doubts) == 0 && len(w.TooLarge) > 0 && a.decision != nil {
			a.notes = append(a.notes, "Kueue admits by quota and does not look at nodes; to answer as if there were such a node: -assume "+answers.NodesPath)
		} else if c.OfKueue() && o.request == "" {
			a.notes = append(a.notes, byKueue(o.files, w.Request.Workload.ID))
		}
	}
	a.notes = once(slices.Concat(a.notes, w.Doubts, c.limitNotes(), c.Found.Warnings))
	return a, nil
}

// decide makes the decision, with the notes on it.
func (a *answer) decide() error {
	d, err := a.Preemptor.Decide(a.Snapshot, a.request)
	if err != nil {
		return err
	}
	a.decision = &d
	if note, err := a.fewer(); err != nil {
		return err
	} else if note != "" {
		a.notes = append(a.notes, note)
	}
	for _, f := range d.RuleFaults {
		a.notes = append(a.notes, "the rules of this tier and of later ones permit no victim, because a selector is bad: "+f)
	}
	a.assigned = d.Assignment.Pin(a.request.Workload)
	if is, _ := a.ruled(); !is && a.queue().Rules != "" && a.Found.QueueNotes == nil { // of objects the bridge says it
		a.notes = append(a.notes, fmt.Sprintf("queue %s refers to rules %s, which are not in the input: it has no rules", a.queue().Name, a.queue().Rules))
	}
	return nil
}

// localQueues names the LocalQueues of the namespace of a workload whose own is not in the input.
func (c *cluster) localQueues(w *answers.Waiting) []string {
	if w.Workload.Queue != "" || !c.OfKueue() {
		return nil
	}
	namespace, list := answers.Namespace(w.Workload.ID), []string{}
	for _, l := range c.Found.LocalQueues {
		if l.Namespace == namespace {
			list = append(list, l.Name)
		}
	}
	if len(list) == 0 {
		return []string{"the input has no LocalQueue of namespace " + namespace}
	}
	slices.Sort(list)
	return []string{"of namespace " + namespace + " the input has LocalQueue " + strings.Join(list, ", ")}
}

// fewer says with how many replicas a workload fits now without anybody yielding, if others yield for all of it. Empty: it
// does not.
func (a *answer) fewer() (string, error) {
	if a.decision.Outcome != preemption.Preempt || len(a.request.MinCounts) == 0 {
		return "", nil
	}
	r := a.request
	r.Workload.NeverPreempts = true
	d, err := a.Preemptor.Decide(a.Snapshot, r)
	if err != nil || d.Outcome != preemption.Fits {
		return "", err
	}
	return "it fits now" + explain.Partial(&d, &r.Workload) + " without anybody yielding; the scheduler preempts for more of them first", nil
}

// byKueue names the command that decides what is unknown here.
func byKueue(files []string, id string) string {
	file := "FILE"
	if len(files) == 1 && files[0] != "-" {
		if path, err := filepath.Abs(files[0]); err == nil {
			file = path
		}
	}
	return fmt.Sprintf("Kueue's own scheduler decides it, in a checkout: cd examples/kueue && GOWORK=off go run ./ask -f %s -workload %s", file, id)
}

// accept says how to accept what is in doubt.
func (c *cluster) accept(doubts []string) (notes []string) {
	if list := c.Accept(doubts); len(list) > 0 {
		notes = append(notes, "to accept what is in doubt: -assume "+strings.Join(list, " -assume "))
	}
	return notes
}

// whyMissing is the note on the first object that was left out and may be what is missing: no queue and
// no workload is missing because of rules or limits.
func whyMissing(notes []string) string {
	return objects.FirstLeftOut(slices.DeleteFunc(slices.Clone(notes), func(n string) bool {
		return strings.HasPrefix(n, "PreemptionConfig ") || strings.HasPrefix(n, "PreemptionLimit ")
	}))
}

// wanted returns the workload that the command line is about: that of a Record, a pending one or a new
// one, in another queue or with flavors as the command line says.
func (c *cluster) wanted(o *options) (answers.Waiting, error) {
	has := func(name string) bool { return c.findQueue(name) != nil }
	if c.Recorded != nil && o.workload == "" && o.request == "" {
		r := c.recordedRequest(o)
		return (&answers.Standing{Request: r}).At(r.Now, has), nil
	}
	if at := slices.IndexFunc(c.Found.Checked, func(p bridge.Pending) bool { return p.Workload.ID == o.workload }); at >= 0 {
		s := answers.StandingChecked(&c.Found.Checked[at])
		return s.At(c.Now, has), nil
	}
	found, err := find(*o, &c.Input, c.Now)
	if err != nil {
		return answers.Waiting{}, err
	}
	p := *found
	localNotes, namespace := p.LocalNotes, answers.Namespace(p.Workload.ID)
	if o.queue != "" {
		local, err := queueOf(o.queue, &c.Input)
		if err != nil {
			return answers.Waiting{}, err
		}
		q := c.findQueue(local.ClusterQueue)
		if q == nil {
			return answers.Waiting{}, fmt.Errorf("queue %q is not in the input%s%s", local.ClusterQueue, nearest(local.ClusterQueue, queueNames(c.State)), whyMissing(c.Found.Warnings))
		}
		p.Workload.Queue, localNotes = q.Name, local.Notes
		p.CountPods(q)
		if o.request != "" {
			namespace = local.Namespace
		}
	}
	s := c.Standing(&p, localNotes, namespace)
	c.Doubt(&s, c.Found.TopologyDoubts(&p.Workload))
	if q := c.findQueue(p.Workload.Queue); q != nil && o.flavor != "" {
		if err := force(&s.Request.Workload, q, o.flavor); err != nil {
			return answers.Waiting{}, err
		}
	}
	w := s.At(c.Now, has)
	if err := rooms.New(&c.Cluster, c.nodes).Place(&w); err != nil {
		return answers.Waiting{}, answers.Faults(err)
	}
	if w.Unasked != "" && len(w.Doubts) == 0 {
		w.Notes = append(w.Notes, "-queue asks about it in another queue")
	}
	return w, nil
}

// checked says for which admission checks a workload with quota waits; empty: for none.
func (c *cluster) checked(id string) string {
	for i := range c.Found.Checked {
		if p := &c.Found.Checked[i]; p.Workload.ID == id {
			return p.Unresolved
		}
	}
	return ""
}

// findQueue returns the queue with the name; nil: there is none.
func (c *cluster) findQueue(name string) *queue.Queue {
	i := slices.IndexFunc(c.State.Queues, func(q queue.Queue) bool { return q.Name == name })
	if i < 0 {
		return nil
	}
	return &c.State.Queues[i]
}

// find returns the workload of the request.
func find(o options, in *answers.Input, now time.Time) (*bridge.Pending, error) {
	if o.request != "" {
		return describe(o, in, now)
	}
	pending := in.Found.Pending
	if o.workload == "" {
		switch len(pending) {
		case 0:
			return nil, fmt.Errorf("no workload waits in the input: describe one with -request and -queue%s", whyMissing(in.Found.Warnings))
		case 1:
			o.workload = pending[0].Workload.ID
		default:
			return nil, fmt.Errorf("%d workloads wait in the input: name one, as in %s", len(pending), some(pendingNames(pending)))
		}
	}
	for i := range pending {
		if p := &pending[i]; p.Workload.ID == o.workload {
			return p, nil
		}
	}
	for i := range pending {
		if p := &pending[i]; p.Workload.ID == o.workload+kai.More { // it runs, and more of its pods wait
			return p, nil
		}
	}
	for i := range in.State.Admitted {
		if w := &in.State.Admitted[i]; w.ID == o.workload {
			since := ""
			if !w.ReservedAt.IsZero() {
				since = " since " + w.ReservedAt.UTC().Format(time.RFC3339)
			}
			return nil, fmt.Errorf("workload %s holds quota in queue %s already%s: it does not wait; safe %[1]s says until when it keeps its place, and who may take it then", w.ID, w.Queue, since)
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
func describe(o options, in *answers.Input, now time.Time) (*bridge.Pending, error) {
	w, err := answers.Describe(o.name, o.request, o.count, now)
	if err != nil {
		return nil, fmt.Errorf("-request %w", err)
	}
	w.Priority = o.priority
	if slices.ContainsFunc(in.State.Admitted, func(other workload.Workload) bool { return other.ID == w.ID }) {
		return nil, fmt.Errorf("-name %q is the name of a workload that runs", o.name)
	}
	if !in.ByFairShares() {
		return &bridge.Pending{Workload: w}, nil
	}
	p, err := kai.Describe(w)
	if err != nil {
		return nil, fmt.Errorf("-count %w", err)
	}
	return &p, nil
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

// once keeps each note where it is first.
func once(notes []string) (kept []string) {
	seen := map[string]bool{}
	for _, n := range notes {
		if !seen[n] {
			kept = append(kept, n)
		}
		seen[n] = true
	}
	return kept
}
