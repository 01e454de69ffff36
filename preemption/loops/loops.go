// Package loops looks for workloads that evict each other in a circle while nothing else changes:
// one takes the room of another, which waits, asks, and takes it back. Most policies exclude
// circles, some permit them (docs/stability.md says which). A cluster that has one wastes what it
// runs.
//
//	loop, err := loops.Find(snapshot, pending, config, loops.Options{Now: now})
//	for _, step := range loop.Steps {
//		fmt.Println(step.Workload, "evicts", len(step.Victims))
//	}
//
// Time stands still, the waiting workloads ask in any order, and victims leave at once. The search
// has a limit, counted in decisions, so the answer is the same on every machine; [Loop.Cut] says
// that it was reached.
//
// The zero value of a [Loop] says that none was found; that of [Options] is not valid, because it
// has no time. The error is preemption.Faults: a configuration or a workload that is not valid, a
// workload twice.
//
// Circles are a hazard of the rules as built in Kueue; the search for them is this library's own.
package loops

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Options are the options of [Find].
type Options struct {
	// Now is the instant at which time stands still. It must not be zero.
	Now time.Time
	// MaxDecisions limits the search. Zero is 4,000, which takes some hundredths of a second in
	// a small cluster; negative is an error.
	MaxDecisions int
	// MaxWorkloads limits the workloads that all steps together go over: those that a decision looks at, those that have
	// moved, and ten for each that a step moves. The decision that reaches it is the last. In a cluster without room one
	// decision looks at most of what runs. Zero is no limit; negative is an error.
	MaxWorkloads int
}

const defaultDecisions = 4000

// Loop is a circle in which workloads take each other's room while nothing else changes. The
// zero value is: none was found.
type Loop struct {
	// Before lists the steps that lead to the circle.
	Before []Step `json:"before,omitempty"`
	// Steps is the circle. After its last step everything is as it was before its first. Empty:
	// no circle was found.
	Steps []Step `json:"steps,omitempty"`
	// Decisions is the number of decisions that were made.
	Decisions int `json:"decisions,omitempty"`
	// Workloads is, with [Options.MaxWorkloads], the number of workloads that the steps went over.
	Workloads int `json:"workloads,omitempty"`
	// Cut: the search ended at a limit of [Options]. Without a circle this means that none
	// was found so far.
	Cut bool `json:"cut,omitempty"`
}

// Step is one step: a workload asks and gets a place.
type Step struct {
	Workload string `json:"workload"`
	Queue    string `json:"queue"`
	// Victims yield to it. Empty: it fits.
	Victims []preemption.Victim `json:"victims,omitempty"`
}

// Find looks for workloads that evict each other in a circle. Time stands still; the workloads of
// pending ask, in any order. A workload that succeeds starts at once. Its victims leave at once and ask
// again, with the flavors that they had. Replicas that left do not come back. Gates stay as they
// are. Limits see each decision alone: a circle that they only slow down is one.
//
// It returns the circle that is closed after the fewest steps; of several the shortest, then
// the one that comes first if the waiting workloads are asked by priority, queue-order timestamp and
// ID. The answer is the same on every machine.
//
// It fails with [preemption.Faults] if c is not valid (see [preemption.New]), if a pending workload is not (see
// [preemption.Preemptor.Decide]) or comes twice, if Now is zero or out of range, or if a limit is
// negative.
func Find(s *preemption.Snapshot, pending []workload.Workload, c preemption.Config, o Options) (Loop, error) {
	c.MaxBlockers, c.MaxRetrySteps = -1, -1
	p, err := preemption.New(c)
	if err != nil {
		return Loop{}, err
	}
	if err := validate(p, s, pending, o); err != nil {
		return Loop{}, err
	}
	l := looper{p: p, now: o.Now, left: cmp.Or(o.MaxDecisions, defaultDecisions), most: o.MaxWorkloads, byKey: map[key]int{}, submitted: map[string]*workload.Workload{}}
	most := l.left
	first := situation{snapshot: s, moved: map[string]*workload.Workload{}}
	for i := range pending {
		w := &pending[i]
		first.waiting = append(first.waiting, w)
		l.submitted[w.ID], first.moved[w.ID] = w, w
	}
	first.sort()
	l.add(first)
	found := l.search()
	found.Decisions, found.Workloads, found.Cut = most-l.left, l.looked, l.cut
	return found, nil
}

