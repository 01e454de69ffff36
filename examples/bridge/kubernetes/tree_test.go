package kubernetes_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// tree is a cluster with two racks of two nodes and groups in trees. A line is "composite NAME PARENT LEAST", "group NAME PARENT
// LEAST", or "pod NAME GROUP NODE"; a dash is nothing. LEAST of a dash: no gang.
func tree(lines string) *kubernetes.Objects {
	var o kubernetes.Objects
	for i := range 4 {
		o.Add(&kubernetes.Node{Metadata: bridge.Metadata{Name: fmt.Sprint("n", i), Labels: map[string]string{"rack": fmt.Sprint("r", i/2)}}})
	}
	for line := range strings.Lines(lines) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		for i := range f {
			f[i] = strings.TrimPrefix(f[i], "-")
		}
		head := bridge.Metadata{Name: f[1], Namespace: "x"}
		least, rack := 0, []kubernetes.TopologyConstraint(nil)
		fmt.Sscan(f[3], &least)
		if len(f) > 4 {
			rack = []kubernetes.TopologyConstraint{{Key: f[4]}}
		}
		priority := int32(len(f[1])) // so that the priority tells whose it is
		switch f[0] {
		case "composite":
			g := &kubernetes.CompositePodGroup{Metadata: head}
			g.Spec.Parent, g.Spec.Priority, g.Spec.Constraints.Topology = f[2], &priority, rack
			if g.Spec.DisruptionMode = "PodGroup"; least > 0 {
				g.Spec.SchedulingPolicy.Gang = &kubernetes.CompositeGang{MinGroupCount: least}
			}
			o.Add(g)
		case "group":
			g := &kubernetes.PodGroup{Metadata: head}
			if g.Spec.Parent, g.Spec.Priority, g.Spec.Constraints.Topology = f[2], &priority, rack; least > 0 {
				g.Spec.SchedulingPolicy.Gang = &kubernetes.Gang{MinCount: least}
			}
			o.Add(g)
		case "pod":
			p := &kubernetes.Pod{Metadata: head}
			p.Spec.SchedulingGroup.PodGroupName, p.Spec.NodeName, p.Spec.Containers = f[2], f[3], make([]bridge.Container, 1)
			o.Add(p)
		}
	}
	return &o
}

