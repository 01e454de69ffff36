package audit_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// drawnPods is a cluster, a request about nodes in it, and a configuration.
func drawnPods(t *rapid.T) (placement.Record, *placement.Snapshot, placement.Config) {
	r := preemptiontest.PlacementRecords().Draw(t, "record")
	c := preemptiontest.PlacementConfigs().Draw(t, "config")
	c.MaxRetrySteps, c.MaxBlockers = -1, 0
	r.Request.Resize = false
	s, err := placement.NewSnapshot(r.State)
	if err != nil {
		t.Fatal(err)
	}
	return r, s, c
}

// isOdd reports whether a request is one that JudgePods does not know, or package verify not as well: each of its pods is decided about
// alone, or it shares a claim with pods that run, which bind it to their nodes as long as they do.
func isOdd(s *placement.Snapshot, c placement.Config, r *placement.Request) bool {
	for p := range s.Pods() {
		for _, id := range p.Claims {
			if slices.ContainsFunc(r.Pods, func(o workload.Pod) bool { return slices.Contains(o.Claims, id) }) {
				return true
			}
		}
	}
	g, known := s.Group(r.Group)
	return known && g.Basic && c.Mode == placement.ModeDesign
}

// stays reports whether a pod of a unit was not told to stop.
func stays(u placement.Unit) bool {
	return slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return !p.Terminating })
}

// named are pods of units, one of each, and podsOf all of them.
func named(units []placement.Unit) (ids []string) {
	for _, u := range units {
		ids = append(ids, u.Pods[slices.IndexFunc(u.Pods, func(p workload.Pod) bool { return !p.Terminating })].ID)
	}
	return ids
}

