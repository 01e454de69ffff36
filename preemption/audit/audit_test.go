package audit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func job(id, queueName string, priority, gpus int64, since time.Duration) workload.Workload {
	return workload.Workload{ID: id, Queue: queueName, Priority: priority, ReservedAt: noon.Add(-since), PodSets: []workload.PodSet{
		{Name: "main", Count: gpus, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}},
	}}
}

// two is a cohort of two queues with four GPUs each: team borrows two, guest uses two, one of which leaves.
func two(t *testing.T) *preemption.Snapshot {
	t.Helper()
	of := func(name string) queue.Queue {
		return queue.Queue{Name: name, Cohort: "all", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 4}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}}
	}
	guest := of("guest")
	guest.MinRuntime = minruntime.Settings{Reclaim: quota.Some(time.Hour)}
	team := of("team")
	team.MinRuntime = guest.MinRuntime
	told := job("told", "guest", -1, 1, time.Hour)
	told.Evicted = true
	s, err := preemption.NewSnapshot(preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}}, Queues: []queue.Queue{team, guest},
		Admitted: []workload.Workload{told, job("old", "team", 0, 2, 2*time.Hour), job("young", "team", 0, 2, time.Minute),
			job("high", "team", 100, 2, 3*time.Hour), job("guest", "guest", 5, 1, time.Hour)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each verdict, and what stood in the way.
func TestVerdicts(t *testing.T) {
	ask := func(queueName string, priority, gpus int64) preemption.Request {
		w := job("new", queueName, priority, gpus, 0)
		w.ReservedAt = time.Time{}
		return preemption.Request{Workload: w, Now: noon}
	}
	gated := ask("guest", 0, 3)
	gated.Workload.Gates = gate.Gates{Names: []string{"g"}}
	type victim struct {
		Reason    preemption.VictimReason
		CouldStay bool
		Kept      preemption.Rule
	}
	for name, c := range map[string]struct {
		request   preemption.Request
		victims   []string
		verdict   audit.Verdict
		want      []victim
		avoidable int64
	}{
		"reclaimed":                     {ask("guest", 0, 3), []string{"old"}, audit.Right, []victim{{Reason: preemption.InCohortReclamation}}, 0},
		"what leaves already is enough": {ask("guest", 0, 1), []string{"old"}, audit.Fitted, []victim{{CouldStay: true}}, 1},
		"one too many": {ask("guest", 0, 3), []string{"old", "high"}, audit.TooMany,
			[]victim{{CouldStay: true}, {Reason: preemption.InCohortReclamation}}, 1},
		"a minimum runtime": {ask("guest", 0, 3), []string{"young"}, audit.NotPermitted, []victim{{Kept: preemption.RuleMinRuntime}}, 0},
		"a higher priority": {ask("team", 50, 2), []string{"high"}, audit.NotPermitted,
			[]victim{{Kept: preemption.RuleWithinClusterQueue}}, 0},
		"nothing is borrowed": {ask("team", 50, 2), []string{"guest"}, audit.NotPermitted,
			[]victim{{Kept: preemption.RuleWithinNominal}}, 0},
		"the other victim ends what it borrows": {ask("guest", 5, 4), []string{"high", "old"}, audit.NotPermitted,
			[]victim{{Kept: preemption.RuleWithinNominal}, {Kept: preemption.RuleWithinNominal}}, 2},
		"either could stay": {ask("team", 50, 2), []string{"guest", "high"}, audit.NotPermitted, []victim{{CouldStay: true}, {CouldStay: true}}, 1},
		"too large":         {ask("guest", 0, 30), []string{"old"}, audit.NotEnough, []victim{{}}, 0},
		"a closed gate": {gated, []string{"old"}, audit.NotPermitted,
			[]victim{{Reason: preemption.InCohortReclamation}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := audit.Judge(two(t), preemption.Config{}, audit.Eviction{Request: c.request, Victims: c.victims})
			if err != nil {
				t.Fatal(err)
			}
			var got []victim
			for _, v := range f.Victims {
				g := victim{v.Reason, v.CouldStay, 0}
				if v.Kept != nil {
					g.Kept = v.Kept.Rule
				}
				got = append(got, g)
			}
			if f.Verdict != c.verdict || !cmp.Equal(got, c.want) || f.Avoidable != c.avoidable || f.Lost != int64(len(c.victims)) {
				t.Errorf("%v %+v, %d of %d avoidable, want %v %+v, %d\n%+v", f.Verdict, got, f.Avoidable, f.Lost, c.verdict, c.want, c.avoidable, f)
			}
		})
	}
}

// While another queue has something to reclaim the request may not borrow: two workloads of its own queue have to leave, of equals any two,
// though one would be enough for a request that borrows. It does not matter whether the flavor was assigned.
func TestAnyOrderOfAnAttemptIsRight(t *testing.T) {
	of := func(name string, nominal int64) queue.Queue {
		return queue.Queue{Name: name, Cohort: "all", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: nominal}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}}
	}
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "all"}}, Queues: []queue.Queue{of("team", 4), of("other", 2), of("lends", 2)},
		Admitted: []workload.Workload{job("o", "other", 0, 3, time.Hour)}}
	for i := range 3 {
		st.Admitted = append(st.Admitted, job(fmt.Sprint("t", i), "team", 0, 1, time.Hour))
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	own := []audit.Victim{{Reason: preemption.InClusterQueue, Lost: 1}, {Reason: preemption.InClusterQueue, Lost: 1}}
	judge := func(r preemption.Request, victims ...string) bool {
		f, err := audit.Judge(s, preemption.Config{}, audit.Eviction{Request: r, Victims: victims})
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range victims {
			own[i].Workload = id
		}
		return f.Verdict == audit.Right && cmp.Equal(f.Victims, own)
	}
	for _, flavor := range []string{"h100", ""} {
		w := job("new", "team", 50, 3, 0)
		w.ReservedAt, w.PodSets[0].Requests[0].Flavor = time.Time{}, flavor
		r := preemption.Request{Workload: w, Now: noon}
		for _, victims := range [][]string{{"t0", "t1"}, {"t0", "t2"}, {"t1", "t2"}} {
			room := place{}
			if r.Room = room; !judge(r, victims...) || len(room) > 0 {
				t.Errorf("%s, %q: not right, or %v are not back in the room", victims, flavor, room)
			}
		}
		// It may start with fewer pods, and need not.
		r.Room, r.MinCounts = nil, []preemption.Replicas{{PodSet: "main", Count: 1}}
		if !judge(r, "t0", "t1") || !judge(r, "t0", "t2") {
			t.Errorf("%q: with fewer pods permitted not right", flavor)
		}
		if r.Workload.NeverPreempts = true; judge(r, "t0", "t2") {
			t.Errorf("%q: right of a workload that never preempts", flavor)
		}
	}
}