func validate(p *preemption.Preemptor, s *preemption.Snapshot, pending []workload.Workload, o Options) error {
	var faults fault.List
	if o.MaxDecisions < 0 {
		faults.Add("options.MaxDecisions", "%d is negative", o.MaxDecisions)
	}
	if o.MaxWorkloads < 0 {
		faults.Add("options.MaxWorkloads", "%d is negative", o.MaxWorkloads)
	}
	switch {
	case o.Now.IsZero():
		faults.Add("options.Now", "is not set")
		return faults
	case !instant.Valid(o.Now):
		faults.Add("options.Now", "%v is not within %s", o.Now, instant.Range)
		return faults
	}
	seen := map[string]int{}
	for i, w := range pending {
		path := fmt.Sprintf("pending[%d]", i)
		if at, twice := seen[w.ID]; twice {
			faults.Add(path+".id", "%q is also the ID of pending[%d]", w.ID, at)
			continue
		}
		seen[w.ID] = i
		w.NeverPreempts = true // the faults are the same, and no victims are searched
		_, err := p.Decide(s, preemption.Request{Workload: w, Now: o.Now})
		list, _ := err.(fault.List)
		for _, f := range list {
			faults.Add(path+strings.TrimPrefix(f.Path, "request.workload"), "%s", f.Problem)
		}
	}
	return faults.Err()
}

// situation is what runs and what waits. Situations share the workloads, which never change.
type situation struct {
	snapshot *preemption.Snapshot
	waiting  []*workload.Workload
	// moved holds, by ID, all that started, left or shrank since the first situation, as it is
	// now; a waiting workload has no reservation.
	moved map[string]*workload.Workload
	// How it came about: the index of the situation before, and the step from there.
	before int
	step   Step
	depth  int
	next   []edge
}

// edge is a step to another situation.
type edge struct {
	to   int
	step Step
}

func (a *situation) sort() {
	slices.SortFunc(a.waiting, func(x, y *workload.Workload) int {
		return cmp.Or(cmp.Compare(y.EffectivePriority(), x.EffectivePriority()), workload.CompareQueued(x.Queued, y.Queued), cmp.Compare(x.ID, y.ID))
	})
}

// key is the digest of a text that only the same situations have.
type key [sha256.Size]byte

func (a *situation) key() key {
	var text []byte
	for _, id := range slices.Sorted(maps.Keys(a.moved)) {
		w := a.moved[id]
		text = strconv.AppendQuote(text, id)
		text = strconv.AppendInt(append(text, ' '), instant.Of(w.ReservedAt), 10)
		text = strconv.AppendInt(append(text, ' '), instant.Of(w.Queued), 10)
		for i := range w.PodSets {
			text = strconv.AppendInt(append(text, ' '), w.PodSets[i].Count, 10)
			for _, r := range w.PodSets[i].Requests {
				text = strconv.AppendQuote(append(text, ' '), r.Flavor)
				text = strconv.AppendQuote(text, r.Resource)
				text = strconv.AppendInt(text, r.Amount, 10)
			}
		}
		text = append(text, '\n')
	}
	return sha256.Sum256(text)
}

// looper searches the situations breadth first.
type looper struct {
	p         *preemption.Preemptor
	now       time.Time
	left      int  // decisions
	most      int  // workloads that steps may go over; zero: no limit
	looked    int  // workloads that steps went over, with a limit
	cut       bool // a limit was reached
	all       []situation
	byKey     map[key]int
	submitted map[string]*workload.Workload // the pending workloads, as given
}

// add returns the index of a situation.
func (l *looper) add(a situation) int {
	k := a.key()
	if at, known := l.byKey[k]; known {
		return at
	}
	l.byKey[k] = len(l.all)
	l.all = append(l.all, a)
	return len(l.all) - 1
}

