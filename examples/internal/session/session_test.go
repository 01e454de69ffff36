package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

var at = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// group has so many pods of one GPU, of which the first run.
func group(id, queue string, minimum, pods, running, age int) bridge.Group {
	g := bridge.Group{Minimum: minimum, Workload: workload.Workload{ID: id, Queue: queue, Priority: 50, Created: at.Add(-time.Duration(age) * time.Minute)}}
	for i := range pods {
		p := workload.Pod{ID: fmt.Sprint(id, "-", i), Requests: workload.Resources{"GPU": 1}}
		if i < running {
			p.Node = "n"
		}
		g.Pods = append(g.Pods, p)
	}
	return g
}

// of begins with queues a and b of a quota of 2 each, and a node of 4 GPUs.
func of(t *testing.T, groups ...bridge.Group) *Session {
	t.Helper()
	return onNodes(t, []workload.Node{{Name: "n", Capacity: workload.Resources{"GPU": 4}}}, groups...)
}

func onNodes(t *testing.T, nodes []workload.Node, groups ...bridge.Group) *Session {
	t.Helper()
	return with(t, false, nodes, groups...)
}

// with begins with KAI's own search, or without.
func with(t *testing.T, kaiSearch bool, nodes []workload.Node, groups ...bridge.Group) *Session {
	t.Helper()
	tree := fairshare.Tree{Resources: []fairshare.Resource{{Name: "GPU"}}}
	for _, n := range nodes {
		tree.Resources[0].Total += n.Capacity["GPU"]
	}
	for _, q := range []string{"a", "b"} {
		claim := fairshare.Claim{Resource: "GPU", Quota: 2, OverQuotaWeight: 1}
		for _, g := range groups {
			if g.Workload.Queue == q {
				for _, p := range g.Pods {
					claim.Request += p.Requests["GPU"]
				}
			}
		}
		tree.Queues = append(tree.Queues, fairshare.Queue{Name: q, Claims: []fairshare.Claim{claim}})
	}
	st := preemption.State{FairShares: tree}
	st.Cohorts, st.Queues = preemption.QueuesOf(tree, "all", "nodes")
	s, err := New(Cluster{State: st, Config: preemption.Config{Sharing: preemption.KAI}, Groups: groups, Flavor: "nodes", Now: at,
		Nodes: placement.State{Nodes: nodes}, KAISearch: kaiSearch})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// played plays a session, and says what each step did.
func played(t *testing.T, s *Session, tell ...func(*Step)) string {
	t.Helper()
	var said []string
	for _, action := range Actions {
		if err := s.Run(action, func(step *Step) {
			line := action + " " + step.Group
			for _, p := range step.Pods {
				line += " +" + p.ID[strings.LastIndex(p.ID, "-")+1:]
			}
			for _, id := range step.Gone {
				line += " -" + id
			}
			said = append(said, line)
			for _, t := range tell {
				t(step)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(said, "; ")
}

// A group that was served waits for its next pods, behind those of which the minimum does not run yet.
func TestAllocate(t *testing.T) {
	s := of(t, group("elastic", "a", 1, 3, 0, 9), group("gang", "a", 2, 2, 0, 5))
	if got := played(t, s); got != "allocate elastic +0; allocate gang +0 +1; allocate elastic +1" {
		t.Error(got)
	}
}

// What was told to leave does not start again in the same session; in the next one it waits, and what waited for its room starts.
func TestEnd(t *testing.T) {
	s := of(t, group("elastic", "b", 1, 4, 4, 9), group("gang", "a", 2, 2, 0, 5))
	if got := played(t, s); got != "reclaim gang +0 +1 -elastic-3 -elastic-2" {
		t.Error(got)
	}
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	rest := func() (out []string) {
		_, err := s.Rest(func(group string, r preemption.Request, d preemption.Decision) {
			out = append(out, group+" as "+r.Workload.ID+" "+d.Outcome.String())
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := played(t, s); got != "allocate gang +0 +1" || !slices.Equal(rest(), []string{"elastic as elastic:more Impossible"}) {
		t.Errorf("%s, %q", got, rest())
	}
	if w, _ := s.Snapshot().Find("elastic"); w.PodSets[0].Count != 2 {
		t.Errorf("%+v", w)
	}
}

// A group that lost pods and has not enough of them is not served in the same session; one within its delay takes nothing from others.
func TestNotServed(t *testing.T) {
	late := group("late", "a", 1, 1, 0, 5)
	late.PreemptsFrom = at.Add(1)
	if got := played(t, of(t, group("b", "b", 4, 4, 4, 9), late)); got != "" {
		t.Error(got)
	}
	s := of(t, group("large", "b", 3, 6, 4, 9), group("gang", "a", 2, 2, 0, 5))
	if got := played(t, s); got != "reclaim gang +0 +1 -large-3 -large-2 -large-1 -large-0" {
		t.Error(got)
	}
}

// The order of a queue: higher priority, below the minimum, the older, the smaller name.
func TestOrder(t *testing.T) {
	high := group("high", "a", 1, 1, 0, 1)
	high.Workload.Priority = 60
	s := of(t, group("z", "a", 1, 1, 0, 5), group("more", "a", 1, 2, 1, 9), group("y", "a", 1, 1, 0, 5), high, group("old", "a", 1, 1, 0, 7))
	if got, err := s.Order(); err != nil || !slices.Equal(got, []string{"high", "old", "y", "z", "more"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// Pods that can be preempted move so that others have room, each to another node; those that cannot stay, and nobody moves where that would
// not be enough.
func TestConsolidate(t *testing.T) {
	begin := func(fixed bool, asks int64) *Session {
		one, two, large := group("one", "a", 1, 1, 1, 9), group("two", "a", 1, 1, 1, 8), group("large", "b", 1, 1, 0, 5)
		two.Pods[0].Node, one.Workload.NeverYields, two.Workload.NeverYields = "m", fixed, fixed
		large.Pods[0].Requests = workload.Resources{"GPU": asks}
		s := of(t, one, two, large)
		one.Pods[0].Group, two.Pods[0].Group = "one", "two"
		s.rooms = rooms.All(placement.State{Pods: []workload.Pod{one.Pods[0], two.Pods[0]}, Nodes: []workload.Node{
			{Name: "m", Capacity: workload.Resources{"GPU": 2}}, {Name: "n", Capacity: workload.Resources{"GPU": 2}}}})
		return s
	}
	if got := played(t, begin(false, 2)); got != "consolidation large +0" {
		t.Error(got)
	}
	s := begin(false, 2)
	if err := s.Run(Consolidation, func(step *Step) {
		moves := step.Moving.Decision.Moves
		if len(moves) != 1 || len(moves[0].Pods) != 1 || moves[0].Pods[0].From != step.Pods[0].Node || step.Gone != nil {
			t.Errorf("%+v", step)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.End(); err != nil || s.jobs[0].running+s.jobs[1].running != 1 || s.jobs[2].running != 0 {
		t.Errorf("%v: what moved and what waits for it did not wait again", err)
	}
	for _, s := range []*Session{begin(true, 2), begin(false, 3)} {
		if err := s.Run(Consolidation, func(step *Step) { t.Errorf("%+v", step.Moving) }); err != nil {
			t.Error(err)
		}
	}
}

// Of the victims of a reclaim those move that have a place elsewhere, a gang as a whole.
func TestVictimsMove(t *testing.T) {
	for name, c := range map[string]struct {
		minimum int   // of what runs on n
		free    int64 // on the other node
		want    string
		moves   int
	}{
		"one has a place":     {1, 1, "reclaim gang +0 +1 -many-3", 1},
		"all have places":     {1, 2, "reclaim gang +0 +1", 2},
		"none has":            {1, 0, "reclaim gang +0 +1 -many-3 -many-2", 0},
		"the gang has none":   {4, 1, "reclaim gang +0 +1 -many-3 -many-2 -many-1 -many-0", 0},
		"of the gang all can": {4, 4, "reclaim gang +0 +1", 2},
	} {
		gang := group("gang", "a", 2, 2, 0, 5)
		gang.Workload.NeverYields = true // consolidation moves nobody for it
		for i := range gang.Pods {
			gang.Pods[i].Nodes = []string{"n"}
		}
		s := onNodes(t, []workload.Node{{Name: "m", Capacity: workload.Resources{"GPU": c.free}}, {Name: "n", Capacity: workload.Resources{"GPU": 4}}},
			group("many", "b", c.minimum, 4, 4, 9), gang)
		moved := 0
		got := played(t, s, func(step *Step) { moved += len(step.Moves()) })
		if got != c.want || moved != c.moves {
			t.Errorf("%s: %s, %d move", name, got, moved)
		}
		if err := s.End(); err != nil || s.jobs[1].running != 0 {
			t.Errorf("%s: %v, %d of the gang run before what moves has moved", name, err, s.jobs[1].running)
		}
	}
}

// KAI's own search takes all victims on the nodes that it looks at, serves each of their groups once, and puts nothing back.
func TestKAISearch(t *testing.T) {
	for name, c := range map[string]struct {
		m, n      int64    // GPUs of the nodes
		u, v      []string // the nodes of two groups, of which u is older
		minima    [2]int
		cede, kai string
	}{
		"on one node": {2, 4, []string{"m", "m"}, []string{"n", "n", "n"}, [2]int{1, 3},
			"reclaim asks +0 -u-1", "reclaim asks +0 -v-0 -v-1 -v-2"}, // v is newer, and on its node two GPUs are enough
		"a gang where less is enough": {1, 3, []string{"n", "n"}, []string{"m"}, [2]int{2, 1},
			"reclaim asks +0 -v-0", "reclaim asks +0 -u-0 -u-1"}, // a pod of u could move to m
	} {
		for own, want := range map[bool]string{false: c.cede, true: c.kai} {
			u, v, asks := group("u", "b", c.minima[0], len(c.u), len(c.u), 90), group("v", "b", c.minima[1], len(c.v), len(c.v), 89), group("asks", "a", 1, 1, 0, 5)
			for i, node := range c.u {
				u.Pods[i].Node = node
			}
			for i, node := range c.v {
				v.Pods[i].Node = node
			}
			asks.Pods[0].Requests = workload.Resources{"GPU": 2}
			nodes := []workload.Node{{Name: "m", Capacity: workload.Resources{"GPU": c.m}}, {Name: "n", Capacity: workload.Resources{"GPU": c.n}}}
			s := with(t, own, nodes, u, v, asks)
			if got := played(t, s); got != want || s.Cut() {
				t.Errorf("%s, own search %t: %s", name, own, got)
			}
		}
	}
}

// In the next session what moved or was told to leave waits, and what KAI's search counted in the session before is forgotten.
func TestKAISearchGoesOn(t *testing.T) {
	s := with(t, true, []workload.Node{{Name: "n", Capacity: workload.Resources{"GPU": 4}}}, group("elastic", "b", 1, 4, 4, 9), group("gang", "a", 2, 2, 0, 5))
	for i, want := range []string{"reclaim gang +0 +1 -elastic-2 -elastic-3", "allocate gang +0 +1", ""} {
		if got := played(t, s); got != want {
			t.Errorf("session %d: %s", i+1, got)
		}
		if err := s.End(); err != nil {
			t.Fatal(err)
		}
	}
}
