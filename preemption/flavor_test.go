package preemption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// mismatches is of each flavor that was passed as not eligible why.
func mismatches(d preemption.Decision) string {
	var list []string
	for _, c := range d.Assignment {
		for _, tried := range c.Tried {
			switch m := tried.Mismatch; {
			case m == nil:
			case m.Topology != 0:
				list = append(list, strings.TrimSpace(fmt.Sprintf("%s: %v %s", tried.Flavor, m.Topology, m.Level)))
			case m.Taint != nil:
				list = append(list, fmt.Sprintf("%s: taint %s=%s:%v", tried.Flavor, m.Taint.Key, m.Taint.Value, m.Taint.Effect))
			default:
				list = append(list, fmt.Sprintf("%s: %s %v %s is %q", tried.Flavor, m.Requirement.Key, m.Requirement.Operator, strings.Join(m.Requirement.Values, ","), m.Label))
			}
		}
	}
	return strings.Join(list, "; ")
}

// Kueue's flavor assigner as built: taints, then node selector and required node affinity
// by the keys that some flavor of the group has.
func TestEligibility(t *testing.T) {
	tainted := queue.Flavor{Name: "A", NodeTaints: []workload.Taint{
		{Key: "soft", Effect: workload.PreferNoSchedule}, {Key: "spot", Value: "yes", Effect: workload.NoSchedule},
	}}
	tolerant := tainted
	tolerant.Tolerations = []workload.Toleration{{Key: "spot", Operator: workload.TolerationExists}}
	labelled := func(a, b string) []queue.Flavor {
		return []queue.Flavor{{Name: "A", NodeLabels: map[string]string{"zone": a}}, {Name: "B", NodeLabels: map[string]string{"zone": b, "size": "8"}}}
	}
	expression := func(key string, o workload.LabelOperator, values ...string) workload.LabelRequirement {
		return workload.LabelRequirement{Key: key, Operator: o, Values: values}
	}
	affinity := func(terms ...[]workload.LabelRequirement) *workload.NodeConstraints {
		c := &workload.NodeConstraints{}
		for _, t := range terms {
			c.NodeAffinity = append(c.NodeAffinity, workload.NodeSelectorTerm{MatchExpressions: t})
		}
		return c
	}
	type term = []workload.LabelRequirement
	placed := func(a, b []string) (list []queue.Flavor) { // with the levels of their topologies; nil: they have none
		for name, levels := range map[string][]string{"A": a, "B": b} {
			f := queue.Flavor{Name: name}
			if levels != nil {
				f.Topology = queue.Topology{Name: "tree of " + name, Levels: levels}
			}
			list = append(list, f)
		}
		return list
	}
	inTopology := func(t workload.TopologyRequest) *workload.NodeConstraints {
		return &workload.NodeConstraints{Topology: t}
	}
	tainting := func(list []queue.Flavor) []queue.Flavor {
		for i := range list {
			if list[i].Name == "A" {
				list[i].NodeTaints = tainted.NodeTaints
			}
		}
		return list
	}
	for _, c := range []struct {
		sentence    string
		flavors     []queue.Flavor
		constraints *workload.NodeConstraints
		want        string
	}{
		{"Of a flavor that is not known any pod set may have it.", nil, &workload.NodeConstraints{NodeSelector: map[string]string{"zone": "b"}}, "A"},
		{"A taint that is not tolerated.", []queue.Flavor{tainted}, nil, "B; A: taint spot=yes:NoSchedule"},
		{"The pod set tolerates it.", []queue.Flavor{tainted}, &workload.NodeConstraints{Tolerations: []workload.Toleration{{Key: "spot", Value: "yes"}}}, "A"},
		{"The toleration is of another value.", []queue.Flavor{tainted}, &workload.NodeConstraints{Tolerations: []workload.Toleration{{Key: "spot", Value: "no"}}}, "B; A: taint spot=yes:NoSchedule"},
		{"The flavor tolerates it.", []queue.Flavor{tolerant}, nil, "A"},
		{"The selector wants another label.", labelled("a", "b"), &workload.NodeConstraints{NodeSelector: map[string]string{"zone": "b"}}, `B; A: zone In b is "a"`},
		{"A label that the flavor has not, and another of the group has.", labelled("a", "b"), &workload.NodeConstraints{NodeSelector: map[string]string{"size": "8"}}, `B; A: size In 8 is ""`},
		{"A label that no flavor of the group has is not looked at.", labelled("a", "b"), &workload.NodeConstraints{NodeSelector: map[string]string{"rack": "r"}}, "A"},
		{"The affinity wants another label.", labelled("a", "b"), affinity(term{expression("zone", workload.In, "b", "c")}), `B; A: zone In b,c is "a"`},
		{"Terms are ORed.", labelled("a", "b"), affinity(term{expression("zone", workload.In, "b")}, term{expression("size", workload.DoesNotExist)}), "A"},
		{"Expressions are ANDed.", labelled("a", "b"), affinity(term{expression("zone", workload.Exists), expression("size", workload.Gt, "4")}), `B; A: size Gt 4 is ""`},
		{"A term without a key of the group: any flavor.", labelled("a", "b"), affinity(term{expression("zone", workload.In, "b")}, term{expression("rack", workload.Exists)}), "A"},
		{"An empty term: any flavor.", labelled("a", "b"), affinity(term{}, term{expression("zone", workload.In, "b")}), "A"},
		{"No flavor is eligible.", append(labelled("a", "b"), queue.Flavor{Name: "other", NodeLabels: map[string]string{"zone": "c"}}), &workload.NodeConstraints{NodeSelector: map[string]string{"zone": "c"}},
			`none; A: zone In c is "a"; B: zone In c is "b"`},
		{"A pod set that asks for a topology: a flavor without one is not for it.", placed(nil, []string{"block", "rack"}), inTopology(workload.TopologyRequest{Required: "rack"}), "B; A: NoTopology"},
		{"The level that it names is one of the topology.", placed([]string{"block"}, []string{"block", "rack"}), inTopology(workload.TopologyRequest{Preferred: "rack"}), "B; A: NoTopologyLevel rack"},
		{"So is that of its slices.", placed([]string{"block"}, []string{"block", "rack"}), inTopology(workload.TopologyRequest{Required: "block", SliceRequired: "rack"}), "B; A: NoTopologyLevel rack"},
		{"Without a constraint any topology will do.", placed(nil, []string{"block"}), inTopology(workload.TopologyRequest{Unconstrained: true}), "B; A: NoTopology"},
		{"No flavor has a topology.", placed(nil, nil), inTopology(workload.TopologyRequest{Required: "rack"}), "none; A: NoTopology; B: NoTopology"},
		{"Of a flavor that is not known there is no topology.", nil, inTopology(workload.TopologyRequest{Required: "rack"}), "none; A: NoTopology; B: NoTopology"},
		{"A pod set that asks for none may not have a flavor with one.", placed([]string{"block"}, nil), nil, "B; A: OnlyTopology"},
		{"Unless all flavors of the queue have one.", placed([]string{"block"}, []string{"rack"}), nil, "A"},
		{"The topology is told before a taint.", tainting(placed([]string{"block"}, nil)), nil, "B; A: OnlyTopology"},
		{"Selector and affinity are ANDed; the selector is told first.", labelled("a", "b"),
			&workload.NodeConstraints{NodeSelector: map[string]string{"zone": "b"}, NodeAffinity: affinity(term{expression("size", workload.DoesNotExist)}).NodeAffinity},
			`none; A: zone In b is "a"; B: size DoesNotExist  is "8"`},
	} {
		st := pair(inFlavors(4, 4), nil, queue.FlavorFungibility{})
		st.Flavors = c.flavors
		r := asks(2)
		r.Workload.PodSets[0].NodeConstraints = c.constraints
		d := decide(t, snapshotOf(t, st), r)
		got := d.Assignment[0].Flavor
		if got == "" {
			got = "none"
			if d.Outcome != preemption.Impossible || len(d.Shortage) > 0 || len(d.Blockers) > 0 {
				t.Errorf("%s: %+v", c.sentence, d)
			}
		}
		if m := mismatches(d); m != "" {
			got += "; " + m
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.sentence, got, c.want)
		}
		for i := range r.Workload.PodSets[0].Requests { // "Flavors that are given are not checked."
			r.Workload.PodSets[0].Requests[i].Flavor = "A"
		}
		if d := decide(t, snapshotOf(t, st), r); d.Outcome != preemption.Fits {
			t.Errorf("%s: given, and %v", c.sentence, d.Outcome)
		}
	}
}

