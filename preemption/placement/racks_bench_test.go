package placement_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// rackFleets are 5,000 nodes with 85,000 pods in 250 racks.
var rackFleets = []fleet{
	{nodes: 5000, perNode: 17, levels: 10},
	{nodes: 5000, perNode: 17, levels: 10, covered: 5},
	{nodes: 5000, perNode: 17, levels: 10, covered: 5, groupOf: 8},
}

// rackRequest asks for 100 pods in one of 250 racks; with groups, for so many groups of them, each in a rack of one of five
// zones.
func rackRequest(st *placement.State, groups int) placement.Request {
	r := gang(100, 3000, 3)
	racks, zones := split(st, 250), split(st, 5)
	if r.Domains = racks; groups > 0 {
		r.Domains, r.MinGroups = zones, groups
		for g := range groups {
			id := fmt.Sprintf("gang-%d", g)
			r.Nested = append(r.Nested, placement.NestedGroup{Group: id, MinCount: len(r.Pods) / groups, Domains: racks})
		}
		for i := range r.Pods {
			r.Pods[i].Group = r.Nested[i*groups/len(r.Pods)].Group
		}
	}
	return r
}

// split splits the nodes into so many domains.
func split(st *placement.State, count int) []placement.Domain {
	list := make([]placement.Domain, count)
	for i := range list {
		list[i].Name = fmt.Sprintf("domain-%03d", i)
	}
	for i := range st.Nodes {
		d := &list[i*count/len(st.Nodes)]
		d.Nodes = append(d.Nodes, st.Nodes[i].Name)
	}
	return list
}

// BenchmarkRacks: a group of 100 pods with racks as domains, and the same as five groups in a zone, each in a rack.
func BenchmarkRacks(b *testing.B) {
	for _, f := range rackFleets {
		for _, mode := range []placement.Mode{placement.ModeDesign, placement.ModeInPlace} {
			for _, groups := range []int{0, 5} {
				b.Run(fmt.Sprintf("%v/%v/groups of the request=%d", f, mode, groups), func(b *testing.B) {
					s, r := rackQuestion(b, f, groups)
					benchmarkOn(b, s, placement.Config{Mode: mode}, r, preemption.Preempt)
				})
			}
		}
	}
}

func rackQuestion(t testing.TB, f fleet, groups int) (*placement.Snapshot, placement.Request) {
	st := f.state()
	r := rackRequest(&st, groups)
	if groups > 0 {
		st.Groups = append(st.Groups, groupsOf(r)...)
	}
	return snapshotOf(t, st), r
}

// groupsOf returns the groups of a request.
func groupsOf(r placement.Request) []workload.PodGroup {
	list := []workload.PodGroup{{ID: r.Group, Priority: r.Priority}}
	for _, g := range r.Nested {
		list = append(list, workload.PodGroup{ID: g.Group, Parent: r.Group})
	}
	return list
}

// Most racks are left out by sums of what runs there: no victims in them are better than those that were found.
func TestMostRacksAreNotSearched(t *testing.T) {
	for _, f := range rackFleets {
		s, r := rackQuestion(t, f, 0)
		racks := map[trace.Kind]int{}
		d := traced(t, placement.Config{}, s, r, &trace.Recorder{To: func(s *trace.Step) { racks[s.Kind]++ }})
		searched, skipped := racks[trace.DomainBegins], racks[trace.DomainSkipped]
		if d.Outcome != preemption.Preempt || searched+skipped != 250 || searched > 30 {
			t.Errorf("%v: %v of %d racks searched, %d skipped", f, d.Outcome, searched, skipped)
		}
	}
}

// The sums of a domain say nothing wrong where pods are of different sizes: one large pod frees what five pods free on average.
func TestOneLargePodIsFewer(t *testing.T) {
	st := placement.State{
		Nodes: []workload.Node{machine("a", 3), machine("b", 7)}, Pods: []workload.Pod{cpu("a1", "a", 1, 1), cpu("a2", "a", 1, 2)},
	}
	for i, size := range []int64{1, 1, 1, 1, 3} {
		st.Pods = append(st.Pods, cpu(fmt.Sprintf("b%d", i), "b", 1, size))
	}
	r := placement.Request{Group: "in", Priority: 9, Pods: []workload.Pod{cpu("in0", "", 0, 3)}, Domains: []placement.Domain{
		{Name: "a", Nodes: []string{"a"}}, {Name: "b", Nodes: []string{"b"}},
	}}
	wantText(t, text(judged(t, placement.Config{}, st, r)), "Preempt in0@b; evict b4")
}

// A domain is compared though its nodes are older than a resource of the request, and though a pod asks for one that no node has.
func TestDomainsWithoutAResource(t *testing.T) {
	st := placement.State{Nodes: []workload.Node{machine("old", 1)}, Pods: []workload.Pod{cpu("low", "old", 1, 1)}}
	younger, pod := machine("young", 1), cpu("lower", "young", 1, 1)
	younger.Capacity["new"], pod.Requests["new"] = 1, 1
	s := edit(t, snapshotOf(t, st), placement.SetNode(younger), placement.Run(pod))
	in, other := cpu("in0", "", 0, 1), cpu("in1", "", 0, 1)
	in.Requests["new"], other.Requests["none"] = 1, 1
	r := placement.Request{Group: "in", Priority: 9, MinCount: 1, Pods: []workload.Pod{in, other}, Domains: []placement.Domain{
		{Name: "young", Nodes: []string{"young"}}, {Name: "old", Nodes: []string{"old"}},
	}}
	wantText(t, text(decide(t, placement.Config{}, s, r)), "Preempt in0@young; evict lower")
	r.Pods = r.Pods[:1]
	wantText(t, text(decide(t, placement.Config{}, s, r)), "Preempt in0@young; evict lower")
}

// A domain with exactly enough room is better than one where a unit yields.
func TestDomainWithExactlyEnough(t *testing.T) {
	st := placement.State{
		Nodes: []workload.Node{machine("full", 2), machine("free", 4)}, Pods: []workload.Pod{cpu("low", "full", 1, 2), cpu("lower", "free", 1, 2)},
	}
	r := placement.Request{Group: "in", Priority: 9, SkipFit: true, Pods: []workload.Pod{cpu("in0", "", 0, 2)}, Domains: []placement.Domain{
		{Name: "full", Nodes: []string{"full"}}, {Name: "free", Nodes: []string{"free"}},
	}}
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Fits in0@free")
}
