package queue_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

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
	return cmp.Or(inOrder(a.Queued, b.Queued), cmp.Compare(a.ID, b.ID))
}

// inOrder compares queue-order timestamps; one that is not known comes last.
func inOrder(a, b time.Time) int {
	if last := map[bool]int{true: 1}; a.IsZero() != b.IsZero() {
		return last[a.IsZero()] - last[b.IsZero()]
	}
	return a.Compare(b)
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

// before is the order of a queue.
func (e *standing) before(b *standing) bool {
	return e.first && !b.first || e.first == b.first && cmp.Or(cmp.Compare(b.w.EffectivePriority(), e.w.EffectivePriority()),
		inOrder(e.w.Queued, b.w.Queued), cmp.Compare(e.w.ID, b.w.ID)) < 0
}

func (s *slow) heads() []string {
	best := map[string]*standing{}
	for _, e := range s.list {
		b := best[e.w.Queue]
		before := b == nil || e.before(b)
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
			rapid.IntRange(0, 3).Draw(t, "queued"), rapid.Int64Range(1, 2).Draw(t, "asks"))
		if w.Queued.Equal(minute(3)) {
			w.Queued = time.Time{}
		}
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
				return tree(name) == in && (why == queue.NoCandidates || why == queue.Gated) && (name == "other" || name == "alone")
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