// search returns the circle that is closed after the fewest steps.
func (l *looper) search() (best Loop) {
	for i := 0; i < len(l.all); i++ {
		if len(best.Steps) > 0 && l.all[i].depth > l.all[i-1].depth {
			return best // circles closed later come later
		}
		for n := range l.all[i].waiting {
			if l.cut = l.left == 0 || l.most > 0 && l.looked >= l.most; l.cut {
				return best
			}
			l.left--
			a, ok := l.ask(i, n)
			if !ok {
				continue
			}
			to := l.add(a)
			l.all[i].next = append(l.all[i].next, edge{to, a.step})
			if back, ok := l.path(to, i); ok && (len(best.Steps) == 0 || len(back)+1 < len(best.Steps)) {
				best = Loop{Before: l.wayTo(to), Steps: append(back, a.step)}
			}
		}
	}
	return best
}

// ask lets a waiting workload of a situation ask. ok is false if it gets no place.
func (l *looper) ask(at, n int) (after situation, ok bool) {
	from := &l.all[at]
	w := *from.waiting[n]
	d, err := l.decide(from.snapshot, preemption.Request{Workload: w, Now: l.now})
	if err != nil || !d.Outcome.Succeeds() {
		return situation{}, false
	}
	after = situation{
		waiting: slices.Delete(slices.Clone(from.waiting), n, n+1), moved: maps.Clone(from.moved),
		before: at, depth: from.depth + 1, step: Step{Workload: w.ID, Queue: w.Queue, Victims: d.Victims},
	}
	var edits []preemption.Edit
	for _, v := range d.Victims {
		ran, _ := from.snapshot.Find(v.Workload)
		edits = append(edits, preemption.Remove(v.Workload, v.Replicas...))
		if len(v.Replicas) == 0 {
			ran = l.again(ran, v)
			after.waiting = append(after.waiting, &ran)
		}
		after.moved[v.Workload] = &ran
	}
	w = d.Assignment.Pin(w)
	w.ReservedAt, w.AdmittedAt = l.now, l.now
	if after.snapshot, err = from.snapshot.With(append(edits, preemption.Admit(w))...); err != nil {
		return situation{}, false // more usage than can be counted
	}
	for _, v := range d.Victims {
		if ran, runs := after.snapshot.Find(v.Workload); runs { // with the replicas that are left
			after.moved[v.Workload] = &ran
		}
	}
	after.moved[w.ID] = &w
	after.sort()
	if l.most > 0 {
		l.looked += edited*len(edits) + len(after.moved)
	}
	return after, true
}

// edited is how many workloads an edit counts as: it costs about as much as a look at ten.
const edited = 10

// decide decides, and counts what the decision looks at if that has a limit.
func (l *looper) decide(s *preemption.Snapshot, r preemption.Request) (preemption.Decision, error) {
	if l.most == 0 {
		return l.p.Decide(s, r)
	}
	d, looked, err := l.p.DecideCounting(s, r)
	l.looked += looked
	return d, err
}

// again returns a victim as it waits again.
func (l *looper) again(ran workload.Workload, v preemption.Victim) workload.Workload {
	back, _ := v.Requeued(workload.Workload{ID: ran.ID, Queued: ran.Queued}, l.now) // its place in the queue
	if w, ok := l.submitted[ran.ID]; ok {
		ran = w.Clone()
	}
	ran.Queued, ran.ReservedAt, ran.AdmittedAt, ran.Evicted = back.Queued, time.Time{}, time.Time{}, false
	for i := range ran.PodSets {
		ran.PodSets[i].Terminating = 0
	}
	return ran
}

// path returns the steps of a shortest way between two situations, by the steps known so far.
func (l *looper) path(from, to int) (steps []Step, ok bool) {
	type visit struct {
		at, by int // by: the index of the visit before
		step   Step
	}
	list, seen := []visit{{at: from, by: -1}}, map[int]bool{from: true}
	for i := 0; i < len(list); i++ {
		if list[i].at == to {
			for ; list[i].by >= 0; i = list[i].by {
				steps = append(steps, list[i].step)
			}
			slices.Reverse(steps)
			return steps, true
		}
		for _, e := range l.all[list[i].at].next {
			if !seen[e.to] {
				seen[e.to] = true
				list = append(list, visit{e.to, i, e.step})
			}
		}
	}
	return nil, false
}

// wayTo returns the steps by which a situation was first reached.
func (l *looper) wayTo(at int) (steps []Step) {
	for ; at > 0; at = l.all[at].before {
		steps = append(steps, l.all[at].step)
	}
	slices.Reverse(steps)
	return steps
}
