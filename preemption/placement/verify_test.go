package placement_test

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Every decision is one that Verify has nothing against.
func decisionsVerify(t *rapid.T) {
	st, r, c, d := draw(t)
	if rapid.Bool().Draw(t, "in an order of the caller") { // the other way round, by number of pods, or none
		c.Importance = rapid.SampledFrom([]func(a, b placement.Unit) int{
			func(a, b placement.Unit) int { return strings.Compare(b.Pods[0].ID, a.Pods[0].ID) },
			func(a, b placement.Unit) int { return len(a.Pods) - len(b.Pods) },
			func(a, b placement.Unit) int { return 0 },
		}).Draw(t, "importance")
		d = decide(t, c, snapshotOf(t, st), r)
	}
	verified(t, st, r, c, d)
}

func TestDecisionsVerify(t *testing.T) { rapid.Check(t, decisionsVerify) }

// So is every decision with set filters, or with a placement made outside.
func decisionsOfSetsVerify(t *rapid.T) {
	st, r, c := drawPlacer(t)
	if rapid.Bool().Draw(t, "no placer") {
		r.Placer = nil
	}
	d := decide(t, c, snapshotOf(t, st), r)
	verified(t, st, r, c, d)
}

// Verify finds each way to spoil a decision, each time. A way is false where it does not
// apply.
func TestSpoiltDecisions(t *testing.T) {
	type question struct {
		st placement.State
		r  placement.Request
		c  placement.Config
	}
	basic := func(q *question) bool {
		return isBasic(q.c, q.st, q.r)
	}
	timed := func(q *question, d *placement.Decision) bool {
		return d.Outcome == preemption.Wait && !d.RetryAt.IsZero() && !q.r.SkipFit && !basic(q)
	}
	refuses := func(q *question, d *placement.Decision) bool {
		return !d.Outcome.Succeeds() && len(d.Nominations) == 0 && !q.r.SkipFit && !basic(q)
	}
	ways := []struct {
		name string
		do   func(q *question, d *placement.Decision) bool
	}{
		{"a victim is left out", func(q *question, d *placement.Decision) bool {
			if len(d.Victims) == 0 || basic(q) {
				return false
			}
			d.Violations -= d.Victims[0].Violations
			for i := range d.Victims {
				if d.Victims[i].Order > d.Victims[0].Order {
					d.Victims[i].Order--
				}
			}
			d.Victims = d.Victims[1:]
			return true
		}},
		{"another unit yields besides", func(q *question, d *placement.Decision) bool {
			for _, p := range q.st.Pods {
				named := slices.ContainsFunc(d.Victims, func(v placement.Victim) bool { return slices.Contains(v.Pods, p.ID) })
				if !named && len(d.Victims) > 0 && !basic(q) {
					v := placement.Victim{Pods: []string{p.ID}, Priority: p.Priority, Order: len(d.Victims) + 1}
					d.Victims = append(d.Victims, v)
					slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return slices.Compare(a.Pods, b.Pods) })
					return true
				}
			}
			return false
		}},
		{"a wrong priority", func(_ *question, d *placement.Decision) bool {
			if len(d.Victims) > 0 {
				d.Victims[0].Priority++
			}
			return len(d.Victims) > 0
		}},
		{"an unknown pod", func(_ *question, d *placement.Decision) bool {
			if len(d.Victims) > 0 {
				d.Victims[0].Pods[0] += "x"
			}
			return len(d.Victims) > 0
		}},
		{"a group is split", func(_ *question, d *placement.Decision) bool {
			for i := range d.Victims {
				if len(d.Victims[i].Pods) > 1 {
					d.Victims[i].Pods = d.Victims[i].Pods[1:]
					return true
				}
			}
			return false
		}},
		{"a violation more", func(_ *question, d *placement.Decision) bool {
			d.Violations++
			return true
		}},
		{"two numbers exchanged", func(q *question, d *placement.Decision) bool {
			if len(d.Victims) < 2 || basic(q) {
				return false
			}
			d.Victims[0].Order, d.Victims[1].Order = d.Victims[1].Order, d.Victims[0].Order
			return true
		}},
		{"an unknown node", func(_ *question, d *placement.Decision) bool {
			if len(d.Nominations) > 0 {
				d.Nominations[0].Node += "x"
			}
			return len(d.Nominations) > 0
		}},
		{"a pod twice", func(_ *question, d *placement.Decision) bool {
			d.Nominations = append(d.Nominations, d.Nominations...)
			return len(d.Nominations) > 0
		}},
		{"RetryAt too early", func(q *question, d *placement.Decision) bool {
			ok := timed(q, d)
			d.RetryAt = d.RetryAt.Add(-1)
			return ok
		}},
		{"RetryAt too late", func(q *question, d *placement.Decision) bool {
			ok := timed(q, d)
			d.RetryAt = d.RetryAt.Add(1)
			return ok
		}},
		{"Preempt and not Impossible", func(q *question, d *placement.Decision) bool {
			ok := d.Outcome == preemption.Preempt && !q.r.SkipFit && !basic(q)
			d.Outcome, d.Victims, d.Nominations, d.Violations = preemption.Impossible, nil, nil, 0
			return ok
		}},
		{"Preempt and not Fits", func(q *question, d *placement.Decision) bool {
			ok := d.Outcome == preemption.Preempt && !basic(q)
			d.Outcome, d.Victims, d.Violations = preemption.Fits, nil, 0
			return ok
		}},
		{"Fits and not Impossible", func(q *question, d *placement.Decision) bool {
			ok := d.Outcome == preemption.Fits && !q.r.SkipFit && !basic(q)
			d.Outcome, d.Nominations = preemption.Impossible, nil
			return ok
		}},
		{"Impossible and not Wait", func(q *question, d *placement.Decision) bool {
			ok := d.Outcome == preemption.Impossible && !q.r.SkipFit && !basic(q) && !q.r.Now.IsZero()
			d.Outcome, d.RetryAt = preemption.Wait, q.r.Now.Add(time.Hour)
			return ok
		}},
		{"another reason", func(q *question, d *placement.Decision) bool {
			d.Reason = d.Reason%placement.ReasonBudgets + 1
			return refuses(q, d)
		}},
		{"a place more", func(q *question, d *placement.Decision) bool {
			d.Placeable++
			return refuses(q, d)
		}},
		{"less is missing", func(q *question, d *placement.Decision) bool {
			if len(d.Shortage) > 0 {
				d.Shortage[0].Missing--
			}
			return len(d.Shortage) > 0 && refuses(q, d)
		}},
		{"a blocker is left out", func(q *question, d *placement.Decision) bool {
			if len(d.Blockers) > 0 {
				d.Blockers = d.Blockers[1:]
				return refuses(q, d)
			}
			return false
		}},
		{"no outcome", func(_ *question, d *placement.Decision) bool {
			d.Outcome = 0
			return true
		}},
	}
	applied, said := map[string]int{}, map[string]string{}
	for seed := range 1500 {
		record := preemptiontest.PlacementRecords().Example(seed)
		q := question{record.State, *record.Request, preemptiontest.PlacementConfigs().Example(seed + 1)}
		s := must(placement.NewSnapshot(q.st))(t)
		p := must(placement.New(q.c))(t)
		for _, way := range ways {
			d, err := p.Decide(s, q.r) // each way spoils one of its own
			if err != nil {
				t.Fatal(err)
			}
			if !way.do(&q, &d) {
				continue
			}
			applied[way.name]++
			err = verify.Placement(q.st, q.r, q.c, d)
			if err == nil {
				t.Errorf("%d: %s: %+v", seed, way.name, d)
				continue
			}
			said[way.name] += err.Error() + "\n"
		}
	}
	for _, way := range ways {
		if t.Logf("%s: %d", way.name, applied[way.name]); applied[way.name] < 5 {
			t.Errorf("%s: %d times", way.name, applied[way.name])
		}
	}
	var b bytes.Buffer
	b.WriteString(spoiltHead)
	for _, way := range ways {
		lines := strings.Split(strings.TrimSuffix(said[way.name], "\n"), "\n")
		least := slices.MinFunc(lines, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
		fmt.Fprintf(&b, "%-30s %5d %08x %s\n", way.name, applied[way.name], crc32.ChecksumIEEE([]byte(said[way.name])), least)
	}
	keptIn(t, "spoilt.golden", b.Bytes())
}

