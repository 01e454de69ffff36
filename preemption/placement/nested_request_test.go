package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// treeState has two zones of two racks of one node of two slots, all full of pods of priority 1, but "keeps" on z2r2. The
// groups "x" and "y" in "middle", and "z", wait in "root".
func treeState() placement.State {
	st := placement.State{Groups: []workload.PodGroup{
		{ID: "root", Priority: 9}, {ID: "middle", Parent: "root"}, {ID: "x", Parent: "middle"}, {ID: "y", Parent: "middle"},
		{ID: "z", Parent: "root"},
	}}
	for _, node := range []string{"z1r1", "z1r2", "z2r1", "z2r2"} {
		st.Nodes = append(st.Nodes, machine(node, 2))
		for i := range 2 {
			st.Pods = append(st.Pods, cpu(fmt.Sprintf("%s-%d", node, i), node, 1, 1))
		}
	}
	st.Pods[7].Priority = 50
	return st
}

func racks() []placement.Domain {
	var list []placement.Domain
	for _, node := range []string{"z1r1", "z1r2", "z2r1", "z2r2"} {
		list = append(list, placement.Domain{Name: node, Nodes: []string{node}})
	}
	return list
}

func zones() []placement.Domain {
	return []placement.Domain{{Name: "z1", Nodes: []string{"z1r1", "z1r2"}}, {Name: "z2", Nodes: []string{"z2r1", "z2r2"}}}
}

// treeRequest asks for so many pods of one slot for each of the groups.
func treeRequest(x, y, z int) placement.Request {
	r := placement.Request{Group: "root", Priority: 9}
	for _, g := range []struct {
		id    string
		count int
	}{{"x", x}, {"y", y}, {"z", z}} {
		for i := range g.count {
			p := cpu(fmt.Sprint(g.id, i), "", 0, 1)
			p.Group = g.id
			r.Pods = append(r.Pods, p)
		}
	}
	return r
}

// "min_group_count (children, gang CompositePodGroup)", "min_count (pods, gang PodGroup)", "constraints.topology[].key = all
// members in one domain of that node label": what groups of a request need, as in kube-scheduler v1.37. A group that does
// not get what it needs gets nothing.
func TestNestedRequests(t *testing.T) {
	for name, test := range map[string]struct {
		request func() placement.Request
		want    string // where the preemptor is placed again for each unit, it goes elsewhere
	}{
		"any group is enough": {func() placement.Request {
			r := treeRequest(3, 0, 1)
			r.Nested = []placement.NestedGroup{{Group: "x", MinCount: 3, Domains: racks()}}
			return r
		}, "Preempt z0@z1r1; evict z1r1-1"},
		"both must": {func() placement.Request {
			r := treeRequest(3, 0, 1)
			r.Nested, r.MinGroups = []placement.NestedGroup{{Group: "x", MinCount: 3, Domains: racks()}}, 2
			return r
		}, "Impossible (NoRoom)"},
		"each in a rack": {func() placement.Request {
			r := treeRequest(2, 1, 2)
			r.Nested, r.MinGroups = []placement.NestedGroup{
				{Group: "x", MinCount: 2, Domains: racks()}, {Group: "y", Domains: racks()}, {Group: "z", MinCount: 2, Domains: racks()},
			}, 2
			return r
		}, "Preempt x0@z1r1 x1@z1r1 y0@z1r2 z0@z2r1 z1@z2r1; evict z1r1-0 z1r1-1 z1r2-1 z2r1-0 z2r1-1"},
		"racks in a zone": {func() placement.Request {
			r := treeRequest(2, 1, 1)
			r.Domains = zones()[1:]
			r.Nested, r.MinGroups = []placement.NestedGroup{
				{Group: "middle", MinGroups: 2}, {Group: "x", MinCount: 2, Domains: racks()}, {Group: "y", MinCount: 1, Domains: racks()},
			}, 1
			return r
		}, "Preempt x0@z2r1 x1@z2r1 y0@z2r2; evict z2r1-0 z2r1-1 z2r2-0"},
		"a group of groups in a zone": {func() placement.Request {
			r := treeRequest(2, 2, 1)
			r.Nested, r.MinGroups = []placement.NestedGroup{
				{Group: "middle", MinGroups: 2, Domains: zones()}, {Group: "x", MinCount: 2, Domains: racks()},
				{Group: "y", MinCount: 2, Domains: racks()},
			}, 2
			return r
		}, "Preempt x0@z1r1 x1@z1r1 y0@z1r2 y1@z1r2 z0@z2r1; evict z1r1-0 z1r1-1 z1r2-0 z1r2-1 z2r1-1"},
		"in the domains of all groups above": {func() placement.Request {
			r := treeRequest(1, 0, 0)
			apart := []placement.Domain{{Name: "first racks", Nodes: []string{"z1r1", "z2r1"}}}
			across := []placement.Domain{{Name: "across", Nodes: []string{"z1r2", "z2r1"}}}
			r.Nested = []placement.NestedGroup{{Group: "middle", Domains: apart}, {Group: "x", Domains: across}}
			return r
		}, "Preempt x0@z2r1; evict z2r1-1"},
		"racks are preferred": {func() placement.Request {
			r := treeRequest(3, 0, 0)
			r.Nested = []placement.NestedGroup{{Group: "x", MinCount: 3, Domains: racks(), DomainsPreferred: true}}
			return r
		}, "Preempt x0@z1r1 x1@z1r1 x2@z1r2; evict z1r1-0 z1r1-1 z1r2-1"},
		"zones are preferred": {func() placement.Request {
			r := treeRequest(5, 0, 0)
			r.Domains, r.DomainsPreferred, r.MinCount = zones(), true, 5
			return r
		}, "Preempt x0@z1r1 x1@z1r1 x2@z1r2 x3@z1r2 x4@z2r1; evict z1r1-0 z1r1-1 z1r2-0 z1r2-1 z2r1-1"},
		"a zone is enough": {func() placement.Request {
			r := treeRequest(4, 0, 0)
			r.Domains, r.DomainsPreferred, r.MinCount = zones(), true, 4
			return r
		}, "Preempt x0@z1r1 x1@z1r1 x2@z1r2 x3@z1r2; evict z1r1-0 z1r1-1 z1r2-0 z1r2-1"},
	} {
		t.Run(name, func(t *testing.T) {
			st := treeState()
			for mode := placement.ModeDesign; mode <= placement.ModeInPlace; mode++ {
				c, r := placement.Config{Mode: mode}, test.request()
				d := decide(t, c, snapshotOf(t, st), r)
				if got := text(d); got != test.want {
					t.Errorf("%v: %s\nwant %s", mode, got, test.want)
				}
				verified(t, st, r, c, d)
			}
		})
	}
}