func podsOf(u placement.Unit, c placement.Config) (ids []string) {
	for _, p := range u.Pods {
		if c.Mode == placement.ModeInPlace || !p.Terminating {
			ids = append(ids, p.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// TestVictimsOfDecisionsOnNodesAreRight: what Decide and Placements choose is right, and with a victim more it is not.
func TestVictimsOfDecisionsOnNodesAreRight(t *testing.T) {
	reached, spoilt, better := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r, s, c := drawnPods(t)
		p, err := placement.New(c)
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Decide(s, *r.Request)
		if err != nil {
			t.Fatal(err)
		}
		if d.Outcome != preemption.Preempt || isOdd(s, c, r.Request) {
			return
		}
		ways := []placement.Placement{d.Placement}
		if r.Request.Group == "" {
			all, err := p.Placements(s, *r.Request)
			if err != nil {
				t.Fatal(err)
			}
			ways = append(ways, rapid.SampledFrom(all).Draw(t, "way"))
		}
		for _, way := range ways {
			var units []placement.Unit
			var others []placement.Unit
			for _, u := range s.Units() {
				switch {
				case !stays(u):
				case slices.ContainsFunc(way.Victims, func(v placement.Victim) bool { return slices.Contains(v.Pods, named([]placement.Unit{u})[0]) }):
					units = append(units, u)
				default:
					others = append(others, u)
				}
			}
			if len(units) == 0 {
				continue // those that leave already are chosen once more
			}
			e := audit.PodEviction{Request: *r.Request, Placed: way.Nominations, Victims: named(units)}
			f, err := audit.JudgePods(s, c, e)
			if err != nil || f.Verdict != audit.Right {
				t.Fatalf("%+v: %+v, %v", way, f, err)
			}
			reached++
			if f.Better {
				better++
			}
			if way := f.Least; len(way.Victims) == 0 && f.Avoidable > 0 {
				t.Fatalf("%d could be kept, and nothing says how: %+v", f.Avoidable, f)
			}
			if len(others) > 0 {
				more := rapid.SampledFrom(others).Draw(t, "one more")
				e.Victims = append(e.Victims, named([]placement.Unit{more})...)
				f, err = audit.JudgePods(s, c, e)
				if err != nil || f.Verdict == audit.Right && c.Mode == placement.ModeDesign {
					t.Fatalf("with %v, too: %+v, %v", podsOf(more, c), f, err)
				}
				spoilt++
			}
		}
	})
	if !testing.Short() && (reached < 10 || spoilt < 10 || better == 0) {
		t.Fatalf("only %d decisions preempt, %d are spoilt, and %d have a better one", reached, spoilt, better)
	}
}

// TestJudgesAgreeOnNodes: a drawn set of victims is right where the judge of another hand accepts it, alone or with some of those
// that were told before, and only there.
func TestJudgesAgreeOnNodes(t *testing.T) {
	count := map[audit.Verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		r, s, c := drawnPods(t)
		r.Request.SkipFit = false // then package verify does not ask whether somebody had to leave
		units := slices.DeleteFunc(s.Units(), func(u placement.Unit) bool { return !stays(u) })
		if len(units) == 0 || isOdd(s, c, r.Request) {
			return
		}
		var victims []placement.Unit
		for range rapid.IntRange(1, 3).Draw(t, "victims") {
			u := rapid.SampledFrom(units).Draw(t, "victim")
			if !slices.ContainsFunc(victims, func(v placement.Unit) bool { return v.Pods[0].ID == u.Pods[0].ID }) {
				victims = append(victims, u)
			}
		}
		placed := drawnPlaces(t, &r, s, c, victims)
		if len(placed) == 0 {
			return
		}
		f, err := audit.JudgePods(s, c, audit.PodEviction{Request: *r.Request, Placed: placed, Victims: named(victims)})
		if err != nil {
			t.Fatal(err)
		}
		if c.Mode == placement.ModeInPlace && f.Instead.Outcome == preemption.Wait {
			return // as built it waits for what it is nominated to, which package verify leaves open
		}
		count[f.Verdict]++
		if accepted := acceptedOnNodes(&r, s, c, placed, victims); accepted != (f.Verdict == audit.Right) {
			t.Fatalf("%v on %v: accepted %v\n%+v", named(victims), placed, accepted, f)
		}
	})
	for v := audit.Right; v <= audit.NotEnough; v++ {
		if count[v] == 0 && !testing.Short() {
			t.Errorf("no eviction is %v: %v", v, count)
		}
	}
}

// drawnPlaces are nodes for a pod, or those that a group gets once the victims are gone.
func drawnPlaces(t *rapid.T, r *placement.Record, s *placement.Snapshot, c placement.Config, victims []placement.Unit) []placement.Nomination {
	if r.Request.Group == "" {
		n := rapid.SampledFrom(r.State.Nodes).Draw(t, "on")
		if rapid.Bool().Draw(t, "there") {
			n.Name = victims[0].Pods[0].Node
		}
		return []placement.Nomination{{Pod: r.Request.Pods[0].ID, Node: n.Name}}
	}
	var edits []placement.Edit
	for _, u := range victims {
		for _, p := range u.Pods {
			edits = append(edits, placement.Remove(p.ID))
		}
	}
	without, err := s.With(edits...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := placement.New(c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decide(without, *r.Request)
	if err != nil || d.Outcome != preemption.Fits {
		return nil
	}
	return d.Nominations
}

// acceptedOnNodes reports whether package verify accepts the victims, alone or with some of those that were told before.
func acceptedOnNodes(r *placement.Record, s *placement.Snapshot, c placement.Config, placed []placement.Nomination, victims []placement.Unit) bool {
	var leaving []placement.Unit
	for _, u := range s.Units() {
		if !stays(u) && c.Mode == placement.ModeInPlace {
			leaving = append(leaving, u)
		}
	}
	for set := range 1 << min(len(leaving), 8) {
		d := placement.Decision{Outcome: preemption.Preempt, Placement: placement.Placement{Nominations: placed}, Now: r.Request.Now}
		all := slices.Clone(victims)
		for i, u := range leaving {
			if set>>i&1 == 1 {
				all = append(all, u)
			}
		}
		for _, u := range all {
			d.Victims = append(d.Victims, placement.Victim{Group: u.Group, Pods: podsOf(u, c), Priority: u.Priority})
		}
		slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
		var faults preemption.Faults
		errors.As(verify.Placement(r.State, *r.Request, c, d), &faults)
		// An eviction says nothing of budgets; that a victim elsewhere could stay is a fault of its own; who was told before is charged
		// to no budget.
		beside := func(f preemption.Fault) bool {
			return strings.HasSuffix(f.Path, "violations") || strings.HasSuffix(f.Problem, "are not in the domain") || set > 0 && f.Problem == "they violate a budget"
		}
		if set == 0 && slices.ContainsFunc(faults, func(f preemption.Fault) bool { return f.Problem == "they violate a budget" }) {
			return false
		}
		if !slices.ContainsFunc(faults, func(f preemption.Fault) bool { return !beside(f) }) {
			return true
		}
	}
	return false
}
