package preemptiontest

import (
	"reflect"
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Spread is a set filter for tests and an example: pods with the same value of Label are
// spread over the domains of a topology. A pod may run on a node if its domain then has at
// most MaxSkew more of them than the domain with the fewest. Pods without the label may run
// anywhere, and pods with it only on nodes that have the topology key. (The rule of
// topologySpreadConstraints with whenUnsatisfiable DoNotSchedule, as kube-scheduler filters.)
// An empty TopologyKey is a limit for each node instead, as that of volumes: at most MaxSkew
// such pods run on one.
type Spread struct {
	TopologyKey, Label string
	MaxSkew            int
}

// Reach implements [placement.SetFilter].
func (s Spread) Reach() placement.Reach {
	if s.TopologyKey == "" {
		return placement.ReachNode
	}
	return placement.ReachCluster
}

// Begin implements [placement.SetFilter]. It counts the pods once; after that only changes.
func (s Spread) Begin(snapshot *placement.Snapshot, _ placement.Request) placement.Trial {
	t := &spreadTrial{rule: s, domains: map[string]string{}, counts: map[string]map[string]int{}}
	for n := range snapshot.Nodes() {
		if domain, ok := s.domainOf(n); ok {
			t.domains[n.Name], t.counts[domain] = domain, map[string]int{}
		}
	}
	for p := range snapshot.Pods() {
		t.Add(p)
	}
	return t
}

func (s Spread) domainOf(n workload.Node) (string, bool) {
	if s.TopologyKey == "" {
		return n.Name, true
	}
	domain, ok := n.Labels[s.TopologyKey]
	return domain, ok
}

type spreadTrial struct {
	rule    Spread
	domains map[string]string         // by node
	counts  map[string]map[string]int // by domain and value of the label
}

func (t *spreadTrial) Add(pod workload.Pod)    { t.count(pod, 1) }
func (t *spreadTrial) Remove(pod workload.Pod) { t.count(pod, -1) }

func (t *spreadTrial) count(pod workload.Pod, change int) {
	value, has := pod.Labels[t.rule.Label]
	if domain, ok := t.domains[pod.Node]; has && ok {
		t.counts[domain][value] += change
	}
}

func (t *spreadTrial) Allows(pod workload.Pod, node workload.Node) bool {
	value, has := pod.Labels[t.rule.Label]
	if !has {
		return true
	}
	domain, ok := t.rule.domainOf(node)
	if !ok {
		return false
	}
	here, least := t.counts[domain][value]+1, 0
	if t.rule.TopologyKey != "" {
		least = here - 1
		for _, counts := range t.counts {
			least = min(least, counts[value])
		}
	}
	return here-least <= t.rule.MaxSkew
}

// CheckSetFilter checks the laws of [placement.SetFilter] and [placement.Trial] on generated
// states: a trial in which pods come and go answers as one that was begun with the pods that
// are there; asking changes nothing; the trial does not change its arguments; with
// [placement.ReachNode] pods of other nodes change no answer. Call it from a property.
func CheckSetFilter(t *rapid.T, f placement.SetFilter) {
	record := PlacementRecords().Draw(t, "record")
	st, r := record.State, *record.Request
	begin := func(pods []workload.Pod) placement.Trial { return f.Begin(snapshotOf(t, &st, pods), r) }
	trial := begin(st.Pods)
	there := comeAndGo(t, &st, r.Pods, trial)
	asked := answersAs(t, &st, trial, func() placement.Trial { return begin(there) })
	for _, n := range st.Nodes {
		asked.Node = n.Name
		here := slices.DeleteFunc(slices.Clone(there), func(p workload.Pod) bool { return p.Node != n.Name })
		if f.Reach() == placement.ReachNode && begin(here).Allows(asked, n) != begin(there).Allows(asked, n) {
			t.Fatalf("on %q: the answer depends on pods of other nodes, against the reach", n.Name)
		}
	}
}

func snapshotOf(t *rapid.T, st *placement.State, pods []workload.Pod) *placement.Snapshot {
	s, err := placement.NewSnapshot(placement.State{Nodes: st.Nodes, Groups: st.Groups, Claims: st.Claims, Pods: pods})
	if err != nil {
		t.Fatalf("preemptiontest: generated a state that is not valid: %v", err)
	}
	return s
}

// comeAndGo removes running pods from a trial and adds them again, with other pods on any
// node between. It returns who is there at the end.
func comeAndGo(t *rapid.T, st *placement.State, others []workload.Pod, trial placement.Trial) (there []workload.Pod) {
	there = slices.Clone(st.Pods)
	var away []workload.Pod
	for _, p := range others {
		p.Node = rapid.SampledFrom(st.Nodes).Draw(t, "placed on").Name
		away = append(away, p)
	}
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		from, to, change := &there, &away, trial.Remove
		if len(*from) == 0 || len(*to) > 0 && rapid.Bool().Draw(t, "add") {
			from, to, change = to, from, trial.Add
		}
		if len(*from) == 0 {
			continue
		}
		at := rapid.IntRange(0, len(*from)-1).Draw(t, "who")
		p := (*from)[at]
		before := p.Clone()
		change(p)
		if !reflect.DeepEqual(p, before) {
			t.Fatalf("the trial changes pod %q", before.ID)
		}
		*from, *to = slices.Delete(slices.Clone(*from), at, at+1), append(slices.Clip(*to), p)
	}
	return there
}

// answersAs checks that a trial answers about a pod as a new one, on every node and again. It
// returns the pod.
func answersAs(t *rapid.T, st *placement.State, trial placement.Trial, begin func() placement.Trial) (asked workload.Pod) {
	asked = nodePod(t, "asked")
	for _, n := range st.Nodes {
		asked.Node = n.Name
		pod, node := asked.Clone(), n.Clone()
		want := begin().Allows(pod, node)
		if first, again := trial.Allows(pod, node), trial.Allows(pod, node); first != want || again != want {
			t.Fatalf("on %q after steps: %v, then %v; begun with the same pods: %v", n.Name, first, again, want)
		}
		if !reflect.DeepEqual(pod, asked) || !reflect.DeepEqual(node, n) {
			t.Fatalf("the trial changes its arguments")
		}
	}
	return asked
}
