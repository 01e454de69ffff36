package twin

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// unit is what is evicted together.
type unit struct {
	placement.Unit
	violations int
}

// units lists the units that may yield, the most important first.
func (q *nodes) units(present there) []unit {
	list := slices.DeleteFunc(q.all(present), func(u unit) bool {
		rule, _, _ := q.kept(u)
		return rule != 0 || u.Priority >= q.r.Priority
	})
	slices.SortFunc(list, q.moreImportant)
	return list
}

// all lists the units of the pods that are there.
func (q *nodes) all(present there) []unit {
	var list []unit
	for _, p := range q.st.Pods {
		if !present[p.ID] || p.Terminating && q.config.Mode == placement.ModeDesign {
			continue // it was told to stop already and is no victim
		}
		group := slices.IndexFunc(q.st.Groups, func(g workload.PodGroup) bool { return g.ID == p.Group })
		atomic := group >= 0 && q.st.Groups[group].DisruptionMode == workload.DisruptionModePodGroup
		if at := slices.IndexFunc(list, func(u unit) bool { return atomic && u.Group == p.Group }); at >= 0 {
			list[at].Pods = append(list[at].Pods, p)
			continue
		}
		u := unit{Unit: placement.Unit{Priority: q.priorityOf(p), Pods: []workload.Pod{p}}}
		if atomic {
			u.Group = p.Group
		}
		list = append(list, u)
	}
	for _, u := range list {
		slices.SortFunc(u.Pods, func(a, b workload.Pod) int { return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID)) })
	}
	return list
}

// earliest returns the earliest start, in nanoseconds; an unknown start is later than all.
func (u unit) earliest() int64 {
	var first int64 = 1<<63 - 1
	for _, p := range u.Pods {
		if !p.Started.IsZero() {
			first = min(first, p.Started.UnixNano())
		}
	}
	return first
}

func (q *nodes) moreImportant(a, b unit) int {
	surplus := func(u unit) int {
		return len(slices.DeleteFunc(slices.Clone(u.Pods), func(p workload.Pod) bool { return !q.isSurplus(p) }))
	}
	plain := func(u unit) int {
		if slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return p.Group != "" }) {
			return 0
		}
		return 1
	}
	return cmp.Or(
		-cmp.Compare(a.Priority, b.Priority),
		cmp.Compare(plain(a), plain(b)),
		-cmp.Compare(len(a.Pods), len(b.Pods)),
		cmp.Compare(a.earliest(), b.earliest()),
		cmp.Compare(surplus(a), surplus(b)),
		cmp.Compare(a.Pods[0].UID, b.Pods[0].UID),
		cmp.Compare(a.Pods[0].ID, b.Pods[0].ID),
	)
}

// isSurplus reports whether a pod is over the minimum of its group. The minimum are the first running pods by
// ID; a group without one, or which yields whole, has no surplus.
func (q *nodes) isSurplus(p workload.Pod) bool {
	at := slices.IndexFunc(q.st.Groups, func(g workload.PodGroup) bool { return g.ID == p.Group })
	if at < 0 || q.st.Groups[at].MinCount == 0 || q.st.Groups[at].DisruptionMode == workload.DisruptionModePodGroup {
		return false
	}
	var running []string
	for _, o := range q.st.Pods {
		if o.Group == p.Group && !o.Terminating {
			running = append(running, o.ID)
		}
	}
	slices.Sort(running)
	return slices.Index(running, p.ID) >= q.st.Groups[at].MinCount
}

// covering lists the budgets that a pod is charged to, by namespace and name.
func (q *nodes) covering(p workload.Pod) []int {
	var list []int
	for i, b := range q.st.Budgets {
		if coveredBy(p, b) && !slices.Contains(b.Disrupted, p.ID) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(i, j int) int { return cmp.Compare(q.st.Budgets[i].Name, q.st.Budgets[j].Name) })
	return list
}

// coveredBy reports whether a budget covers a pod.
func coveredBy(p workload.Pod, b workload.DisruptionBudget) bool {
	if b.LabelledOnly && (p.Labels == nil || reflect.DeepEqual(b.Selector, &workload.LabelSelector{})) {
		return false
	}
	return b.Namespace == p.Namespace && selects(b.Selector, p.Labels)
}

// selects is how Kubernetes defines a label selector; nil selects nothing.
func selects(s *workload.LabelSelector, labels map[string]string) bool {
	if s == nil {
		return false
	}
	for key, want := range s.MatchLabels {
		if value, has := labels[key]; !has || value != want {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		value, has := labels[e.Key]
		listed := has && slices.Contains(e.Values, value)
		matches := map[workload.LabelOperator]bool{workload.In: listed, workload.NotIn: !listed, workload.Exists: has, workload.DoesNotExist: !has}
		if !matches[e.Operator] {
			return false
		}
	}
	return true
}

func (q *nodes) allowances() []int64 {
	var list []int64
	for _, b := range q.st.Budgets {
		list = append(list, b.Allowed)
	}
	return list
}

// WithinBudgets reports whether the budgets allow that all these pods are evicted.
func WithinBudgets(st placement.State, pods []workload.Pod) bool {
	q := &nodes{st: st}
	left := q.allowances()
	for _, p := range pods {
		for _, b := range q.covering(p) {
			left[b]--
		}
	}
	return !slices.ContainsFunc(left, func(n int64) bool { return n < 0 })
}
