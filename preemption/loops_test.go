package preemption_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/loops"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func loopsOf(t failer, st preemption.State, c preemption.Config, waiting ...workload.Workload) loops.Loop {
	t.Helper()
	l, err := loops.Find(snapshotOf(t, st), waiting, c, loops.Options{Now: now})
	if err != nil {
		t.Fatalf("Loops: %v", err)
	}
	return l
}

// circleOf writes a circle in one line, from its first step by name.
func circleOf(l loops.Loop) string {
	var steps []string
	for _, s := range l.Steps {
		step := s.Workload + " fits"
		if len(s.Victims) > 0 {
			step = s.Workload + " preempts " + strings.Join(ids(s.Victims), " and ")
		}
		steps = append(steps, step)
	}
	if len(steps) == 0 {
		return ""
	}
	first := slices.Index(steps, slices.Min(steps))
	return strings.Join(append(steps[first:], steps[:first]...), "; ")
}

// The records of circles: Loops finds them, and with Stable nothing.
func TestLoopsFindsRecords(t *testing.T) {
	for _, c := range circles {
		record := readRecord(t, "testdata/"+c.record+".json")
		l := loopsOf(t, record.State, c.config, record.Request.Workload)
		if len(l.Steps) < 2 || l.Cut || l.Decisions != 6 {
			t.Errorf("%s: %d decisions, only who waits is asked, want 6: %+v", c.record, l.Decisions, l)
		}
		t.Log(c.record, ": ", circleOf(l))
		stable := preemption.Config{Sharing: preemption.Stable}
		if l := loopsOf(t, record.State, stable, record.Request.Workload); len(l.Steps) > 0 || l.Cut {
			t.Errorf("%s with Stable: %s", c.record, circleOf(l))
		}
	}
}

// waits is a workload that waits.
func waits(id, queueName string, priority, gpu, cpu int64) workload.Workload {
	w := workload.Workload{ID: id, Queue: queueName, Priority: priority, Created: now, Queued: now}
	p := workload.PodSet{Name: "main", Count: 1}
	for _, a := range []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: gpu}, {Flavor: "h100", Resource: "cpu", Amount: cpu}} {
		if a.Amount > 0 {
			p.Requests = append(p.Requests, a)
		}
	}
	w.PodSets = []workload.PodSet{p}
	return w
}

