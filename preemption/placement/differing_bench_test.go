package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// differing is a fleet in which no two pods have the same labels or requests. Each pod is of one of some applications.
func differing(nodes, perNode, applications int) placement.State {
	st := fleet{nodes: nodes, perNode: perNode, levels: 10}.state()
	for i := range st.Pods {
		p := &st.Pods[i]
		p.Labels = map[string]string{"app": fmt.Sprintf("app-%d", mix(i)%applications), "pod": p.ID, "tier": "web"}
		p.Requests = workload.Resources{"cpu": 1000, "gpu": 1, "memory": int64(1<<30 + i)}
	}
	for n := range st.Nodes {
		capacity := workload.Resources{"memory": int64(perNode+1) << 30}
		for name, amount := range st.Nodes[n].Capacity {
			capacity[name] = amount
		}
		st.Nodes[n].Capacity = capacity
	}
	return st
}

// budgetFor returns a budget that allows nothing for each of some applications.
func budgetFor(applications int) (list []workload.DisruptionBudget) {
	for a := range applications {
		selector := &workload.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("app-%d", a), "tier": "web"}}
		list = append(list, workload.DisruptionBudget{Namespace: "ns", Name: fmt.Sprintf("budget-%d", a), Selector: selector})
	}
	return list
}

// BenchmarkManyBudgets makes a snapshot of pods that all differ under many budgets of one namespace, runs a pod there
// and removes it again, sets all budgets, and changes what all budgets allow.
func BenchmarkManyBudgets(b *testing.B) {
	for _, budgets := range []int{0, 100, 1600} {
		st := differing(2000, 10, 1600)
		st.Budgets = budgetFor(budgets)
		s := snapshotOf(b, st)
		name := fmt.Sprintf("pods=%d/budgets=%d", len(st.Pods), budgets)
		b.Run("new/"+name, func(b *testing.B) {
			for b.Loop() {
				snapshotOf(b, st)
			}
		})
		p := st.Pods[0].Clone()
		p.ID = "ns/one-more"
		b.Run("edit/"+name, func(b *testing.B) {
			for b.Loop() {
				edit(b, s, placement.Run(p), placement.Remove(p.ID))
			}
		})
		bare := st
		bare.Budgets = nil
		from := snapshotOf(b, bare)
		b.Run("set/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := from.Sync(st); err != nil {
					b.Fatal(err)
				}
			}
		})
		next := st
		next.Budgets = slices.Clone(st.Budgets)
		for i := range next.Budgets {
			next.Budgets[i].Allowed++
		}
		b.Run("allow/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.Sync(next); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSyncDiffering is BenchmarkSync for pods that all differ, in the same memory and in memory of their own.
func BenchmarkSyncDiffering(b *testing.B) {
	st := differing(20_000, 10, 1600)
	s := snapshotOf(b, st)
	changed := st
	changed.Pods = slices.Clone(st.Pods)
	for i := range 500 {
		changed.Pods[i*397].Priority++
	}
	apart := st
	apart.Pods = make([]workload.Pod, len(st.Pods))
	for i := range st.Pods {
		apart.Pods[i] = st.Pods[i].Clone()
	}
	for _, of := range []struct {
		name string
		st   placement.State
	}{{"unchanged", st}, {"unchanged/apart", apart}, {"changed=500", changed}} {
		b.Run(fmt.Sprintf("pods=%d/%s", len(st.Pods), of.name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.Sync(of.st); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
