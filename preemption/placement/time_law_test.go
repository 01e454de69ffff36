package placement_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// RetryAt is the first of all instants at which the answer is Fits or Preempt; asked at any
// instant before it the answer is to wait for it; without one no instant helps.
func retryAtIsTheFirstInstant(t *rapid.T) {
	st, r, c, d := draw(t)
	if d.Outcome.Succeeds() {
		if !d.RetryAt.IsZero() {
			t.Fatalf("%v, and retry at %v", d.Outcome, d.RetryAt)
		}
		return
	}
	s := snapshotOf(t, st)
	for _, at := range nodes.New(c, st, r).Instants() {
		later := r
		later.Now = at
		then := decide(t, c, s, later)
		switch before := d.RetryAt.IsZero() || at.Before(d.RetryAt); {
		case before && then.Outcome.Succeeds():
			t.Fatalf("%v at %v, before %v", then.Outcome, at, d.RetryAt)
		case before && !then.RetryAt.Equal(d.RetryAt):
			t.Fatalf("retry at %v; asked at %v: at %v", d.RetryAt, at, then.RetryAt)
		case at.Equal(d.RetryAt) && !then.Outcome.Succeeds():
			t.Fatalf("%v at the time to retry: %+v", then.Outcome, then)
		}
	}
	if d.RetryAt.IsZero() {
		return
	}
	c.MaxRetrySteps = -1
	if skipped := decide(t, c, s, r); skipped.Outcome != preemption.Wait || !skipped.RetryAt.IsZero() {
		t.Fatalf("%v, retry at %v, though it is not asked for", skipped.Outcome, skipped.RetryAt)
	}
	c.MaxRetrySteps = 1
	if bounded := decide(t, c, s, r); bounded.Outcome != preemption.Wait || bounded.RetryAt.After(d.RetryAt) || !bounded.RetryAt.After(r.Now) {
		t.Fatalf("%v, retry at %v with few steps, later than %v", bounded.Outcome, bounded.RetryAt, d.RetryAt)
	} else if err := verify.Placement(st, r, c, bounded); err != nil {
		t.Fatalf("retry at %v with few steps: %v", bounded.RetryAt, err)
	}
}

// protectedUntil is the end of a pod's minimum runtime; zero for none.
func protectedUntil(st placement.State, r placement.Request, c placement.Config, p workload.Pod) time.Time {
	preempt, reclaim, queue := p.MinRuntime, p.ReclaimMinRuntime, p.Queue
	if root, known := rootOf(st, p.Group); known {
		queue = root.Queue
	}
	for _, g := range groupsAround(st, p) {
		preempt, reclaim = firstSet(preempt, g.MinRuntime), firstSet(reclaim, g.ReclaimMinRuntime)
	}
	minimum := preempt.Or(c.MinRuntime.Or(0))
	if queue != r.Queue && queue != "" && r.Queue != "" {
		minimum = reclaim.Or(c.ReclaimMinRuntime.Or(0))
	}
	if minimum == 0 || p.Started.IsZero() || p.Terminating || isSurplus(st, p) {
		return time.Time{}
	}
	return p.Started.Add(minimum)
}

// groupsAround lists the groups around a pod, its own first.
func groupsAround(st placement.State, p workload.Pod) (list []workload.PodGroup) {
	for id := p.Group; ; id = list[len(list)-1].Parent {
		at := slices.IndexFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == id })
		if at < 0 {
			return list
		}
		list = append(list, st.Groups[at])
	}
}

// rootOf returns the group of which the priority and the queue count for pods of a group; ok is false if the state does not
// have that group.
func rootOf(st placement.State, id string) (root workload.PodGroup, ok bool) {
	for _, root = range groupsAround(st, workload.Pod{Group: id}) {
		ok = true
	}
	return root, ok
}

func firstSet(a, b quota.OptionalDuration) quota.OptionalDuration {
	if _, set := a.Get(); set {
		return a
	}
	return b
}

// isSurplus reports whether at least as many running pods of its group as the group needs come before a pod by ID.
func isSurplus(st placement.State, p workload.Pod) bool {
	at := slices.IndexFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == p.Group })
	yieldsWhole := func(g workload.PodGroup) bool { return g.DisruptionMode == workload.DisruptionModePodGroup }
	if at < 0 || st.Groups[at].MinCount == 0 || p.Terminating || slices.ContainsFunc(groupsAround(st, p), yieldsWhole) {
		return false
	}
	before := 0
	for _, o := range st.Pods {
		if o.Group == p.Group && !o.Terminating && o.ID < p.ID {
			before++
		}
	}
	return before >= st.Groups[at].MinCount
}