// Groups that run are in their trees. A group whose root is not known never yields, and the nodes of its pods are in doubt. (As
// built in Kubernetes v1.37 the scheduler climbs four groups; what it does not find it passes over, but the input may be a part
// of the cluster.)
func TestTreesThatRun(t *testing.T) {
	never := func(id string) workload.PodGroup {
		return workload.PodGroup{ID: id, Priority: math.MaxInt32, DisruptionMode: workload.DisruptionModePodGroup}
	}
	for _, c := range []struct {
		name, lines string
		want        []workload.PodGroup
		doubt       string
	}{
		{"a tree", "composite top - 2\n group g top 3\n pod p g n0", []workload.PodGroup{
			{ID: "composite/x/top", Priority: 3, DisruptionMode: workload.DisruptionModePodGroup},
			{ID: "x/g", Parent: "composite/x/top", Priority: 1, MinCount: 3},
		}, ""},
		{"the root is not there", "group g gone 3\n pod p g n0", []workload.PodGroup{never("x/g")},
			"PodGroup x/g: CompositePodGroup x/gone above it is not in the input"},
		{"a circle", "composite a b -\n composite b a -\n group g a 3\n pod p g n0", []workload.PodGroup{never("composite/x/a"), never("composite/x/b"), never("x/g")},
			"PodGroup x/g: the groups above it are too many, or go in a circle"},
		{"too deep", "composite a - -\n composite b a -\n composite c b -\n composite d c -\n group g d 3\n pod p g n0", []workload.PodGroup{
			{ID: "composite/x/a", Priority: 1, DisruptionMode: workload.DisruptionModePodGroup},
			{ID: "composite/x/b", Parent: "composite/x/a", Priority: 1, DisruptionMode: workload.DisruptionModePodGroup},
			{ID: "composite/x/c", Parent: "composite/x/b", Priority: 1, DisruptionMode: workload.DisruptionModePodGroup},
			{ID: "composite/x/d", Parent: "composite/x/c", Priority: 1, DisruptionMode: workload.DisruptionModePodGroup},
			never("x/g"),
		}, "PodGroup x/g: the groups above it are too many, or go in a circle"},
	} {
		cluster := tree(c.lines).Cluster()
		if !reflect.DeepEqual(cluster.State.Groups, c.want) {
			t.Errorf("%s: %+v", c.name, cluster.State.Groups)
		}
		if len(cluster.Doubts) > 0 != (c.doubt != "") || c.doubt != "" && (cluster.Doubts[0].Node != "n0" || cluster.Doubts[0].Text != c.doubt) {
			t.Errorf("%s: %+v", c.name, cluster.Doubts)
		}
		if _, err := cluster.Snapshot(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A tree waits as one, with what each group of it still needs.
func TestTreesThatWait(t *testing.T) {
	rack := func(n int) placement.Domain {
		return placement.Domain{Name: fmt.Sprint("r", n), Nodes: []string{fmt.Sprint("n", 2*n), fmt.Sprint("n", 2*n+1)}}
	}
	const two = "composite top - 2\n group a top 2\n group b top 2\n pod a-0 a -\n pod a-1 a -\n pod b-0 b -\n pod b-1 b -\n"
	for _, c := range []struct {
		name, lines string
		want        placement.Request // without pods
		pods        string
		unresolved  string
		notes       string
	}{
		{"two groups", two, placement.Request{Group: "composite/x/top", Priority: 3, MinGroups: 2, Nested: []placement.NestedGroup{
			{Group: "x/a", MinCount: 2}, {Group: "x/b", MinCount: 2}}}, "a-0 a-1 b-0 b-1", "", ""},
		{"one of a group runs", strings.Replace(two, "a-0 a -", "a-0 a n0", 1), placement.Request{Group: "composite/x/top", Priority: 3, MinGroups: 2, Nested: []placement.NestedGroup{
			{Group: "x/a", MinCount: 1}, {Group: "x/b", MinCount: 2}}}, "a-1 b-0 b-1", "", ""},
		{"a group runs", strings.NewReplacer("a-0 a -", "a-0 a n0", "a-1 a -", "a-1 a n0").Replace(two), placement.Request{
			Group: "composite/x/top", Priority: 3, MinGroups: 1, Nested: []placement.NestedGroup{{Group: "x/b", MinCount: 2}}}, "b-0 b-1", "", ""},
		{"too few pods", strings.Replace(two, "pod b-1 b -", "", 1), placement.Request{Group: "composite/x/top", Priority: 3, MinGroups: 2, Nested: []placement.NestedGroup{
			{Group: "x/a", MinCount: 2}}}, "a-0 a-1", "its gang needs 2 more groups, but 1 wait", "pods of PodGroup x/b are left out: its gang needs 2 more pods, but 1 wait"},
		{"one is enough", strings.NewReplacer("pod b-1 b -", "", "top - 2", "top - 1").Replace(two), placement.Request{
			Group: "composite/x/top", Priority: 3, MinGroups: 1, Nested: []placement.NestedGroup{{Group: "x/a", MinCount: 2}}}, "a-0 a-1", "",
			"pods of PodGroup x/b are left out: its gang needs 2 more pods, but 1 wait"},
		{"a group that runs has more that wait", strings.Replace(two, "group a top 2", "group a top 1", 1) + "pod a-2 a n0", placement.Request{
			Group: "composite/x/top", Priority: 3, MinGroups: 2, Nested: []placement.NestedGroup{{Group: "x/a"}, {Group: "x/b", MinCount: 2}}}, "a-0 a-1 b-0 b-1", "",
			"PodGroup x/a has what it needs, and more pods of it wait: CompositePodGroup x/top may need fewer groups than is counted"},
		{"in one rack", "composite top - 1 rack\n group a top 1\n pod a-0 a -", placement.Request{Group: "composite/x/top", Priority: 3, MinGroups: 1,
			Domains: []placement.Domain{rack(0), rack(1)}, Nested: []placement.NestedGroup{{Group: "x/a", MinCount: 1}}}, "a-0", "", ""},
		{"in the rack of what runs", "group a - 2 rack\n pod a-0 a n3\n pod a-1 a -", placement.Request{Group: "x/a", Priority: 1, MinCount: 1,
			Domains: []placement.Domain{rack(1)}}, "a-1", "", ""},
		{"a group below in one rack", "composite top - -\n group a top 1 rack\n pod a-0 a -", placement.Request{Group: "composite/x/top", Priority: 3,
			Nested: []placement.NestedGroup{{Group: "x/a", MinCount: 1, Domains: []placement.Domain{rack(0), rack(1)}}}}, "a-0", "", ""},
		{"no such label", "group a - 1 row\n pod a-0 a -", placement.Request{Group: "x/a", Priority: 1, MinCount: 1, Domains: []placement.Domain{{Name: "row"}}}, "a-0", "",
			"no nodes with one value of the label row have all pods of PodGroup x/a that run"},
		{"the root is not there", "group a gone 1\n pod a-0 a -", placement.Request{Group: "x/a", Priority: 1, MinCount: 1}, "a-0",
			"CompositePodGroup x/gone above it is not in the input", ""},
	} {
		cluster := tree(c.lines).Cluster()
		if len(cluster.Pending) != 1 {
			t.Errorf("%s: %d requests", c.name, len(cluster.Pending))
			continue
		}
		p := cluster.Pending[0]
		var pods []string
		for _, pod := range p.Request.Pods {
			pods = append(pods, strings.TrimPrefix(pod.ID, "x/"))
		}
		request := p.Request
		request.Pods, request.Policy, c.want.Policy = nil, 0, 0
		if fmt.Sprintf("%+v", request) != fmt.Sprintf("%+v", c.want) || strings.Join(pods, " ") != c.pods || p.ID != c.want.Group {
			t.Errorf("%s: %s\n%+v, pods %v, want\n%+v", c.name, p.ID, request, pods, c.want)
		}
		if (p.Unresolved == nil) != (c.unresolved == "") || p.Unresolved != nil && p.Unresolved.Error() != c.unresolved {
			t.Errorf("%s: %v", c.name, p.Unresolved)
		}
		if notes := strings.Join(bridge.Texts(p.Notes), "; "); notes != c.notes {
			t.Errorf("%s: %s", c.name, notes)
		}
		snapshot, err := cluster.Snapshot()
		if err != nil || p.Unresolved != nil {
			continue
		}
		preemptor, err := placement.New(placement.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := preemptor.Decide(snapshot, p.Request); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
