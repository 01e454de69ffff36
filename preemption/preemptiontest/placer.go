package preemptiontest

import (
	"reflect"
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// LastFit is a placer for tests and an example: each pod goes to the last node, in the order
// of preference, that has what the pod requests, beside the pods placed before it.
type LastFit struct{}

// Begin implements [placement.Placer]. It counts the pods once; after that only changes.
func (LastFit) Begin(snapshot *placement.Snapshot, _ placement.Request) placement.PlacerTrial {
	t := lastFitTrial{}
	for n := range snapshot.Nodes() {
		t[n.Name] = n.Capacity
	}
	for p := range snapshot.Pods() {
		t.Add(p)
	}
	return t
}

// lastFitTrial holds what is free, by node. A node that limits the number of pods lists it.
type lastFitTrial map[string]workload.Resources

func (t lastFitTrial) Add(pod workload.Pod)    { t.count(pod, -1) }
func (t lastFitTrial) Remove(pod workload.Pod) { t.count(pod, 1) }

func (t lastFitTrial) count(pod workload.Pod, times int64) {
	free := t[pod.Node]
	for resource := range free {
		free[resource] += times * takes(pod, resource)
	}
}

func takes(pod workload.Pod, resource string) int64 {
	if resource == workload.PodsResource {
		return 1
	}
	return pod.Requests[resource]
}

func (t lastFitTrial) Allows(workload.Pod, workload.Node) bool { return true }

func (t lastFitTrial) Place(pods []workload.Pod, nodes []string) []string {
	where := make([]string, len(pods))
	for i, p := range pods {
		for _, p.Node = range slices.Backward(nodes) {
			if t.hasRoom(p) {
				where[i] = p.Node
				t.Add(p)
				break
			}
		}
	}
	for i, p := range pods { // it changes nothing
		if p.Node = where[i]; p.Node != "" {
			t.Remove(p)
		}
	}
	return where
}

func (t lastFitTrial) hasRoom(pod workload.Pod) bool {
	free := t[pod.Node]
	for resource, amount := range pod.Requests {
		if amount > free[resource] {
			return false
		}
	}
	left, limited := free[workload.PodsResource]
	return !limited || left > 0
}

// CheckPlacer checks the laws of [placement.Placer] and [placement.PlacerTrial] on generated
// states: a trial in which pods come and go answers as one that was begun with the pods that
// are there, also when it is asked again; the trial allows what Place returns, pod after pod;
// it does not change its arguments. Call it from a property.
func CheckPlacer(t *rapid.T, f placement.Placer) {
	record := PlacementRecords().Draw(t, "record")
	st, r := record.State, *record.Request
	begin := func(pods []workload.Pod) placement.PlacerTrial {
		return f.Begin(snapshotOf(t, &st, pods), r)
	}
	trial := begin(st.Pods)
	there := comeAndGo(t, &st, nil, trial)
	answersAs(t, &st, trial, func() placement.Trial { return begin(there) })
	var names []string
	for _, n := range st.Nodes {
		names = append(names, n.Name)
	}
	pods, nodes := clones(r.Pods), slices.Clone(names)
	want := begin(there).Place(pods, nodes)
	if first, again := trial.Place(pods, nodes), trial.Place(pods, nodes); !slices.Equal(first, want) || !slices.Equal(again, want) {
		t.Fatalf("after steps the pods are placed on %q, then on %q; begun with the same pods: on %q", first, again, want)
	}
	if !reflect.DeepEqual(pods, r.Pods) || !slices.Equal(nodes, names) {
		t.Fatalf("the trial changes its arguments")
	}
	for i := range min(len(want), len(pods)) {
		at := slices.Index(names, want[i])
		if at < 0 {
			continue
		}
		if pods[i].Node = want[i]; !trial.Allows(pods[i], st.Nodes[at]) {
			t.Fatalf("the trial places pod %q on %q, and does not allow it there", pods[i].ID, want[i])
		}
		trial.Add(pods[i])
	}
}

func clones(pods []workload.Pod) (list []workload.Pod) {
	for _, p := range pods {
		list = append(list, p.Clone())
	}
	return list
}