// Equals that have run their guaranteed time yield by that right, in whatever order they were taken, and others by their own.
func TestAnyOrderOfEqualsIsRightByTime(t *testing.T) {
	of := func(name string, nominal int64) queue.Queue {
		return queue.Queue{Name: name, Cohort: "all", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: nominal}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority, ReclaimWithinCohort: queue.Any, MinAdmitDuration: quota.Some(30 * time.Minute)}}
	}
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "all"}}, Queues: []queue.Queue{of("team", 4), of("other", 2), of("lends", 2)},
		Admitted: []workload.Workload{job("o", "other", 0, 3, time.Hour)}}
	for i := range 3 {
		w := job(fmt.Sprint("t", i), "team", int64(min(i, 1)-1), 1, time.Hour)
		w.Queued = noon.Add(-2 * time.Hour)
		st.Admitted = append(st.Admitted, w)
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	w := job("new", "team", 0, 3, 0)
	w.ReservedAt, w.Queued = time.Time{}, noon
	for _, victims := range [][]string{{"t2", "t0"}, {"t2", "t1"}} {
		f, err := audit.Judge(s, preemption.Config{}, audit.Eviction{Request: preemption.Request{Workload: w, Now: noon}, Victims: victims})
		if err != nil || f.Verdict != audit.Right {
			t.Fatalf("%+v, %v", f, err)
		}
		for _, v := range f.Victims {
			if want := map[bool]preemption.VictimReason{true: preemption.InClusterQueue, false: preemption.InClusterQueueTimeBased}[v.Workload == "t0"]; v.Reason != want {
				t.Errorf("%s yields by %v, want %v", v.Workload, v.Reason, want)
			}
		}
	}
}

// What leaves already is gone: of two victims that are not enough beside it one could stay.
func TestWhatLeavesIsGone(t *testing.T) {
	told := job("told", "team", 0, 1, time.Hour)
	told.Evicted = true
	s, err := preemption.NewSnapshot(preemption.State{
		Queues:   []queue.Queue{{Name: "team", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 3}}, Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}},
		Admitted: []workload.Workload{told, job("a", "team", 0, 1, time.Hour), job("b", "team", 0, 1, time.Hour)},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := job("new", "team", 50, 2, 0)
	w.ReservedAt = time.Time{}
	f, err := audit.Judge(s, preemption.Config{}, audit.Eviction{Request: preemption.Request{Workload: w, Now: noon}, Victims: []string{"a", "b"}})
	if err != nil || f.Verdict != audit.TooMany {
		t.Errorf("%+v, %v", f, err)
	}
}

