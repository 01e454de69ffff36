package preemptiontest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// PlacementRecords generates valid states of nodes, each with a valid request about it. In
// most of them a unit must yield; in some the request waits.
func PlacementRecords() *rapid.Generator[placement.Record] {
	return rapid.Custom(func(t *rapid.T) placement.Record {
		st := PlacementStates().Draw(t, "state")
		timed := chance(t, 2, 5)
		if timed && chance(t, 1, 3) || !timed && chance(t, 1, 8) {
			stretch(t, &st)
		}
		if timed {
			protect(t, &st)
		}
		r := PlacementRequests(st).Draw(t, "request")
		if chance(t, 1, 4) {
			startWaiting(t, &st, &r)
		}
		return placement.Record{State: st, Request: &r}
	})
}

// startWaiting changes a record so that earlier victims terminate on a node, mostly one to
// which the request is nominated.
func startWaiting(t *rapid.T, st *placement.State, r *placement.Request) {
	node := rapid.SampledFrom(st.Nodes).Draw(t, "victims on").Name
	for i := range st.Pods {
		if p := &st.Pods[i]; p.Node == node && chance(t, 4, 5) {
			p.Terminating, p.Preempted = true, true
			p.TerminatingSince = Now.Add(-time.Duration(rapid.IntRange(0, 2).Draw(t, "leaving for")) * time.Hour)
		}
	}
	for _, p := range r.Pods {
		known := slices.ContainsFunc(st.Nominated, func(n workload.Pod) bool { return n.ID == p.ID })
		if !known && chance(t, 2, 3) {
			p.Node, p.Nodes, p.Nowhere, p.Priority, p.Queue = node, nil, false, r.Priority, r.Queue
			if r.Group != "" {
				p.Group = r.Group
			}
			st.Nominated = append(st.Nominated, p)
		}
	}
}

// pendingGroup is the group of requests for groups; pendingRoot may be around it, and then around pendingBeside, too.
const (
	pendingGroup  = "pending"
	pendingBeside = "beside"
	pendingRoot   = "tree"
)

// pinned draws a guard that keeps some for ever, or until a time.
func pinned(t *rapid.T) Pinned {
	g := Pinned{Label: "app", Value: rapid.SampledFrom(apps).Draw(t, "pinned")}
	if chance(t, 2, 3) {
		g.Until = Now.Add(time.Duration(pick(t, "pinned for", 1, 2, 0, -1)) * time.Hour)
	}
	return g
}

// stretch makes an elastic group of the pods without one, and some others.
func stretch(t *rapid.T, st *placement.State) {
	if len(st.Groups) == 0 {
		return
	}
	g := &st.Groups[0]
	if g.ID != pendingGroup {
		g.Parent = ""
	}
	g.DisruptionMode, g.MinCount, g.Priority = workload.DisruptionModePod, pick(t, "least of pods", 1, 2, 3), pick[int32](t, "elastic priority", 0, 1, -7)
	for i := range st.Pods {
		if st.Pods[i].Group == "" || chance(t, 1, 4) {
			st.Pods[i].Group = g.ID
		}
	}
}

// protect draws minimum runtimes, of groups and pods.
func protect(t *rapid.T, st *placement.State) {
	queued, contrary := chance(t, 2, 3), chance(t, 1, 3) // contrary: to be reclaimed, and not to be preempted
	minimum := func() quota.OptionalDuration {
		switch {
		case contrary:
			return quota.Some(4 * time.Hour)
		case chance(t, 1, 2):
			return quota.OptionalDuration{}
		}
		return quota.Some(pick[time.Duration](t, "minimum", 2, 1, 3, 4, 0) * time.Hour)
	}
	queue := func(of ...string) string {
		if !queued {
			return ""
		}
		return pick(t, "queue", of...)
	}
	reclaim := func(preempt quota.OptionalDuration) quota.OptionalDuration {
		if contrary && preempt.Or(0) > 0 {
			return quota.Some(time.Duration(0))
		}
		return minimum()
	}
	for i := range st.Groups {
		g := &st.Groups[i]
		if g.MinRuntime, g.Queue = minimum(), queue("a", "a", "b", ""); g.ID == pendingGroup {
			g.Queue = queue("b", "b", "a", "")
		}
		g.ReclaimMinRuntime = reclaim(g.MinRuntime)
	}
	for i := range st.Pods {
		p := &st.Pods[i]
		p.MinRuntime, p.ReclaimMinRuntime, p.Queue = quota.OptionalDuration{}, quota.OptionalDuration{}, queue("a", "a", "b", "")
		if chance(t, 1, 2) {
			p.MinRuntime = minimum()
			p.ReclaimMinRuntime = reclaim(p.MinRuntime)
		}
	}
}

// PlacementConfigs generates valid configurations, without set filters and without an order of
// importance of the caller's own.
func PlacementConfigs() *rapid.Generator[placement.Config] {
	return rapid.Custom(func(t *rapid.T) placement.Config {
		c := placement.Config{
			Mode:    pick(t, "mode", placement.ModeDesign, placement.ModeDesign, placement.ModeInPlace, placement.ModeInPlace),
			Order:   pick(t, "order", placement.FirstFit, placement.BestFit, placement.RoundRobin),
			Budgets: pick(t, "budgets", placement.Soft, placement.Hard),
		}
		if chance(t, 1, 4) {
			c.Filters = []placement.Filter{Apart{Label: "app", Zone: "a", Anywhere: chance(t, 1, 2)}}
		}
		if chance(t, 1, 4) {
			c.Guards = []placement.Guard{pinned(t)}
		}
		if chance(t, 1, 6) {
			c.MinRuntime = quota.Some(pick(t, "default minimum", time.Hour, 2*time.Hour, 0))
			c.ReclaimMinRuntime = quota.Some(pick(t, "default minimum against reclaims", time.Hour, 0, 3*time.Hour))
		}
		if chance(t, 1, 4) {
			c.Charge = pick(t, "charge", placement.ChargeToAll, placement.ChargeToFirstViolated)
		}
		return c
	})
}
