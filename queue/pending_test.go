package queue_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// The queues of the tests: "best" and "other" share a cohort tree, "strict" has its own.
var (
	cohorts = []queue.Cohort{{Name: "root"}, {Name: "left", Parent: "root"}, {Name: "far"}}
	queues  = []queue.Queue{{Name: "strict", Cohort: "far", Strategy: queue.StrictFIFO}, {Name: "best", Cohort: "left"},
		{Name: "other", Cohort: "root", Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
		{Name: "alone", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}
)

func waits(id, in string, priority int64, queued int, asks int64) workload.Workload {
	return workload.Workload{ID: id, Queue: in, Priority: priority, Queued: minute(queued),
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "r", Amount: asks}}}}}
}

func pending(t failer, list ...workload.Workload) *queue.Pending {
	t.Helper()
	p, err := queue.NewPending(cohorts, queues)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, w := range list {
		p = must(p.Add(w))(t)
	}
	return p
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func must(p *queue.Pending, err error) func(failer) *queue.Pending {
	return func(t failer) *queue.Pending {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return p
	}
}

func heads(p *queue.Pending) (ids []string) {
	for _, h := range p.Heads() {
		ids = append(ids, h.Workload.ID)
	}
	return ids
}

func headOf(p *queue.Pending, id string) queue.Head {
	for _, h := range p.Heads() {
		if h.Workload.ID == id {
			return h
		}
	}
	return queue.Head{Workload: workload.Workload{ID: id}}
}

func requeue(t failer, p *queue.Pending, id string, r queue.RequeueReason) *queue.Pending {
	t.Helper()
	return must(p.Requeue(headOf(p, id), queue.Requeue{Reason: r}))(t)
}

func wantHeads(t *testing.T, rule string, p *queue.Pending, want ...string) {
	t.Helper()
	if got := heads(p); !slices.Equal(got, want) {
		t.Errorf("%s: heads %q, want %q", rule, got, want)
	}
}

func TestOrder(t *testing.T) {
	boosted := waits("boosted", "best", 0, 9, 1)
	boosted.PriorityBoost = 7
	p := pending(t, waits("late", "best", 5, 2, 1), waits("b", "best", 5, 1, 1), waits("a", "best", 5, 1, 1), waits("low", "best", 4, 0, 1), boosted)
	for _, want := range []string{"boosted", "a", "b", "late", "low"} {
		wantHeads(t, "priority, then timestamp, then ID", p, want)
		p = must(p.Remove(want))(t)
	}
	if p.Len() != 0 {
		t.Errorf("%d left", p.Len())
	}
}

// KEP-8303, Kueue Scheduler: "BestEffortFIFO - the workload is marked as inadmissible ...
// newer workloads or workloads of lower priority can leapfrog the gated one. StrictFIFO -
// the workload is put back into the heap."
func TestGatedHeads(t *testing.T) {
	gated := func(in string) workload.Workload {
		w := waits("gated-"+in, in, 9, 0, 1)
		w.Gates = gate.Gates{Names: []string{"g"}}
		return w
	}
	p := pending(t, gated("best"), gated("strict"), waits("low-best", "best", 0, 1, 1), waits("low-strict", "strict", 0, 1, 1))
	p = requeue(t, requeue(t, p, "gated-best", queue.Gated), "gated-strict", queue.Gated)
	wantHeads(t, "a gated head", p, "low-best", "gated-strict")
	w := gated("best")
	w.Gates = w.Gates.Signalled(noon)
	wantHeads(t, "the signal alone brings nobody back", must(p.Update(w))(t), "low-best", "gated-strict")
	w.Gates = w.Gates.Opened("g", noon)
	wantHeads(t, "an opened gate does", must(p.Update(w))(t), "gated-best", "gated-strict")
	w.Gates = gate.Gates{Names: []string{"g"}}
	late := pending(t, w)
	read := headOf(late, w.ID)
	w.Gates = w.Gates.Opened("g", noon)
	late = must(must(late.Update(w))(t).Requeue(read, queue.Requeue{Reason: queue.Gated}))(t)
	wantHeads(t, "also one that was opened since the head was read", late, "gated-best")
	wantHeads(t, "as does room in the tree", p.Release("other"), "gated-best", "gated-strict")
	wantHeads(t, "and not room in another", p.Release("strict", "alone", "unknown"), "low-best", "gated-strict")
}

// Of two alike workloads that signal, the answer for one does not keep the other from its turn:
// only its own answer takes its signal back.
func TestSignalsAreTakenBack(t *testing.T) {
	one, two := waits("one", "best", 9, 0, 1), waits("two", "best", 9, 0, 1)
	one.Gates = gate.Gates{Names: []string{"g"}}.Signalled(noon)
	two.Gates = one.Gates
	p := pending(t, one, two)
	wantHeads(t, "both signal", p, "one")
	head := headOf(p, "one")
	one.Gates = one.Gates.Cleared(noon)
	p = must(must(p.Update(one))(t).Requeue(head, queue.Requeue{Reason: queue.NoCandidates}))(t)
	wantHeads(t, "one has no candidates any more", p, "two")
	head = headOf(p, "two")
	two.Gates = two.Gates.Cleared(noon)
	p = must(must(p.Update(two))(t).Requeue(head, queue.Requeue{Reason: queue.NoCandidates}))(t)
	wantHeads(t, "nor has two", p)
}

func TestWhatBringsBack(t *testing.T) {
	p := pending(t, waits("first", "best", 9, 0, 5), waits("next", "best", 0, 0, 1))
	aside := requeue(t, p, "first", queue.NoCandidates)
	wantHeads(t, "aside", aside, "next")
	wantHeads(t, "changed quotas", must(aside.Configure(cohorts, queues))(t), "first")
	wantHeads(t, "a smaller request", must(aside.Update(waits("first", "best", 9, 0, 4)))(t), "first")
	wantHeads(t, "the same again", must(aside.Update(waits("first", "best", 9, 0, 5)))(t), "next")

	timed := must(p.Requeue(headOf(p, "first"), queue.Requeue{Reason: queue.NoCandidates, RetryAt: minute(5)}))(t)
	if at, ok := timed.NextAt(); !ok || !at.Equal(minute(5)) {
		t.Errorf("next at %v, %v", at, ok)
	}
	wantHeads(t, "before its time", timed.Advance(minute(5).Add(-1)), "next")
	wantHeads(t, "at its time", timed.Advance(minute(5)), "first")
	wantHeads(t, "or before, when there is room", timed.Release("best"), "first")

	alone := must(p.Requeue(headOf(p, "first"), queue.Requeue{Reason: queue.Gated, RetryAt: minute(7)}))(t)
	if at, ok := alone.NextAt(); !ok || !at.Equal(minute(7)) {
		t.Errorf("one that stepped aside by itself comes at %v, %v", at, ok)
	}
	both := must(must(alone.Add(waits("third", "other", 0, 0, 1)))(t).Requeue(headOf(must(alone.Add(waits("third", "other", 0, 0, 1)))(t), "third"), queue.Requeue{Reason: queue.NoFit, RetryAt: minute(6)}))(t)
	if at, ok := both.NextAt(); !ok || !at.Equal(minute(6)) {
		t.Errorf("the sooner of both is %v, %v", at, ok)
	}

	away := must(p.Requeue(headOf(p, "first"), queue.Requeue{Reason: queue.FailedAfterNomination, NotBefore: minute(5)}))(t)
	for name, p := range map[string]*queue.Pending{"room": away.Release("best"), "quotas": must(away.Configure(cohorts, queues))(t), "a change": must(away.Update(waits("first", "best", 9, 0, 1)))(t)} {
		wantHeads(t, "a backoff is not cut short by "+name, p, "next")
		wantHeads(t, "and ends", p.Advance(minute(5)), "first")
	}

	seen := headOf(p, "first")
	raced := must(p.Release("other").Requeue(seen, queue.Requeue{Reason: queue.NoCandidates}))(t)
	wantHeads(t, "released since the head was read", raced, "first")
}

// A preemptor whose victims are terminating stays the head of a BestEffortFIFO queue.
func TestPreemptorComesFirst(t *testing.T) {
	p := pending(t, waits("preemptor", "best", 1, 0, 1), waits("waiter", "strict", 1, 0, 1))
	p = requeue(t, requeue(t, p, "preemptor", queue.PendingPreemption), "waiter", queue.PendingPreemption)
	p = must(must(p.Add(waits("high", "best", 9, 0, 1)))(t).Add(waits("higher", "strict", 9, 0, 1)))(t)
	wantHeads(t, "stays the head; StrictFIFO goes by order", p, "preemptor", "higher")
	wantHeads(t, "not when it fails for another reason", requeue(t, p, "preemptor", queue.NoCandidates), "high", "higher")
	p = must(p.Add(waits("low", "best", 0, 0, 1)))(t)
	p = must(p.Requeue(queue.Head{Workload: waits("low", "best", 0, 0, 1)}, queue.Requeue{Reason: queue.PendingPreemption}))(t)
	wantHeads(t, "one of a queue, the last", p, "low", "higher")
	wantHeads(t, "and no longer the one before", must(p.Remove("low"))(t), "high", "higher")
}

// What asks for the same has no better chance: it steps aside too, and newcomers do.
func TestEqualsStepAside(t *testing.T) {
	p := pending(t, waits("a", "best", 0, 1, 5), waits("b", "best", 0, 2, 5), waits("c", "best", 0, 3, 4), waits("d", "other", 0, 3, 5))
	for reason, want := range map[queue.RequeueReason][]string{
		queue.NoFit: {"c", "d"}, queue.NoCandidates: {"c", "d"}, queue.Gated: {"b", "d"}, queue.Invalid: {"b", "d"},
		queue.FailedAfterNomination: {"a", "d"}, queue.PendingPreemption: {"a", "d"},
	} {
		wantHeads(t, reason.String(), requeue(t, p, "a", reason), want...)
	}
	wantHeads(t, "alone", must(p.Requeue(headOf(p, "a"), queue.Requeue{Reason: queue.NoFit, Alone: true}))(t), "b", "d")
	aside := requeue(t, must(p.Remove("c"))(t), "a", queue.NoFit)
	wantHeads(t, "both", aside, "d")
	wantHeads(t, "a newcomer", must(aside.Add(waits("e", "best", 0, 4, 5)))(t), "d")
	wantHeads(t, "one queued earlier has more newer equals", must(aside.Add(waits("e", "best", 0, 0, 5)))(t), "e", "d")
	wantHeads(t, "one of another priority", must(aside.Add(waits("e", "best", 1, 4, 5)))(t), "e", "d")
	wantHeads(t, "released", aside.Release("best"), "a", "d")
}

// A preemptor whose hope is gone joins those that stepped aside: the first of them and the
// earliest time count.
func TestBarsMeet(t *testing.T) {
	for _, c := range []struct {
		queued, until int
		at            int // when the first comes back
		heads         []string
	}{{5, 0, 20, []string{"b"}}, {5, 30, 20, []string{"b"}}, {5, 10, 10, []string{"b"}}, {0, 30, 20, nil}} {
		p := pending(t, waits("sticky", "best", 0, c.queued, 1))
		p = requeue(t, p, "sticky", queue.PendingPreemption)
		p = must(p.Add(waits("a", "best", 0, 2, 1)))(t)
		read := headOf(pending(t, waits("a", "best", 0, 2, 1)), "a") // before the other was the first
		p = must(p.Requeue(read, queue.Requeue{Reason: queue.NoFit, RetryAt: minute(20)}))(t)
		r := queue.Requeue{Reason: queue.NoCandidates}
		if c.until > 0 {
			r.RetryAt = minute(c.until)
		}
		p = must(p.Requeue(headOf(p, "sticky"), r))(t)
		wantHeads(t, fmt.Sprint(c, " behind the bar"), p)
		p = must(p.Add(waits("b", "best", 0, 1, 1)))(t)
		wantHeads(t, fmt.Sprint(c, " before the bar"), p, c.heads...)
		if at, _ := p.NextAt(); !at.Equal(minute(c.at)) {
			t.Errorf("%v: next at %v", c, at)
		}
	}
}

func TestPendingErrors(t *testing.T) {
	p := pending(t, waits("a", "best", 0, 0, 1))
	for want, try := range map[string]func() (*queue.Pending, error){
		`workload.id: "a" waits already`:                   func() (*queue.Pending, error) { return p.Add(waits("a", "best", 0, 0, 1)) },
		`workload.queue: unknown queue "x" (workload "b")`: func() (*queue.Pending, error) { return p.Add(waits("b", "x", 0, 0, 1)) },
		`workload.id: no workload "b" waits`:               func() (*queue.Pending, error) { return p.Update(waits("b", "best", 0, 0, 1)) },
		`id: no workload "b" waits`:                        func() (*queue.Pending, error) { return p.Remove("b") },
		`head: no workload "b" waits; requeue.Reason: RequeueReason(0) is unknown; requeue.NotBefore: 1500-01-01 00:00:00 +0000 UTC is not within the years 1678 to 2262`: func() (*queue.Pending, error) {
			return p.Requeue(headOf(p, "b"), queue.Requeue{NotBefore: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)})
		},
		`queues: queue "best" has a waiting workload, "a"`: func() (*queue.Pending, error) { return p.Configure(nil, nil) },
		`queues[0].strategy: Strategy(7) is unknown (queue "q")`: func() (*queue.Pending, error) {
			return queue.NewPending(nil, []queue.Queue{{Name: "q", Strategy: 7}})
		},
	} {
		if _, err := try(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, p := range map[string]*queue.Pending{"a": p, "zero": new(queue.Pending), "nil": nil} {
		for move, try := range map[string]func() (*queue.Pending, error){
			"add":       func() (*queue.Pending, error) { return p.Add(waits("b", "none", 0, 0, 1)) },
			"update":    func() (*queue.Pending, error) { return p.Update(waits("b", "best", 0, 0, 1)) },
			"remove":    func() (*queue.Pending, error) { return p.Remove("b") },
			"admit":     func() (*queue.Pending, error) { return p.Admit("b") },
			"requeue":   func() (*queue.Pending, error) { return p.Requeue(queue.Head{}, queue.Requeue{}) },
			"configure": func() (*queue.Pending, error) { return p.Configure(nil, []queue.Queue{{}}) },
		} {
			if got, err := try(); err == nil || got != p {
				t.Errorf("%s: %s returns another than its receiver, or no error: %v", want, move, err)
			}
		}
		if _, _, ok := p.Find("b"); ok || p.Release("best").Len() != p.Len() || p.Advance(noon).Len() != p.Len() || len(p.Workloads()) != p.Len() || len(p.AlikeBy(nil).Heads()) != p.Len() {
			t.Errorf("%s: reading it finds what is not there", want)
		}
		if _, ok := p.NextAt(); ok {
			t.Errorf("%s: time brings somebody back", want)
		}
	}
}

func TestBackoff(t *testing.T) {
	b := queue.Backoff{Base: time.Minute, Max: 5 * time.Minute, Attempts: 4}
	for i, want := range []time.Duration{0, 1, 2, 4, 5, -1} {
		delay, again := b.After(i)
		if i > 0 && (again != (want >= 0) || again && delay != want*time.Minute) {
			t.Errorf("after %d: %v, %v", i, delay, again)
		}
	}
	if delay, again := (queue.Backoff{Base: time.Hour}).After(1000); !again || delay < 290*365*24*time.Hour {
		t.Errorf("unbounded: %v, %v", delay, again)
	}
	if delay, again := (queue.Backoff{}).After(3); !again || delay != 0 {
		t.Errorf("zero: %v, %v", delay, again)
	}
}

// slow is a Pending as a list, with each rule written out.
type slow struct {
	list []*standing
	bars []bar
}

type standing struct {
	w        workload.Workload
	activity queue.Activity
	why      queue.RequeueReason
	first    bool
	owed     bool
	until    time.Time
}

// bar keeps those out that ask for the same as a workload and are not before it.
type bar struct {
	from  workload.Workload
	why   queue.RequeueReason
	owed  bool
	until time.Time
}

func tree(name string) string {
	return map[string]string{"best": "root", "other": "root", "strict": "far", "alone": "alone"}[name]
}

func alike(a, b workload.Workload) bool {
	return a.Queue == b.Queue && a.Priority == b.Priority && a.NeverPreempts == b.NeverPreempts && gocmp.Equal(a.PodSets, b.PodSets)
}

// inClass compares two that are alike.
func inClass(a, b workload.Workload) int {
	return cmp.Or(a.Queued.Compare(b.Queued), cmp.Compare(a.ID, b.ID))
}

// at is where a workload stands.
func (s *slow) at(e *standing) queue.PendingStatus {
	at := queue.PendingStatus{Activity: e.activity, Reason: e.why, Preempting: e.first, Until: e.until}
	for _, b := range s.bars {
		if e.activity == queue.Active && !e.first && alike(b.from, e.w) && inClass(b.from, e.w) <= 0 {
			at.Activity, at.Reason, at.Until = queue.Inadmissible, b.why, b.until
		}
	}
	return at
}

func (s *slow) heads() []string {
	best := map[string]*standing{}
	for _, e := range s.list {
		b := best[e.w.Queue]
		before := b == nil || e.first && !b.first || e.first == b.first && cmp.Or(cmp.Compare(b.w.EffectivePriority(), e.w.EffectivePriority()),
			e.w.Queued.Compare(b.w.Queued), cmp.Compare(e.w.ID, b.w.ID)) < 0
		if s.at(e).Activity == queue.Active && before {
			best[e.w.Queue] = e
		}
	}
	var ids []string
	for _, q := range []string{"alone", "best", "other", "strict"} {
		if best[q] != nil {
			ids = append(ids, best[q].w.ID)
		}
	}
	return ids
}

// owes reports whether somebody of the tree is known to wait for its nominal quota: by
// itself, or behind a bar.
func (s *slow) owes(name string) bool {
	return slices.ContainsFunc(s.list, func(e *standing) bool {
		behind := func(b bar) bool { return b.owed && alike(b.from, e.w) && e.activity == queue.Active && !e.first }
		return tree(e.w.Queue) == tree(name) && (e.owed || slices.ContainsFunc(s.bars, behind))
	})
}

func (s *slow) add(w workload.Workload) {
	s.list = append(s.list, &standing{w: w, activity: queue.Active})
}

func (s *slow) find(id string) *standing {
	i := slices.IndexFunc(s.list, func(e *standing) bool { return e.w.ID == id })
	return s.list[i]
}

func (s *slow) requeue(id string, r queue.Requeue) {
	e := s.find(id)
	strict := e.w.Queue == "strict"
	e.activity, e.why, e.first, e.owed, e.until = queue.Active, r.Reason, false, r.WithinNominal, time.Time{}
	if r.Reason == queue.PendingPreemption && !strict {
		for _, o := range s.list {
			if o.w.Queue == e.w.Queue && o.activity == queue.Active {
				o.first = false
			}
		}
		e.first = true
	}
	aside := !strict && r.Reason != queue.FailedAfterNomination && r.Reason != queue.PendingPreemption
	switch {
	case !r.NotBefore.IsZero():
		e.activity, e.until = queue.Away, r.NotBefore
	case aside && !r.Alone && (r.Reason == queue.NoFit || r.Reason == queue.NoCandidates):
		i := slices.IndexFunc(s.bars, func(b bar) bool { return alike(b.from, e.w) })
		if i < 0 {
			s.bars = append(s.bars, bar{e.w, r.Reason, e.owed, r.RetryAt})
			return
		}
		b := &s.bars[i]
		if b.why, b.owed = r.Reason, e.owed; inClass(e.w, b.from) < 0 {
			b.from = e.w
		}
		if b.until.IsZero() || !r.RetryAt.IsZero() && r.RetryAt.Before(b.until) {
			b.until = r.RetryAt
		}
	case aside:
		e.activity, e.until = queue.Inadmissible, r.RetryAt
	}
}

// bringBack brings those back that stand by themselves, and takes bars away.
func (s *slow) bringBack(which func(*standing) bool, bars func(bar) bool) {
	for _, e := range s.list {
		if e.activity != queue.Active && which(e) {
			e.activity, e.until = queue.Active, time.Time{}
		}
	}
	s.bars = slices.DeleteFunc(s.bars, bars)
}

// pendingAgreesWithTwin moves workloads about at random.
func pendingAgreesWithTwin(t *rapid.T) {
	p, s := pending(t), &slow{}
	drawWorkload := func(id string) workload.Workload {
		w := waits(id, rapid.SampledFrom(queues).Draw(t, "queue").Name, rapid.Int64Range(0, 1).Draw(t, "priority"),
			rapid.IntRange(0, 2).Draw(t, "queued"), rapid.Int64Range(1, 2).Draw(t, "asks"))
		w.NeverPreempts = rapid.IntRange(0, 3).Draw(t, "never preempts") == 3
		return w
	}
	for i := range rapid.IntRange(1, 40).Draw(t, "moves") {
		before, was := p, heads(p)
		var ids []string
		for _, e := range s.list {
			ids = append(ids, e.w.ID)
		}
		move := rapid.SampledFrom([]string{"add", "add", "requeue", "requeue", "requeue", "remove", "admit", "update", "release", "advance", "configure"}).Draw(t, "move")
		if len(ids) == 0 && move != "advance" && move != "release" {
			move = "add"
		}
		switch move {
		case "add":
			w := drawWorkload(fmt.Sprintf("w%02d", i))
			p = must(p.Add(w))(t)
			s.add(w)
		case "requeue":
			if len(was) == 0 {
				continue
			}
			id := rapid.SampledFrom(was).Draw(t, "head")
			r := queue.Requeue{Reason: queue.RequeueReason(rapid.IntRange(1, 6).Draw(t, "reason")), Alone: rapid.IntRange(0, 4).Draw(t, "alone") == 4,
				WithinNominal: rapid.Bool().Draw(t, "within nominal")}
			if rapid.Bool().Draw(t, "timed") {
				r.RetryAt = minute(rapid.IntRange(0, 5).Draw(t, "retry at"))
			}
			if rapid.IntRange(0, 4).Draw(t, "backoff") == 4 {
				r.NotBefore = minute(rapid.IntRange(0, 5).Draw(t, "not before"))
			}
			p = must(p.Requeue(headOf(p, id), r))(t)
			s.requeue(id, r)
		case "remove":
			id := rapid.SampledFrom(ids).Draw(t, "id")
			p = must(p.Remove(id))(t)
			s.list = slices.DeleteFunc(s.list, func(e *standing) bool { return e.w.ID == id })
		case "admit":
			id := rapid.SampledFrom(ids).Draw(t, "id")
			in := tree(s.find(id).w.Queue)
			p = must(p.Admit(id))(t)
			s.list = slices.DeleteFunc(s.list, func(e *standing) bool { return e.w.ID == id })
			gains := func(name string, why queue.RequeueReason) bool {
				return tree(name) == in && why == queue.NoCandidates && (name == "other" || name == "alone")
			}
			s.bringBack(func(e *standing) bool { return e.activity == queue.Inadmissible && gains(e.w.Queue, e.why) },
				func(b bar) bool { return gains(b.from.Queue, b.why) })
		case "update":
			w := drawWorkload(rapid.SampledFrom(ids).Draw(t, "id"))
			p = must(p.Update(w))(t)
			e := s.find(w.ID)
			same := alike(e.w, w) && e.w.Queued.Equal(w.Queued)
			e.first = e.first && e.w.Queue == w.Queue && (same || e.activity == queue.Away)
			e.owed = e.owed && tree(e.w.Queue) == tree(w.Queue) && (same || e.activity == queue.Away)
			if e.w = w; !same && e.activity != queue.Away {
				e.activity, e.why, e.until = queue.Active, 0, time.Time{}
			}
		case "release":
			q := rapid.SampledFrom(queues).Draw(t, "released").Name
			p = p.Release(q)
			s.bringBack(func(e *standing) bool { return e.activity == queue.Inadmissible && tree(e.w.Queue) == tree(q) },
				func(b bar) bool { return tree(b.from.Queue) == tree(q) })
		case "advance":
			now := minute(rapid.IntRange(0, 5).Draw(t, "now"))
			p = p.Advance(now)
			past := func(t time.Time) bool { return !t.IsZero() && !t.After(now) }
			s.bringBack(func(e *standing) bool { return past(e.until) }, func(b bar) bool { return past(b.until) })
		case "configure":
			p = must(p.Configure(cohorts, queues))(t)
			s.bringBack(func(e *standing) bool { return e.activity == queue.Inadmissible }, func(bar) bool { return true })
		}
		if !slices.Equal(heads(before), was) {
			t.Fatalf("%s changed its receiver", move)
		}
		if got, want := heads(p), s.heads(); !slices.Equal(got, want) {
			t.Fatalf("after %s: heads %q, the twin's %q", move, got, want)
		}
		for _, h := range p.Heads() {
			if want := s.owes(h.Workload.Queue); h.NominalWaits != want {
				t.Fatalf("after %s: the head of %s says that the nominal quota is waited for: %t", move, h.Workload.Queue, h.NominalWaits)
			}
		}
		for _, e := range s.list {
			w, at, ok := p.Find(e.w.ID)
			want := s.at(e)
			if !ok || !gocmp.Equal(w, e.w) || !gocmp.Equal(at, want) {
				t.Fatalf("after %s: %s stands %+v, in the twin %+v", move, e.w.ID, at, want)
			}
		}
		if p.Len() != len(s.list) || len(p.Workloads()) != len(s.list) {
			t.Fatalf("%d workloads, the twin has %d", p.Len(), len(s.list))
		}
	}
}

func TestPendingAgreesWithTwin(t *testing.T) { rapid.Check(t, pendingAgreesWithTwin) }
func FuzzPendingAgreesWithTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(pendingAgreesWithTwin)) }