// What keeps a victim is of its own queue, or of a cohort above it: others that borrow nothing are not in its way.
func TestOnlyWhatIsAboveAVictimKeepsIt(t *testing.T) {
	of := func(name, cohort string, nominal int64) queue.Queue {
		return queue.Queue{Name: name, Cohort: cohort, Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: nominal}},
			Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}}
	}
	s, err := preemption.NewSnapshot(preemption.State{
		Cohorts:  []queue.Cohort{{Name: "all"}, {Name: "idle", Parent: "all"}, {Name: "busy", Parent: "all", MinRuntime: minruntime.Settings{Reclaim: quota.Some(time.Hour)}}, {Name: "below", Parent: "busy"}},
		Queues:   []queue.Queue{of("a", "all", 2), of("b", "all", 2), of("c", "idle", 2), of("y", "below", 1), of("z", "busy", 1)},
		Admitted: []workload.Workload{job("b", "b", 0, 1, time.Hour), job("c", "c", 0, 1, time.Hour), job("y", "y", 0, 1, time.Hour), job("z", "z", 0, 5, time.Minute)},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := job("new", "a", 0, 1, 0)
	w.ReservedAt = time.Time{}
	for victim, want := range map[string]preemption.Blocker{"z": {Rule: preemption.RuleMinRuntime, Queue: "z", Workload: "z"},
		"c": {Rule: preemption.RuleWithinNominal, Cohort: "idle"}, "b": {Rule: preemption.RuleWithinNominal, Queue: "b"}, "y": {Rule: preemption.RuleWithinNominal, Cohort: "below"}} {
		f, err := audit.Judge(s, preemption.Config{}, audit.Eviction{Request: preemption.Request{Workload: w, Now: noon}, Victims: []string{victim}})
		if err != nil || f.Verdict != audit.NotPermitted {
			t.Fatalf("%s: %+v, %v", victim, f, err)
		}
		kept := f.Victims[0].Kept
		if kept == nil || kept.Rule != want.Rule || kept.Queue != want.Queue || kept.Cohort != want.Cohort || kept.Workload != want.Workload {
			t.Errorf("%s: kept by %+v, want %+v", victim, kept, want)
		}
	}
}

// place is room for everybody, which knows who is removed.
type place map[string]bool

func (p place) Remove(id string)  { p[id] = true }
func (p place) Restore(id string) { delete(p, id) }
func (p place) Fits() bool        { return true }

// An eviction that loses less than the rules permit could not have lost less.
func TestNothingIsAvoidableBelowTheRules(t *testing.T) {
	w := job("new", "guest", 0, 3, 0)
	w.ReservedAt = time.Time{}
	st := two(t).State()
	for i := range st.Admitted {
		if st.Admitted[i].ID == "old" { // two of one GPU each in place of one of two
			st.Admitted[i].PodSets[0].Count = 1
		}
	}
	st.Admitted = append(st.Admitted, job("older", "team", 0, 1, 4*time.Hour))
	st.Admitted = slices.DeleteFunc(st.Admitted, func(w workload.Workload) bool { return w.ID == "high" })
	st.Admitted = append(st.Admitted, job("high", "team", 100, 2, time.Minute))
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	f, err := audit.Judge(s, preemption.Config{}, audit.Eviction{Request: preemption.Request{Workload: w, Now: noon}, Victims: []string{"young"}})
	if err != nil || f.Verdict != audit.NotPermitted || len(f.Instead.Victims) < 2 || f.Avoidable != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// What is reserved and what others use keep a victim together: neither is lost where it is judged alone.
func TestWhatIsReservedIsUsed(t *testing.T) {
	st := two(t).State()
	for i := range st.Queues {
		if q := &st.Queues[i]; q.Name == "guest" {
			q.Quotas[0].Nominal, q.Reserved = 5, []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 2}}
		}
	}
	for i := range st.Admitted {
		if w := &st.Admitted[i]; w.ID == "guest" {
			w.PodSets[0].Count = 2
		}
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	w := job("new", "guest", 0, 1, 0)
	w.ReservedAt = time.Time{}
	f, err := audit.Judge(s, preemption.Config{}, audit.Eviction{Request: preemption.Request{Workload: w, Now: noon}, Victims: []string{"young"}})
	if err != nil || f.Verdict != audit.NotPermitted || f.Victims[0].Kept == nil || f.Victims[0].Kept.Rule != preemption.RuleMinRuntime {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestBadInput(t *testing.T) {
	r := preemption.Request{Workload: job("new", "guest", 0, 1, 0), Now: noon}
	r.Workload.ReservedAt = time.Time{}
	const several = `victims[1]: "nobody" does not run; victims[2]: "old" is there twice; victims[3]: "told" was told to leave before`
	for want, e := range map[string]audit.Eviction{
		"victims: there is none":  {Request: r},
		several:                   {Request: r, Victims: []string{"old", "nobody", "old", "told"}},
		"request.now: is not set": {Request: preemption.Request{Workload: r.Workload}, Victims: []string{"old"}},
	} {
		f, err := audit.Judge(two(t), preemption.Config{}, e)
		if err == nil || err.Error() != want || f.Verdict != 0 {
			t.Errorf("%v, %+v; want %q", err, f, want)
		}
	}
	for _, c := range []preemption.Config{{Sharing: 99}, {Sharing: preemption.KAI}} {
		if _, err := audit.Judge(two(t), c, audit.Eviction{Request: r, Victims: []string{"old"}}); err == nil {
			t.Errorf("sharing %d is no fault", c.Sharing)
		}
	}
}