// A group that does not get what it needs leaves a node as it was: what the members of other groups ask for there stays theirs, and
// what it alone asked for holds up nobody.
func TestLeftOutGroupLeavesTheNodeAsItWas(t *testing.T) {
	for gpus := range int64(2) {
		st, r := treeState(), treeRequest(1, 2, 0)
		r.Nested = []placement.NestedGroup{{Group: "y", MinCount: 2, Domains: racks()[:1]}}
		if gpus > 0 { // the node holds one too many, of which only y asks
			st.Nodes[0].Capacity["gpu"], st.Pods[0].Requests["gpu"] = gpus, gpus+1
			for i := range r.Pods[1:] {
				r.Pods[1+i].Requests["gpu"] = gpus
			}
		}
		for mode := placement.ModeDesign; mode <= placement.ModeInPlace; mode++ {
			c := placement.Config{Mode: mode}
			d := decide(t, c, snapshotOf(t, st), r)
			wantText(t, text(d), "Preempt x0@z1r1; evict z1r1-1", "%v, %d GPUs", mode, gpus)
			verified(t, st, r, c, d)
			agrees(t, c, st, r, d)
		}
	}
}

// A nomination is kept if its group gets what it needs beside it; else all is placed anew.
func TestNominationsOfNestedGroups(t *testing.T) {
	st := treeState()
	st.Pods = st.Pods[:4] // zone 2 is free
	r := treeRequest(2, 0, 1)
	r.Nested, r.MinGroups = []placement.NestedGroup{{Group: "x", MinCount: 2, Domains: racks()}}, 2
	for node, want := range map[string]string{
		"z2r2": "Fits x0@z2r2 x1@z2r2 z0@z2r1",
		"z1r1": "Fits x0@z2r1 x1@z2r1 z0@z2r2", // the node has no room
	} {
		p := r.Pods[0]
		p.Node, p.Priority = node, 9
		st.Nominated = []workload.Pod{p}
		wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), want, "%s", node)
	}
	st.Pods = append(st.Pods, cpu("half", "z2r2", 99, 1))
	p := r.Pods[0]
	p.Node, p.Priority = "z2r2", 9
	st.Nominated = []workload.Pod{p}
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Fits x0@z2r1 x1@z2r1 z0@z2r2")
}

