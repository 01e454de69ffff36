package audit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// apart keeps the pod "new" off all nodes while the pod "t0" is anywhere.
type apart struct{}

func (apart) Feasible(workload.Pod, workload.Node) bool { return true }
func (apart) Conflict(pod, other workload.Pod) bool     { return pod.ID == "new" && other.ID == "t0" }
func (apart) Reach() placement.Reach                    { return placement.ReachCluster }

// apartAsSet is the same as a set filter.
type apartAsSet struct{ apart }

func (apartAsSet) Begin(s *placement.Snapshot, _ placement.Request) placement.Trial {
	_, runs := s.Find("t0")
	return &trial{runs}
}

type trial struct{ kept bool }

func (t *trial) Add(p workload.Pod)                      { t.kept = t.kept || p.ID == "t0" }
func (t *trial) Remove(p workload.Pod)                   { t.kept = t.kept && p.ID != "t0" }
func (t *trial) Allows(workload.Pod, workload.Node) bool { return !t.kept }

// As built, where what terminates counts as running, "a victim could stay only if it could whichever of them are gone". Two victims on node
// a use 4 and 1 GPUs; others terminate.
func TestWhatTerminatesMayBeGone(t *testing.T) {
	on := func(node string, gpus ...int64) (list []workload.Pod) {
		for i, n := range gpus {
			p := pod(fmt.Sprint("t", i), node, 1, n)
			p.Terminating, p.TerminatingSince = true, noon.Add(-time.Minute)
			list = append(list, p)
		}
		return list
	}
	six, seven := []int64{2, 2, 2, 2, 2, 2}, []int64{4, 1, 1, 1, 1, 1, 1}
	filters := placement.Request{Filters: []placement.Filter{apart{}}}
	sets := placement.Request{SetFilters: []placement.SetFilter{apartAsSet{}}}
	for name, c := range map[string]struct {
		terminating []workload.Pod
		asks        int64
		filters     placement.Request
		free        bool // the victims may make room anywhere
		stays       bool // the second victim, that is
	}{
		"both are needed while it is there":                {terminating: on("a", 2), asks: 5},
		"both are needed once it is gone":                  {terminating: on("a", 2), asks: 7},
		"both are needed once one is gone":                 {terminating: on("a", 1, 2), asks: 7},
		"one could stay while it is there":                 {terminating: on("a", 2), asks: 4, stays: true},
		"one could stay once it is gone":                   {terminating: on("a", 2), asks: 6, stays: true},
		"one could stay once the second is gone":           {terminating: on("a", 1, 4), asks: 8, stays: true},
		"six on the node are tried":                        {terminating: on("a", six...), asks: 8, stays: true},
		"seven on the node stay, and both are needed":      {terminating: on("a", seven...), asks: 8},
		"seven on the node stay, and one could":            {terminating: on("a", seven...), asks: 4, stays: true},
		"seven elsewhere do not count":                     {terminating: append(on("a", 2), rename(on("b", seven...))...), asks: 6, stays: true},
		"seven elsewhere count where it may be placed":     {terminating: append(on("a", 2), rename(on("b", seven...))...), asks: 6, free: true},
		"one that keeps it off all nodes is gone":          {terminating: on("b", 2), asks: 4, filters: filters, stays: true},
		"wherever there is room, one could stay":           {terminating: on("a", 2), asks: 6, free: true, stays: true},
		"wherever there is room, both are needed":          {terminating: on("a", 2), asks: 7, free: true},
		"one that keeps it off as a set is gone":           {terminating: on("b", 2), asks: 4, filters: sets, stays: true},
		"one elsewhere that keeps it off, and both needed": {terminating: on("b", 2), asks: 5, filters: filters},
	} {
		t.Run(name, func(t *testing.T) {
			st := placement.State{Pods: append([]workload.Pod{pod("v1", "a", 1, 4), pod("v2", "a", 1, 1)}, c.terminating...)}
			for _, node := range []string{"a", "b"} {
				used := int64(0)
				for _, p := range st.Pods {
					if p.Node == node {
						used += p.Requests["gpu"]
					}
				}
				st.Nodes = append(st.Nodes, workload.Node{Name: node, Capacity: workload.Resources{"gpu": used}})
			}
			s, err := placement.NewSnapshot(st)
			if err != nil {
				t.Fatal(err)
			}
			p := pod("new", "", 50, c.asks)
			p.Started = time.Time{}
			e := audit.PodEviction{Request: placement.Request{Priority: 50, Pods: []workload.Pod{p}, Now: noon, Filters: c.filters.Filters, SetFilters: c.filters.SetFilters}, Victims: []string{"v1", "v2"}}
			if !c.free {
				e.Placed = []placement.Nomination{{Pod: "new", Node: "a"}}
			}
			f, err := audit.JudgePods(s, placement.Config{Mode: placement.ModeInPlace}, e)
			want := audit.Right
			if c.stays {
				want = audit.TooMany
			}
			if err != nil || f.Verdict != want || f.Victims[0].CouldStay || f.Victims[1].CouldStay != c.stays {
				t.Errorf("%v: %+v, %v", f.Verdict, f.Victims, err)
			}
		})
	}
}

