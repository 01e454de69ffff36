package placement_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// What counts as gone or placed is as after the edits that say so, and a unit apart has the places that it has alone: its own pods gone,
// their nodes closed.
func TestPlacesBesideAreThoseAfterEdits(t *testing.T) {
	found, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		record := preemptiontest.PlacementRecords().Draw(t, "record")
		p, err := placement.New(preemptiontest.PlacementConfigs().Draw(t, "config"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := placement.NewSnapshot(record.State)
		if err != nil {
			t.Fatal(err)
		}
		chance := func(what string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 }
		var beside placement.Beside
		var edits []placement.Edit
		var gone, others []workload.Pod
		for _, w := range record.State.Pods {
			if !chance("gone") {
				others = append(others, w)
				continue
			}
			// An ID that is listed twice is gone once.
			beside.Gone, edits = append(beside.Gone, w.ID, w.ID), append(edits, placement.Remove(w.ID))
			gone = append(gone, w)
		}
		for _, w := range record.Request.Pods {
			if node := rapid.SampledFrom(record.State.Nodes).Draw(t, "node"); chance("placed") {
				w.Node = node.Name
				beside.Placed, edits = append(beside.Placed, w), append(edits, placement.Run(w))
			}
		}
		if chance("domains") {
			names := []string{record.State.Nodes[0].Name, record.State.Nodes[len(record.State.Nodes)-1].Name}
			beside.Domains = func(unit int) []placement.Domain { return []placement.Domain{{Name: "d", Nodes: names[unit%2:]}} }
		}
		beside.Apart = chance("apart")
		if beside.Apart {
			gone = append(gone, others...)
		}
		units := unitsOf(gone)
		got, err := p.Places(s, units, beside)
		if err != nil {
			t.Fatal(err)
		}
		after, err := s.With(edits...)
		if err != nil {
			t.Fatal(err)
		}
		want := make([][]placement.Nomination, len(units))
		if !beside.Apart {
			want, err = p.Places(after, units, placement.Beside{Domains: beside.Domains})
		}
		for i, u := range units {
			if beside.Apart && err == nil {
				want[i], err = placesAlone(p, s, after, u, beside, i)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for _, places := range got {
			if places == nil {
				refused++
			} else {
				found++
			}
		}
	})
	t.Logf("%d units have places, %d have none", found, refused)
	if min(found, refused) == 0 {
		t.Error("all units have places, or none has")
	}
}

// placesAlone returns the places of a unit after the edits, on nodes where it does not run.
func placesAlone(p *placement.Preemptor, s, after *placement.Snapshot, u placement.Unit, beside placement.Beside, unit int) ([]placement.Nomination, error) {
	var edits []placement.Edit
	for _, w := range u.Pods {
		if len(w.Claims) > 0 {
			return nil, nil
		}
		ran, _ := s.Find(w.ID)
		node, _ := s.Node(ran.Node)
		node.Unschedulable = true
		edits = append(edits, placement.SetNode(node))
		if _, runs := after.Find(w.ID); runs {
			edits = append(edits, placement.Remove(w.ID))
		}
	}
	apart, err := after.With(edits...)
	if err != nil {
		return nil, err
	}
	of := placement.Beside{}
	if beside.Domains != nil {
		of.Domains = func(int) []placement.Domain { return beside.Domains(unit) }
	}
	places, err := p.Places(apart, []placement.Unit{u}, of)
	if err != nil {
		return nil, err
	}
	return places[0], nil
}

// unitsOf makes units of pods, of one or two, as they wait to start anew.
func unitsOf(pods []workload.Pod) (units []placement.Unit) {
	for i, w := range pods {
		w = workload.Pod{ID: w.ID, Requests: w.Requests, Labels: w.Labels, Nodes: w.Nodes, Group: w.Group, Claims: w.Claims, Namespace: w.Namespace}
		if last := len(units) - 1; i%3 == 2 {
			units[last].Pods = append(units[last].Pods, w)
		} else {
			units = append(units, placement.Unit{Pods: []workload.Pod{w}})
		}
	}
	return units
}

func TestPlacesBesideOfAnUnknownNode(t *testing.T) {
	beside := placement.Beside{Placed: []workload.Pod{{ID: "p", Node: "nowhere"}}}
	if _, err := new(placement.Preemptor).Places(nil, nil, beside); err == nil || err.Error() != `beside.placed[0].node: unknown node "nowhere"` {
		t.Error(err)
	}
}