// Loops that were reported to Kueue, in states built from their descriptions. Some of them are
// none in this library; then the reason is given.
func TestLoopsOfKueue(t *testing.T) {
	reclaimsAny := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	both := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	borrows := func(p queue.PreemptionPolicy) queue.PreemptionPolicy {
		p.BorrowWithinCohort.Policy = queue.LowerPriority
		return p
	}
	of := func(name, cohort string, p queue.PreemptionPolicy, gpu, cpu int64) queue.Queue {
		return queue.Queue{Name: name, Cohort: cohort, Preemption: p, Quotas: []quota.Quota{
			{Flavor: "h100", Resource: "gpu", Nominal: gpu}, {Flavor: "h100", Resource: "cpu", Nominal: cpu},
		}}
	}
	root := []queue.Cohort{{Name: "root"}}
	tree := []queue.Cohort{{Name: "root"}, {Name: "left", Parent: "root"}, {Name: "right", Parent: "root"}}
	fair := preemption.Config{Sharing: preemption.Fair}
	final := preemption.Config{Sharing: preemption.Fair, Strategies: []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}}
	for _, c := range []struct {
		issue   int
		about   string
		config  preemption.Config
		cohorts []queue.Cohort
		queues  []queue.Queue
		waiting []workload.Workload
		circle  string
	}{
		{
			3779, "an infinite loop in fair sharing, with a tree of cohorts and borrowing", fair, tree,
			[]queue.Queue{of("a", "left", both, 1, 0), of("b", "right", both, 2, 0)},
			[]workload.Workload{waits("a-large", "a", 1, 3, 0), waits("a-small", "a", 0, 1, 0), waits("b-large", "b", 1, 3, 0)},
			"a-large preempts a-small; b-large preempts a-large; a-small preempts b-large",
		},
		{
			4589, "borrowWithinCohort with fair sharing; it is not read there, the circle is that of the shares", fair, root,
			[]queue.Queue{of("a", "root", borrows(both), 1, 0), of("b", "root", borrows(both), 2, 0)},
			[]workload.Workload{waits("a-large", "a", 1, 3, 0), waits("a-small", "a", 0, 1, 0), waits("b-large", "b", 1, 3, 0)},
			"a-large preempts a-small; b-large preempts a-large; a-small preempts b-large",
		},
		{
			2821, "preempt, admit, preempt without end, with borrowWithinCohort", preemption.Config{}, root,
			[]queue.Queue{of("a", "root", borrows(reclaimsAny), 1, 0), of("b", "root", borrows(reclaimsAny), 2, 0)},
			[]workload.Workload{waits("a1", "a", 0, 1, 0), waits("a2", "a", 0, 2, 0), waits("b", "b", 1, 3, 0)},
			"a1 preempts b; a2 fits; b preempts a1 and a2",
		},
		{
			7393, "a reclaim while another resource is borrowed", fair, root,
			[]queue.Queue{of("a", "root", reclaimsAny, 3, 0), of("b", "root", reclaimsAny, 0, 3)},
			[]workload.Workload{waits("a", "a", 1, 2, 2), waits("b-cpu", "b", 1, 0, 2), waits("b-gpu", "b", 1, 3, 0)},
			"a preempts b-cpu and b-gpu; b-cpu preempts a; b-gpu fits",
		},
		{
			7101, "one workload preempted over and over, with LessThanOrEqualToFinalShare alone; here whoever preempts runs at once", final, root,
			[]queue.Queue{of("a", "root", reclaimsAny, 0, 0), of("b", "root", reclaimsAny, 0, 0), of("lends", "root", reclaimsAny, 4, 0)},
			[]workload.Workload{waits("a1", "a", 0, 2, 0), waits("a2", "a", 0, 2, 0), waits("b1", "b", 0, 1, 0), waits("b2", "b", 0, 4, 0)},
			"",
		},
		{
			6947, "one of 4 of 3 that can never run alternates with one that reclaims; here it preempts nobody", preemption.Config{}, root,
			[]queue.Queue{of("a", "root", both, 3, 0), of("b", "root", both, 0, 0)},
			[]workload.Workload{waits("borrows", "b", 0, 3, 0), waits("reclaims", "a", 0, 3, 0), waits("too large", "a", 1, 4, 0)},
			"",
		},
	} {
		t.Run(fmt.Sprint("kueue ", c.issue), func(t *testing.T) {
			st := preemption.State{Cohorts: c.cohorts, Queues: c.queues}
			if l := loopsOf(t, st, c.config, c.waiting...); circleOf(l) != c.circle || l.Cut {
				t.Errorf("%s: %q after %+v, want %q", c.about, circleOf(l), l.Before, c.circle)
			}
			stable := preemption.Config{Sharing: preemption.Stable}
			if l := loopsOf(t, st, stable, c.waiting...); len(l.Steps) > 0 || l.Cut {
				t.Errorf("with Stable: %s", circleOf(l))
			}
		})
	}
}