const spoiltHead = `# What Verify says of spoilt decisions: how often each way applies, a checksum of all that is said,
# and the shortest error. A line changes only on purpose.
#
`

// Verify asks the set filters and the placer: it finds an outcome that they bar, and a place
// that they refuse.
func TestSpoiltDecisionsOfSets(t *testing.T) {
	applied := map[string]int{}
	records := rapid.Custom(func(t *rapid.T) (q struct {
		st placement.State
		r  placement.Request
		c  placement.Config
	}) {
		q.st, q.r, q.c = drawPlacer(t)
		if rapid.Bool().Draw(t, "no placer") {
			q.r.Placer = nil
		}
		return q
	})
	for seed := range 400 {
		q := records.Example(seed)
		d := decide(t, q.c, snapshotOf(t, q.st), q.r)
		spoilt, name := d, ""
		switch {
		case q.r.SkipFit || isBasic(q.c, q.st, q.r):
			continue
		case d.Outcome == preemption.Preempt:
			spoilt, name = placement.Decision{Outcome: preemption.Impossible}, "Preempt and not Impossible"
		case d.Outcome == preemption.Fits:
			spoilt, name = placement.Decision{Outcome: preemption.Impossible}, "Fits and not Impossible"
		case d.Outcome == preemption.Impossible:
			spoilt.Outcome, spoilt.RetryAt, name = preemption.Wait, q.r.Now.Add(time.Hour), "Impossible and not Wait"
		default:
			continue
		}
		applied[name]++
		if err := verify.Placement(q.st, q.r, q.c, spoilt); err == nil {
			t.Errorf("%d: %s: %+v", seed, name, d)
		}
	}
	for _, name := range []string{"Preempt and not Impossible", "Fits and not Impossible", "Impossible and not Wait"} {
		if t.Logf("%s: %d", name, applied[name]); applied[name] < 5 {
			t.Errorf("%s: %d times", name, applied[name])
		}
	}
	// The skew forbids zone a, although there is room without a pod that does not count.
	st, r := world(t, "a1 3: a/2000 b/2000 other/1", "b1 1: c/5"), pending(0)
	zoned(&st, &r)
	r.SetFilters = []placement.SetFilter{preemptiontest.Spread{TopologyKey: "zone", Label: "app", MaxSkew: 1}}
	right := decide(t, placement.Config{}, snapshotOf(t, st), r)
	wrong := right
	wrong.Nominations = []placement.Nomination{{Pod: "in0", Node: "a1"}}
	wrong.Victims = []placement.Victim{{Pods: []string{"other"}, Priority: 1, Order: 1}}
	for want, d := range map[string]placement.Decision{"": right, "decision.nominations: there is no room for them": wrong} {
		err := verify.Placement(st, r, placement.Config{}, d)
		if got := fmt.Sprint(err); got != cmp.Or(want, "<nil>") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A pod that keeps the place of its nomination is placed before the others, so a rule about sets
// may permit one of these only then: also one that may not keep its place at first, and finds it again.
func TestVerifyKeptNominations(t *testing.T) {
	web, cpu := map[string]string{"app": "web"}, func(n int64) workload.Resources { return workload.Resources{"cpu": n} }
	st := placement.State{
		Nodes: []workload.Node{{Name: "a0", Capacity: cpu(2), Labels: map[string]string{"zone": "a"}}, {Name: "b0", Capacity: cpu(4), Labels: map[string]string{"zone": "b"}}},
		Pods: []workload.Pod{
			{ID: "gone", Node: "a0", Requests: cpu(2), Labels: web, Terminating: true, Preempted: true},
			{ID: "stays", Node: "b0", Requests: cpu(2), Labels: web},
		},
		Nominated: []workload.Pod{{ID: "second", Group: "gang", Node: "a0", Requests: cpu(2), Labels: web}},
	}
	r := placement.Request{Group: "gang", MinCount: 2, Pods: []workload.Pod{
		{ID: "first", Requests: cpu(2), Labels: web, Nodes: []string{"b0"}}, {ID: "second", Requests: cpu(2), Labels: web},
	}, SetFilters: []placement.SetFilter{preemptiontest.Spread{TopologyKey: "zone", Label: "app", MaxSkew: 1}}}
	again := st
	again.Nominated = append(slices.Clone(st.Nominated), workload.Pod{ID: "first", Group: "gang", Node: "b0", Requests: cpu(2), Labels: web})
	for _, st := range []placement.State{st, again} {
		d := decide(t, placement.Config{}, snapshotOf(t, st), r)
		if d.Outcome != preemption.Wait || len(d.Nominations) != 2 {
			t.Fatalf("%+v", d)
		}
		verified(t, st, r, placement.Config{}, d)
	}
}

// Places that are found without the units that may yield may have room beside these, too: then none has to. With the
// lower pod there the best fit puts both small ones beside it, and the large one has no place.
func TestVerifyFitsWithoutVictims(t *testing.T) {
	cpu := func(n int64) workload.Resources { return workload.Resources{"cpu": n} }
	st := placement.State{
		Nodes: []workload.Node{{Name: "n0", Capacity: cpu(4)}, {Name: "n1", Capacity: cpu(2)}},
		Pods:  []workload.Pod{{ID: "lower", Node: "n0", Requests: cpu(1)}},
	}
	r := placement.Request{Group: "gang", Priority: 1, MinCount: 3, Now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), Pods: []workload.Pod{
		{ID: "small0", Requests: cpu(1)}, {ID: "small1", Requests: cpu(1)}, {ID: "large", Requests: cpu(3)},
	}}
	config := placement.Config{Order: placement.BestFit, MinRuntime: quota.Some(time.Hour)}
	waits := st
	waits.Nodes = append(slices.Clone(st.Nodes), workload.Node{Name: "n2", Capacity: cpu(3)})
	waits.Pods = append(slices.Clone(st.Pods), workload.Pod{ID: "leaves", Node: "n1", Requests: cpu(2), Terminating: true},
		workload.Pod{ID: "young", Node: "n2", Requests: cpu(3), Started: r.Now})
	for want, st := range map[preemption.Outcome]placement.State{preemption.Fits: st, preemption.Wait: waits} {
		d := decide(t, config, snapshotOf(t, st), r)
		if d.Outcome != want || len(d.Nominations) != 3 || len(d.Victims) > 0 || d.RetryAt.IsZero() != (want == preemption.Fits) {
			t.Fatalf("%+v", d)
		}
		verified(t, st, r, config, d)
	}
}

// A pod of a Basic group may have room that the nomination of another one, which lost it, leaves.
func TestVerifyRoomOfALostNomination(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cpu := func(n int64) workload.Resources { return workload.Resources{"cpu": n} }
	st := placement.State{
		Nodes: []workload.Node{{Name: "n0", Capacity: cpu(4)}, {Name: "n1", Capacity: cpu(2)}},
		Pods: []workload.Pod{
			{ID: "stays", Node: "n0", Requests: cpu(3)},
			{ID: "leaves", Node: "n1", Requests: cpu(2), Terminating: true, Preempted: true, TerminatingSince: now},
		},
		Groups:  []workload.PodGroup{{ID: "basic", Basic: true, Priority: 2}},
		Budgets: []workload.DisruptionBudget{{Name: "all", Selector: &workload.LabelSelector{}}},
		Nominated: []workload.Pod{
			{ID: "large", Priority: 2, Node: "n0", Requests: cpu(2)}, {ID: "waits", Priority: 2, Group: "basic", Node: "n1", Requests: cpu(2)},
		},
	}
	r := placement.Request{Group: "basic", Priority: 2, Now: now, Placer: preemptiontest.LastFit{}, Pods: []workload.Pod{
		{ID: "large", Requests: cpu(2)}, {ID: "small", Requests: cpu(1)}, {ID: "waits", Requests: cpu(2)},
	}}
	config := placement.Config{Mode: placement.ModeDesign, Budgets: placement.Hard}
	d := decide(t, config, snapshotOf(t, st), r)
	if d.Outcome != preemption.Wait || len(d.Nominations) != 2 {
		t.Fatalf("%+v", d)
	}
	verified(t, st, r, config, d)
}