// Keys are those of the group: a flavor of another group of the queue adds none.
func TestEligibilityByGroup(t *testing.T) {
	st := pair(inFlavors(4, 4), nil, queue.FlavorFungibility{})
	q := &st.Queues[0]
	other := q.Quotas[0]
	other.Flavor, other.Resource = "big", "cpu"
	q.Quotas = append(q.Quotas, other)
	st.Flavors = []queue.Flavor{{Name: "big", NodeLabels: map[string]string{"size": "l"}}, {Name: "A", NodeLabels: map[string]string{"zone": "a"}}}
	r := asks(2)
	p := &r.Workload.PodSets[0]
	cpu := p.Requests[0]
	cpu.Resource = "cpu"
	p.Requests = append(p.Requests, cpu)
	p.NodeConstraints = &workload.NodeConstraints{NodeSelector: map[string]string{"size": "m"}}
	d := decide(t, snapshotOf(t, st), r)
	wantText(t, assignmentText(d), "Impossible: A Fit none NoFit (big NotEligible)")
}

// All flavors of the queue count, those of other resource groups, too: one without topology, and a pod
// set that asks for none may not have those with one.
func TestTopologyByQueue(t *testing.T) {
	st := pair(inFlavors(4, 4), nil, queue.FlavorFungibility{})
	q := &st.Queues[0]
	licence := q.Quotas[0]
	licence.Flavor, licence.Resource = "licences", "licence"
	q.Quotas = append(q.Quotas, licence)
	tree := queue.Topology{Name: "tree", Levels: []string{"rack"}}
	st.Flavors = []queue.Flavor{{Name: "A", Topology: tree}, {Name: "B", Topology: tree}, {Name: "licences"}}
	r := asks(2)
	wantText(t, assignmentText(decide(t, snapshotOf(t, st), r)), "Impossible: none NoFit (A NotEligible, B NotEligible)")
	r.Workload.PodSets[0].NodeConstraints = &workload.NodeConstraints{Topology: workload.TopologyRequest{Required: "rack"}}
	d := decide(t, snapshotOf(t, st), r)
	if got := assignmentText(d); got != "Fits: A Fit" { // it asks for no licence
		t.Error(got)
	}
	d.Assignment[0].Flavor, d.Admitted.PodSets[0].Requests[0].Flavor = "B", "B"
	verified(t, st, r, preemption.Config{}, d)
	st.Flavors[1].Topology = queue.Topology{}
	if err := verify.Decision(st, r, preemption.Config{}, d); err == nil || !strings.Contains(err.Error(), `decision.assignment[0].flavor: "B" is not for pod set`) {
		t.Errorf("a flavor without topology: %v", err)
	}
}

