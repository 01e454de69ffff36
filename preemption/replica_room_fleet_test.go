package preemption_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// fleet is a room that can free replicas: nodes by their free devices, pods on them, and a request for
// pods of one size. That is little enough to be exact: each node takes as many as it has room for.
type fleet struct {
	free    map[string]int64 // by node
	pods    []fleetPod
	size    int64 // of a pod of the request
	asks    int64
	away    map[string]bool
	removed map[[2]string]int64
}

type fleetPod struct {
	workload, podSet, name, node string
	size                         int64
	terminating                  bool
}

func (f *fleet) Remove(id string)  { f.away[id] = true }
func (f *fleet) Restore(id string) { delete(f.away, id) }
func (f *fleet) SetRemoved(id, podSet string, replicas int64) {
	f.removed[[2]string{id, podSet}] = replicas
}

func (f *fleet) anyRemoved() bool {
	for _, n := range f.removed {
		if n != 0 {
			return true
		}
	}
	return false
}

func (f *fleet) Fits() bool {
	free := maps.Clone(f.free)
	for _, p := range f.gone() {
		free[p.node] += p.size
	}
	places := int64(0)
	for _, n := range free {
		places += max(0, n) / f.size
	}
	return places >= f.asks
}

// gone lists the pods that are away, with their workload or alone: of a pod set those that terminate, then
// the last by name.
func (f *fleet) gone() (list []fleetPod) {
	seen := map[[2]string]int64{}
	for _, p := range f.ordered() {
		of := [2]string{p.workload, p.podSet}
		if seen[of]++; f.away[p.workload] || seen[of] <= f.removed[of] {
			list = append(list, p)
		}
	}
	return list
}

func (f *fleet) ordered() []fleetPod {
	return slices.SortedFunc(slices.Values(f.pods), func(a, b fleetPod) int {
		if a.terminating != b.terminating {
			if a.terminating {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.name, a.name)
	})
}

// fleetOf gives each replica of the admitted workloads a node in turn, a device each. Those that leave are the
// last.
func fleetOf(st preemption.State, asks int64, capacity ...int64) *fleet {
	f := &fleet{free: map[string]int64{}, size: 1, asks: asks, away: map[string]bool{}, removed: map[[2]string]int64{}}
	for i, n := range capacity {
		f.free[fmt.Sprintf("n%d", i)] = n
	}
	next := 0
	for _, w := range st.Admitted {
		for _, set := range w.PodSets {
			for i := range set.Count {
				p := fleetPod{w.ID, set.Name, fmt.Sprintf("%s-%s-%02d", w.ID, set.Name, i), fmt.Sprintf("n%d", next%len(capacity)), 1, i >= set.Count-set.Terminating}
				f.pods, next = append(f.pods, p), next+1
				f.free[p.node]--
			}
		}
	}
	return f
}

// drawFleet draws nodes for a state, hardly any of them free, and pods of its pod sets on them: of each at
// most four, though there may be fewer replicas or more.
func drawFleet(t *rapid.T, st preemption.State) *fleet {
	f := fleetOf(preemption.State{}, rapid.Int64Range(1, 4).Draw(t, "asks"), rapid.SliceOfN(rapid.Int64Range(0, 1), 1, 4).Draw(t, "free")...)
	f.size = rapid.Int64Range(1, 2).Draw(t, "size asked")
	nodes := rapid.SampledFrom(slices.Sorted(maps.Keys(f.free)))
	for _, w := range st.Admitted {
		for _, set := range w.PodSets {
			for i := range rapid.Int64Range(0, 4).Draw(t, "pods") {
				f.pods = append(f.pods, fleetPod{w.ID, set.Name, fmt.Sprintf("%s-%s-%d", w.ID, set.Name, i), nodes.Draw(t, "node"),
					rapid.Int64Range(0, 2).Draw(t, "size"), rapid.IntRange(0, 3).Draw(t, "terminating") == 0})
			}
		}
	}
	return f
}

// after returns the fleet of a later state, in which what was told to leave terminates.
func (f *fleet) after(st preemption.State) *fleet {
	return f.with(func(p fleetPod, leaves bool) (fleetPod, bool) {
		p.terminating = p.terminating || leaves
		return p, true
	}, st)
}

// without returns the fleet without what a state was told to leave.
func (f *fleet) without(st preemption.State) *fleet {
	return f.with(func(p fleetPod, leaves bool) (fleetPod, bool) { return p, !leaves }, st)
}

func (f *fleet) with(change func(p fleetPod, leaves bool) (now fleetPod, stays bool), st preemption.State) *fleet {
	next := &fleet{free: maps.Clone(f.free), size: f.size, asks: f.asks, away: map[string]bool{}, removed: map[[2]string]int64{}}
	seen := map[[2]string]int64{}
	for _, p := range f.ordered() {
		w := workloadOf(st, p.workload)
		set := w.PodSets[slices.IndexFunc(w.PodSets, func(s workload.PodSet) bool { return s.Name == p.podSet })]
		of := [2]string{p.workload, p.podSet}
		seen[of]++
		now, stays := change(p, w.Evicted || seen[of] <= set.Terminating)
		if stays {
			next.pods = append(next.pods, now)
		} else {
			next.free[p.node] += p.size
		}
	}
	return next
}