// Verify finds a group that got less than it needs, or is split over its domains.
func TestVerifyFindsLackingNestedGroups(t *testing.T) {
	st, r := treeState(), treeRequest(2, 0, 1)
	st.Pods = nil
	d := decide(t, placement.Config{}, snapshotOf(t, st), r)
	for name, needs := range map[string][]placement.NestedGroup{
		"x": {{Group: "x", MinCount: 2, Domains: racks()[3:]}}, "z": {{Group: "z", Domains: racks()[:1]}},
	} {
		r := r
		r.Nested = needs
		want := fmt.Sprintf("decision.nominations: group %q has pods with a place, but not what it needs", name)
		if err := verify.Placement(st, r, placement.Config{}, d); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	r.MinGroups = 2
	d.Nominations = d.Nominations[:2]
	if err := verify.Placement(st, r, placement.Config{}, d); err == nil {
		t.Error("one group of two is enough")
	}
}

// All faults of nested groups are said, each with its path.
func TestFaultsOfNestedGroups(t *testing.T) {
	r := treeRequest(2, 1, 0)
	r.MinGroups = 2 // z has no pod
	r.Nested = []placement.NestedGroup{
		{Group: "x", MinCount: 3, MinGroups: 1, Domains: []placement.Domain{{Nodes: []string{"none"}}}},
		{Group: "x"}, {Group: "root"}, {Group: "other"}, {Group: "middle", MinCount: -1, MinGroups: -1},
	}
	_, err := new(placement.Preemptor).Decide(snapshotOf(t, treeState()), r)
	wantFaults(t, err, `
request.minGroups: 2 of 1 groups
request.nested[1]: x is there already: request.nested[0]
request.nested[0].minCount: 3 of 2 pods
request.nested[0].minGroups: 1 of 0 groups
request.nested[0].domains[0].name: is empty
request.nested[0].domains[0].nodes[0]: unknown node "none"
request.nested[2].group: "root" is not below "root"
request.nested[3].group: "other" is not below "root"
request.nested[4].minCount: -1 is negative
request.nested[4].minGroups: -1 is negative`)
	basic := treeState()
	basic.Groups[0].Basic = true
	r = treeRequest(1, 1, 0)
	r.MinGroups = 1
	if _, err := new(placement.Preemptor).Decide(snapshotOf(t, basic), r); err == nil ||
		err.Error() != `request.nested: are for gangs: each pod of the basic group "root" is placed by itself` {
		t.Error(err)
	}
	p := must(placement.New(placement.Config{Mode: placement.ModeInPlace}))(t)
	if d, err := p.Decide(snapshotOf(t, basic), r); err != nil || d.Outcome != preemption.Preempt {
		t.Errorf("%+v, %v", d, err)
	}
}

// A nomination on the first node counts as on any other.
func TestNominationOnTheFirstNode(t *testing.T) {
	st := treeState()
	st.Pods = slices.Concat(st.Pods[1:4], []workload.Pod{cpu("half", "z2r1", 99, 1)}) // z1r1 has one slot, z2r2 two
	r := treeRequest(2, 0, 0)
	r.Nested = []placement.NestedGroup{{Group: "x", MinCount: 2, Domains: racks()}}
	p := r.Pods[0]
	p.Node, p.Priority = "z1r1", 9
	st.Nominated = []workload.Pod{p}
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Fits x0@z2r2 x1@z2r2")
}

// onePerNode permits one pod on a node.
type onePerNode struct{}

func (onePerNode) Reach() placement.Reach { return placement.ReachNode }

func (onePerNode) Begin(s *placement.Snapshot, _ placement.Request) placement.Trial {
	t := podsOn{}
	for p := range s.Pods() {
		t[p.Node]++
	}
	return t
}

type podsOn map[string]int

func (t podsOn) Add(p workload.Pod)                             { t[p.Node]++ }
func (t podsOn) Remove(p workload.Pod)                          { t[p.Node]-- }
func (t podsOn) Allows(_ workload.Pod, node workload.Node) bool { return t[node.Name] == 0 }

// A rule about sets sees no pod of a group that gave its places back.
func TestPlacesThatAreGivenBack(t *testing.T) {
	st := treeState()
	st.Pods = nil
	r := treeRequest(2, 0, 1)
	r.Nested = []placement.NestedGroup{{Group: "x", MinCount: 2, Domains: racks()}}
	r.SetFilters, r.Pods[2].Nodes = []placement.SetFilter{onePerNode{}}, []string{"z2r2"}
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Fits z0@z2r2")
}