// rename gives pods names of their own.
func rename(list []workload.Pod) []workload.Pod {
	list = slices.Clone(list)
	for i := range list {
		list[i].ID = "elsewhere-" + list[i].ID
	}
	return list
}

// Where a group was placed beyond its minimum, all that were placed count, also one that waits for what terminates on b.
func TestAllThatWerePlacedCount(t *testing.T) {
	st := fleet()
	st.Pods[4].Terminating = true
	st.Groups = append(st.Groups, workload.PodGroup{ID: "new", Priority: 50})
	pods := []workload.Pod{pod("new-0", "", 50, 2), pod("new-1", "", 50, 2), pod("new-2", "", 50, 4)}
	for i, node := range []string{"a", "a", "b"} {
		pods[i].Started, pods[i].Group, pods[i].Nodes = time.Time{}, "new", []string{node}
	}
	r := placement.Request{Group: "new", Priority: 50, MinCount: 2, Pods: pods, Now: noon}
	want := map[int]audit.Verdict{2: audit.Right, 3: audit.Right, 1: audit.TooMany}
	for n, verdict := range want {
		e := audit.PodEviction{Request: r, Victims: []string{"a1", "a2"}}
		for _, p := range pods[:n] {
			e.Placed = append(e.Placed, placement.Nomination{Pod: p.ID, Node: p.Nodes[0]})
		}
		judge(t, st, placement.Config{}, e, verdict)
	}
}

// As built the pods of a Basic group are placed together, without a minimum. By the design one is placed alone.
func TestPodsOfABasicGroupCountTogether(t *testing.T) {
	st := fleet()
	st.Groups = append(st.Groups, workload.PodGroup{ID: "new", Priority: 50, Basic: true})
	e := audit.PodEviction{Request: placement.Request{Group: "new", Priority: 50, Now: noon}, Victims: []string{"a1", "a2"}}
	for _, id := range []string{"new-0", "new-1"} {
		p := pod(id, "", 50, 2)
		p.Started, p.Group = time.Time{}, "new"
		e.Request.Pods, e.Placed = append(e.Request.Pods, p), append(e.Placed, placement.Nomination{Pod: id, Node: "a"})
	}
	judge(t, st, placement.Config{Mode: placement.ModeInPlace}, e, audit.Right)
	e.Request.Pods, e.Placed, e.Victims = e.Request.Pods[:1], e.Placed[:1], []string{"a1"}
	judge(t, st, placement.Config{}, e, audit.Right)
}

func judge(t *testing.T, st placement.State, c placement.Config, e audit.PodEviction, want audit.Verdict) {
	t.Helper()
	s, err := placement.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := audit.JudgePods(s, c, e); err != nil || f.Verdict != want {
		t.Errorf("%d placed: %v, want %v: %+v, %v", len(e.Placed), f.Verdict, want, f.Victims, err)
	}
}