// What Loops finds is a circle: each step is a decision, and after the last everything is as it
// was before the first. It finds none where there is none, and one where a run in queue order
// does not end.
func loopsAreCircles(t *rapid.T) {
	s := rivals(t)
	if len(s.waiting) > 5 {
		s.waiting = s.waiting[:5]
	}
	if rapid.IntRange(0, 3).Draw(t, "as Kueue") > 0 {
		s.config = preemption.Config{Sharing: preemption.Fair}
	}
	if rapid.IntRange(0, 2).Draw(t, "with rules") == 0 {
		s.state.Rules = []rules.Config{drawRules(t, &s.state, &s.waiting[0])}
		s.config.Compat.RulesAlone = rapid.Bool().Draw(t, "rules alone")
	}
	l := loopsOf(t, s.state, s.config, s.waiting...)
	if s.knownToLoop() == "" && len(l.Steps) > 0 {
		t.Fatalf("%s", circleOf(l))
	}
	if _, _, loops := s.play(t, func(int) int { return 0 }); loops && len(l.Steps) == 0 && !l.Cut {
		t.Fatalf("a run in queue order does not end, but Loops finds nothing: %+v", l)
	}
	snapshot, waiting := snapshotOf(t, s.state), map[string]workload.Workload{}
	for _, w := range s.waiting {
		waiting[w.ID] = w
	}
	first := ""
	for i, step := range append(append([]loops.Step{}, l.Before...), l.Steps...) {
		if i == len(l.Before) {
			first = fmt.Sprint(snapshot.State().Admitted)
		}
		w, ok := waiting[step.Workload]
		d := decideWith(t, s.config, snapshot, preemption.Request{Workload: w, Now: now})
		if !ok || !d.Outcome.Succeeds() || fmt.Sprint(ids(d.Victims)) != fmt.Sprint(ids(step.Victims)) {
			t.Fatalf("step %d, %+v: the decision is %v", i, step, text(d))
		}
		delete(waiting, w.ID)
		var back []workload.Workload
		snapshot, back = evict(t, snapshot, d.Victims)
		for _, w := range back {
			waiting[w.ID] = w
		}
		w = d.Assignment.Pin(w)
		w.ReservedAt = now
		snapshot = edit(t, snapshot, preemption.Admit(w))
	}
	if last := fmt.Sprint(snapshot.State().Admitted); len(l.Steps) > 0 && last != first {
		t.Fatalf("%s: after the circle %s, before %s", circleOf(l), last, first)
	}
}

func TestLoopsAreCircles(t *testing.T) { rapid.Check(t, loopsAreCircles) }

// The law draws circles.
func TestLoopsAreDrawn(t *testing.T) {
	found, generator := 0, rapid.Custom(rivals)
	for seed := range 600 {
		s := generator.Example(seed)
		s.waiting = s.waiting[:min(5, len(s.waiting))]
		rand.New(rand.NewSource(int64(seed))).Shuffle(len(s.waiting), func(i, j int) { s.waiting[i], s.waiting[j] = s.waiting[j], s.waiting[i] })
		if l := loopsOf(t, s.state, preemption.Config{Sharing: preemption.Fair}, s.waiting...); len(l.Steps) > 0 {
			found++
		}
	}
	if found < 3 {
		t.Errorf("%d of 600", found)
	}
	t.Logf("%d of 600 have a circle", found)
}

// The search ends where it is told to, and says so; faults have paths.
func TestLoopsEndsAndFails(t *testing.T) {
	record := readRecord(t, "testdata/loop-2-fair.json")
	s, c := snapshotOf(t, record.State), preemption.Config{Sharing: preemption.Fair}
	l, err := loops.Find(s, []workload.Workload{record.Request.Workload}, c, loops.Options{Now: now, MaxDecisions: 2})
	if err != nil || !l.Cut || l.Decisions != 2 || len(l.Steps) > 0 {
		t.Errorf("%v, %+v", err, l)
	}
	w := record.Request.Workload
	strange := w
	strange.ID, strange.Queue = "strange", "nowhere"
	for _, bad := range []struct {
		waiting []workload.Workload
		config  preemption.Config
		options loops.Options
		want    string
	}{
		{nil, c, loops.Options{}, "options.Now: is not set"},
		{nil, c, loops.Options{Now: time.Date(1, 2, 3, 0, 0, 0, 0, time.UTC)}, "options.Now: 0001-02-03"},
		{nil, c, loops.Options{Now: now, MaxDecisions: -1}, "options.MaxDecisions: -1 is negative"},
		{nil, preemption.Config{Search: 9}, loops.Options{Now: now}, "config.Search: Search(9) is unknown"},
		{[]workload.Workload{w, strange, w}, c, loops.Options{Now: now}, `pending[1].queue: unknown queue "nowhere"; pending[2].id: "pending" is also the ID of pending[0]`},
	} {
		if _, err := loops.Find(s, bad.waiting, bad.config, bad.options); err == nil || !strings.HasPrefix(err.Error(), bad.want) {
			t.Errorf("%v, want %s", err, bad.want)
		}
	}
	if l, err := loops.Find(nil, nil, c, loops.Options{Now: now}); err != nil || len(l.Steps) > 0 {
		t.Errorf("nobody runs, nobody waits: %v, %+v", err, l)
	}
}