// Edits of flavors come to what a state of them is, and failed ones to nothing.
func TestFlavorEdits(t *testing.T) {
	st := pair(inFlavors(4, 4), nil, queue.FlavorFungibility{})
	spot := queue.Flavor{Name: "A", NodeTaints: []workload.Taint{{Key: "spot", Effect: workload.NoSchedule}}}
	before := snapshotOf(t, st)
	after := edit(t, before, preemption.SetFlavor(queue.Flavor{Name: "B"}), preemption.SetFlavor(spot), preemption.RemoveFlavor("B"))
	spot.NodeTaints[0].Key = "changed" // the edit has a copy
	wantText(t, assignmentText(decide(t, after, asks(2))), "Fits: B Fit (A NotEligible)")
	wantText(t, assignmentText(decide(t, before, asks(2))), "Fits: A Fit", "before")
	st.Flavors = after.State().Flavors
	if want := []queue.Flavor{{Name: "A", NodeTaints: []workload.Taint{{Key: "spot", Effect: workload.NoSchedule}}}}; !cmp.Equal(st.Flavors, want) {
		t.Errorf("%+v", st.Flavors)
	}
	st.Flavors[0].NodeTaints[0].Key = "changed" // and so has the state
	admitted := edit(t, after, decide(t, after, asks(2)).Edits()...)
	if got := admitted.State(); !cmp.Equal(got.Flavors, after.State().Flavors) {
		t.Errorf("after an edit of workloads: %+v", got.Flavors)
	}
	if got := edit(t, after, preemption.RemoveFlavor("A"), preemption.SetQueue(st.Queues[0])).State().Flavors; len(got) > 0 {
		t.Errorf("removed, and %+v", got)
	}
	for _, c := range []struct {
		edits []preemption.Edit
		want  string
	}{
		{[]preemption.Edit{preemption.RemoveFlavor("B")}, `edits[0]: no flavor "B"`},
		{[]preemption.Edit{preemption.SetFlavor(queue.Flavor{Name: "C"}), preemption.RemoveFlavor("B")}, `edits[1]: no flavor "B"`},
		{[]preemption.Edit{preemption.SetFlavor(queue.Flavor{})}, `edits[0].name: is empty`},
		{[]preemption.Edit{preemption.Remove("nobody"), preemption.RemoveFlavor("A"), preemption.SetFlavor(queue.Flavor{Name: "C", NodeTaints: []workload.Taint{{Key: "k"}}})},
			`edits[0]: no workload "nobody" is admitted; edits[2].nodeTaints[0].effect: is not set`},
		{[]preemption.Edit{preemption.SetFlavor(queue.Flavor{Name: "C"}), preemption.Remove("nobody"), preemption.RemoveFlavor("A"), preemption.RemoveFlavor("B"),
			preemption.Remove("anybody"), preemption.RemoveFlavor("A")}, // what fails leaves A where it was
			`edits[1]: no workload "nobody" is admitted; edits[3]: no flavor "B"; edits[4]: no workload "anybody" is admitted`},
	} {
		if _, err := after.With(c.edits...); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	st.Flavors = []queue.Flavor{{Name: "x"}, {Name: "x"}}
	st.Queues[0].Cohort = "unknown"
	if _, err := preemption.NewSnapshot(st); err == nil || !strings.Contains(err.Error(), `flavors[1].name: "x" is also`) || !strings.Contains(err.Error(), "queues[0].cohort") {
		t.Error(err)
	}
}

// A label that no requirement is about, and a requirement about a label that no flavor of
// the group has, change nothing.
func otherKeysAreNothing(t *rapid.T, config preemption.Config) {
	st, r, d := drawOpen(t, config)
	other := cloneState(st)
	for i := range other.Flavors {
		if f := &other.Flavors[i]; rapid.Bool().Draw(t, "label") {
			if f.NodeLabels == nil {
				f.NodeLabels = map[string]string{}
			}
			f.NodeLabels["rack"] = "1"
		}
	}
	r.Workload = r.Workload.Clone()
	for i := range r.Workload.PodSets {
		if c := r.Workload.PodSets[i].NodeConstraints; c != nil {
			if c.NodeSelector == nil {
				c.NodeSelector = map[string]string{}
			}
			c.NodeSelector["floor"] = "1"
			for j := range c.NodeAffinity {
				e := &c.NodeAffinity[j].MatchExpressions
				*e = slices.Insert(*e, 0, workload.LabelRequirement{Key: "floor", Operator: workload.In, Values: []string{"1"}})
			}
		}
	}
	got := decideWith(t, config, snapshotOf(t, other), r)
	d.Admitted, got.Admitted = nil, nil // they hold what was asked for
	noDiff(t, "- before, + with other keys", d, got, sameDecision)
}

// The generators draw flavors that are eligible, and that are not for either reason.
func TestFlavorsAreDrawn(t *testing.T) {
	var tried, taints, requirements, none int
	var topology [preemption.OnlyTopology + 1]int
	records := preemptiontest.RecordsWithoutFlavors()
	for seed := range 1000 {
		record := records.Example(seed)
		d := decide(t, snapshotOf(t, record.State), *record.Request)
		for _, c := range d.Assignment {
			if noneEligible(c) {
				none++
			}
			for _, x := range c.Tried {
				tried++
				if x.Mismatch != nil && x.Mismatch.Topology != 0 {
					topology[x.Mismatch.Topology]++
				} else if x.Mismatch != nil && x.Mismatch.Taint != nil {
					taints++
				} else if x.Mismatch != nil {
					requirements++
				}
			}
		}
	}
	if taints*100 < 2*tried || requirements*100 < 2*tried || none < 5 || (taints+requirements)*2 > tried {
		t.Errorf("of %d flavors tried %d have a taint, %d a label that does not fit; %d times none does", tried, taints, requirements, none)
	}
	for m, n := range topology[1:] {
		if n*400 < tried || n*20 > tried {
			t.Errorf("of %d flavors tried %d have %v", tried, n, preemption.TopologyMismatch(m+1))
		}
	}
}

// The flavors of a snapshot come by name, however they were given.
func TestFlavorsComeByName(t *testing.T) {
	given := preemption.State{Flavors: []queue.Flavor{
		{Name: "spot", NodeLabels: map[string]string{"k": "s"}}, {Name: "h100", NodeLabels: map[string]string{"k": "h"}}, {Name: "a100", NodeLabels: map[string]string{"k": "a"}}}}
	var names string
	for _, f := range snapshotOf(t, given).State().Flavors {
		names += f.Name + f.NodeLabels["k"] + " "
	}
	if names != "a100a h100h spots " || given.Flavors[0].Name != "spot" {
		t.Errorf("%s; given %v", names, given.Flavors)
	}
}