// Who is told to stop as the search begins asks again once it has been taken, as any other.
func TestLoopsAskEvicted(t *testing.T) {
	both := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	both.BorrowWithinCohort.Policy = queue.LowerPriority
	of := func(name string, gpu int64) queue.Queue {
		return queue.Queue{Name: name, Cohort: "root", Preemption: both, Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: gpu}}}
	}
	goes := waits("b", "b", 1, 3, 0)
	goes.ReservedAt, goes.Evicted = now.Add(-time.Hour), true
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{of("a", 1), of("b", 2)}, Admitted: []workload.Workload{goes}}
	l := loopsOf(t, st, preemption.Config{}, waits("a1", "a", 0, 1, 0), waits("a2", "a", 0, 2, 0))
	if got, want := circleOf(l), "a1 preempts b; a2 fits; b preempts a1 and a2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The search ends with the situations that are as many steps away as the one that closed a circle:
// a circle that is closed later comes later.
func TestLoopsSearchesNoFurther(t *testing.T) {
	c := circles[0]
	record := readRecord(t, "testdata/"+c.record+".json")
	record.State.Queues = append(record.State.Queues, queue.Queue{Name: "aside", Quotas: gpus(2)})
	l := loopsOf(t, record.State, c.config, record.Request.Workload, waits("x", "aside", 0, 1, 0), waits("y", "aside", 0, 1, 0))
	if len(l.Steps) < 2 || l.Cut || l.Decisions != 33 {
		t.Errorf("%d decisions, want 33, those of three steps and none of a fourth: %s", l.Decisions, circleOf(l))
	}
}

// A limit of the workloads that steps go over cuts the search, and one that is not reached changes nothing.
func TestLoopsWithALimitOfWorkloads(t *testing.T) {
	for _, c := range circles {
		record := readRecord(t, "testdata/"+c.record+".json")
		s, waiting := snapshotOf(t, record.State), []workload.Workload{record.Request.Workload}
		find := func(most int) loops.Loop {
			return must(loops.Find(s, waiting, c.config, loops.Options{Now: now, MaxWorkloads: most}))(t)
		}
		want := find(0)
		all := find(1_000_000)
		if all.Workloads == 0 || all.Cut {
			t.Errorf("%s: %d workloads, cut %v", c.record, all.Workloads, all.Cut)
		}
		if diff := cmp.Diff(want.Steps, all.Steps); diff != "" || want.Decisions != all.Decisions {
			t.Errorf("%s: %d and %d decisions; - without, + with a limit:\n%s", c.record, want.Decisions, all.Decisions, diff)
		}
		if l := find(1); !l.Cut || l.Decisions != 1 || len(l.Steps) > 0 {
			t.Errorf("%s: with a limit of 1 %+v", c.record, l)
		}
	}
	if _, err := loops.Find(snapshotOf(t, preemption.State{}), nil, preemption.Config{}, loops.Options{Now: now, MaxWorkloads: -1}); err == nil {
		t.Error("a negative limit is no error")
	}
}
