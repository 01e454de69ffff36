package preemption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// thirds is a cohort of three queues with 4 GPUs each, and a queue "d" of another tree. running
// says what runs: "2b=3" is a workload of that name, in queue b, on 3 GPUs.
func thirds(t *testing.T, running string) preemption.State {
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "k"}}}
	for _, name := range []string{"a", "b", "c", "d"} {
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "k", Rules: "hero", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 4}}})
	}
	st.Queues[3].Cohort = ""
	for _, text := range strings.Fields(running) {
		id, number, _ := strings.Cut(text, "=")
		amount := int64(0)
		if _, err := fmt.Sscan(number, &amount); err != nil {
			t.Fatal(text, err)
		}
		w := onGPUs(id, id[1:2], amount)
		w.Labels = map[string]string{"id": id}
		st.Admitted = append(st.Admitted, w)
	}
	return st
}

func constrained(c ...rules.QuotaConstraint) (list []rules.CandidateSelector) {
	for _, q := range c {
		list = append(list, rules.CandidateSelector{Scope: rules.WithinCohortTree, Quota: q})
	}
	return list
}

// takes says who is taken and by which selectors.
func takes(d preemption.Decision) string {
	if !d.Possible() {
		return d.Outcome.String()
	}
	var list []string
	for _, v := range d.Victims {
		list = append(list, fmt.Sprint(v.Workload, v.Rules[0].Selectors))
	}
	return strings.Join(list, " ")
}

// decideVerified decides by one rule of the trigger Always, in both ways of sharing, and verifies it.
func decideVerified(t *testing.T, st preemption.State, r preemption.Request, selectors []rules.CandidateSelector, order ...rules.Ordering) preemption.Decision {
	t.Helper()
	rule := rules.Rule{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: selectors}
	st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{rule}, Ordering: order}}
	if err := rules.Validate(st.Rules); err != nil {
		t.Fatal(err)
	}
	d := decideWith(t, preemption.Config{}, snapshotOf(t, st), r)
	if fair := decideWith(t, preemption.Config{Sharing: preemption.Fair}, snapshotOf(t, st), r); takes(d) != takes(fair) {
		t.Errorf("%s, but in fair sharing %s", takes(d), takes(fair))
	}
	verified(t, st, r, preemption.Config{}, d)
	return d
}

func TestQuotaConstraints(t *testing.T) {
	const (
		reclaim = rules.BorrowingCapacityFromPreemptor
		final   = rules.DRSLessThanOrEqualToFinalShare
		initial = rules.DRSLessThanInitialShare
		either  = rules.DRSAllStrategies
	)
	only := func(id string, s rules.CandidateSelector) rules.CandidateSelector {
		s.LabelSelector = &workload.LabelSelector{MatchLabels: map[string]string{"id": id}}
		return s
	}
	own := rules.CandidateSelector{Scope: rules.WithinClusterQueue}
	for name, c := range map[string]struct {
		running   string
		asks      int64
		selectors []rules.CandidateSelector
		want      string
	}{
		"of a queue that borrows":                                 {"0a=2 1c=4 2b=3 3b=3", 2, constrained(reclaim), "2b[0]"},
		"a preemptor over its quota reclaims nothing":             {"0a=2 1c=4 2b=3 3b=3", 3, constrained(reclaim), "Impossible"},
		"a queue that stops borrowing drops out":                  {"2b=2 3b=2 4b=2 5c=2 6c=2 7c=2", 4, constrained(reclaim), "2b[0] 5c[0]"},
		"but not out of other selectors":                          {"2b=2 3b=2 4b=2 5c=2 6c=2 7c=2", 4, append(constrained(reclaim), only("3b", rules.CandidateSelector{Scope: rules.WithinCohortTree})), "2b[0] 3b[1]"},
		"of a queue that borrows, also over the own quota":        {"0a=2 1c=4 2b=3 3b=3", 3, constrained(rules.Borrowing), "2b[0]"},
		"nobody of a queue that no longer borrows":                {"0a=2 1c=3 2b=3 3b=4", 4, constrained(rules.Borrowing), "Impossible"},
		"nobody of the own queue":                                 {"0a=8 1b=4", 4, constrained(reclaim, final, initial, either), "Impossible"},
		"at most the share without the candidate":                 {"0a=2 1c=2 2b=5 3b=3", 3, constrained(final), "3b[0]"},
		"less than the share with the candidate":                  {"0a=2 1c=2 2b=5 3b=3", 3, constrained(initial), "2b[0]"},
		"one of the strategies":                                   {"0a=2 1c=2 2b=5 3b=3", 3, constrained(either), "2b[0]"},
		"the selectors that held when it was taken":               {"0a=2 1c=2 2b=5 3b=3", 3, constrained(either, final, initial, reclaim), "2b[0 2]"},
		"equal shares are not less":                               {"0a=2 1c=5 2b=5", 3, constrained(either), "Impossible"},
		"equal to the final share is enough":                      {"0a=2 1c=4 2b=1 3b=5", 1, constrained(final), "2b[0]"},
		"queues within their quota yield nothing":                 {"0a=4 1c=4 2b=4", 1, constrained(either), "Impossible"},
		"without own victims the share is too large":              {"5b=2 6b=5 7c=3 8a=2", 4, constrained(final), "Impossible"},
		"own victims make others eligible again":                  {"5b=2 6b=5 7c=3 8a=2", 4, append(constrained(final), own), "5b[0] 8a[1]"},
		"and are not put back if others need them":                {"5b=5 6b=2 7c=3 8a=2", 4, append(constrained(final), own), "5b[0] 8a[1]"},
		"the own queue's capacity is reclaimed after its victims": {"5b=5 6b=2 7c=3 8a=2", 4, append(constrained(reclaim), own), "5b[0] 8a[1]"},
		"an own victim that nobody needs is put back":             {"5b=5 6b=2 7c=3 8a=2", 4, []rules.CandidateSelector{{Scope: rules.OtherInCohortTree}, own}, "5b[0]"},
	} {
		st := thirds(t, c.running)
		d := decideVerified(t, st, preemption.Request{Workload: onGPUs("new", "a", c.asks), Now: now}, c.selectors)
		wantText(t, takes(d), c.want, "%s", name)
	}
}

// A chain: the own victim makes one of the nearer cohort eligible, and both together one of another
// cohort. The asking side has 8 and 16 with the request, the others 6 and 12 without theirs: all are
// refused but the own one. Then 6 is at most 6, and in the third look 12 at most 12.
func TestEachLookPermitsMore(t *testing.T) {
	label := func(name string) *workload.LabelSelector {
		return &workload.LabelSelector{MatchLabels: map[string]string{"id": name}}
	}
	gpus := func(nominal int64) []quota.Quota {
		return []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: nominal}}
	}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "root", Quotas: gpus(28)}, {Name: "near", Parent: "root"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "near", Rules: "chain", Quotas: gpus(0)}, {Name: "b", Cohort: "near", Quotas: gpus(0)},
			{Name: "c", Cohort: "root", Quotas: gpus(0)}, {Name: "d", Cohort: "root", Quotas: gpus(0)},
		},
		Rules: []rules.Config{{Name: "chain", Rules: []rules.Rule{
			{Name: "fair", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{
				{Scope: rules.WithinClusterQueue}, {Scope: rules.OtherInCohortTree, LabelSelector: label("yields"), Quota: rules.DRSLessThanOrEqualToFinalShare},
			}},
			{Name: "last", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.InsufficientQuota}, CandidateSelectors: []rules.CandidateSelector{
				{Scope: rules.OtherInCohortTree, LabelSelector: label("last")},
			}},
		}}},
	}
	for _, w := range []struct {
		id, queue, label string
		gpus             int64
	}{{"own", "a", "", 2}, {"near", "b", "yields", 2}, {"stays", "b", "", 6}, {"far", "c", "yields", 2}, {"remains", "c", "", 12}, {"last-1", "d", "last", 2}, {"last-2", "d", "last", 2}} {
		one := onGPUs(w.id, w.queue, w.gpus)
		one.Labels = map[string]string{"id": w.label}
		st.Admitted = append(st.Admitted, one)
	}
	for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
		config, r := preemption.Config{Sharing: sharing}, preemption.Request{Workload: onGPUs("new", "a", 6), Now: now}
		d := decideWith(t, config, snapshotOf(t, st), r)
		var got []string
		for _, v := range d.Victims {
			got = append(got, v.Workload)
		}
		if slices.Sort(got); strings.Join(got, " ") != "far near own" {
			t.Errorf("%v: %v %q", sharing, d.Outcome, got)
		}
		agrees(t, config, st, r, d)
		verified(t, st, r, config, d)
	}
}

// "AnyClusterQueue reaches other trees; shares compare inside one tree only."
func TestConstraintsDoNotReachOtherTrees(t *testing.T) {
	for _, c := range append(rules.QuotaConstraints(), "") {
		st := thirds(t, "0d=6")
		r := preemption.Request{Workload: onGPUs("new", "a", 2), Now: now, Room: &space{map[string]int{"0d": 1}, 1, map[string]bool{}}}
		s := []rules.CandidateSelector{{Scope: rules.AnyClusterQueue, Quota: c}}
		want := "Impossible"
		if c == "" {
			want = "0d[0]"
		}
		wantText(t, takes(decideVerified(t, st, r, s)), want, "%q", c)
	}
}

// Each cohort between the candidate's queue and the common one must borrow, and a request has the
// advantage if it fits in the quota of a cohort below the common one.
func TestQuotaConstraintsOfCohorts(t *testing.T) {
	gpu := func(nominal int64) []quota.Quota {
		return []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: nominal}}
	}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "root"}, {Name: "left", Parent: "root", Quotas: gpu(4)}, {Name: "right", Parent: "root"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "left", Rules: "hero"}, {Name: "b", Cohort: "right", Quotas: gpu(2)}, {Name: "c", Cohort: "right", Quotas: gpu(2)},
		},
	}
	r := preemption.Request{Workload: onGPUs("new", "a", 3), Now: now}
	for _, c := range []struct {
		b, c, a int64
		want    string
	}{
		{4, 2, 0, "x[0]"},       // both borrow; the request fits in the quota of the cohort "left"
		{4, 2, 2, "Impossible"}, // it does not fit there
	} {
		st.Admitted = []workload.Workload{onGPUs("x", "b", c.b), onGPUs("y", "c", c.c), onGPUs("z", "a", c.a)}
		wantText(t, takes(decideVerified(t, st, r, constrained(rules.BorrowingCapacityFromPreemptor))), c.want, "%+v", c)
	}
	st.Cohorts[2].Quotas = gpu(4) // the queue borrows of its own cohort, which does not borrow
	st.Admitted = []workload.Workload{onGPUs("x", "b", 4), onGPUs("y", "c", 2), onGPUs("z", "a", 4)}
	r.Workload = onGPUs("new", "a", 3)
	for _, q := range rules.QuotaConstraints() {
		wantText(t, takes(decideVerified(t, st, r, constrained(q))), "Impossible", "%s", q)
	}
}

// Keys about shares: the next candidate is the first by the shares as they are then.
func TestOrderByShares(t *testing.T) {
	anybody := []rules.CandidateSelector{{Scope: rules.WithinCohortTree}}
	first := func(k rules.OrderingKey, d rules.Direction) []rules.Ordering {
		return []rules.Ordering{{Key: k, Direction: d}}
	}
	for _, c := range []struct {
		running string
		asks    int64
		order   []rules.Ordering
		want    string
	}{
		{"1b=1 2b=1 3b=1 4b=4 5c=1 6c=4", 4, first(rules.ByQueueShare, rules.Descending), "1b[0] 2b[0] 3b[0] 5c[0]"},
		{"1b=1 2b=1 3b=1 4b=4 5c=1 6c=4", 4, first(rules.ByQueueShare, rules.Ascending), "6c[0]"},
		{"1b=2 2b=4 3c=2 9a=4", 4, first(rules.ByQueueShare, rules.Descending), "9a[0]"},
		{"1c=2 2b=5 3b=5", 3, first(rules.ByFinalShare, rules.Descending), "2b[0]"},
		{"0a=2 1c=2 2b=5 3b=3", 3, first(rules.ByFinalShare, rules.Descending), "3b[0]"},
		{"0a=2 1c=2 2b=5 3b=3", 3, first(rules.ByFinalShare, rules.Ascending), "0a[0] 1c[0]"},
		{"0a=2 1c=4 2b=6", 3, first(rules.ByInitialShare, rules.Descending), "2b[0]"},
		{"0a=2 1c=4 2b=6", 3, first(rules.ByInitialShare, ""), "1c[0]"},
	} {
		d := decideVerified(t, thirds(t, c.running), preemption.Request{Workload: onGPUs("new", "a", c.asks), Now: now}, anybody, c.order...)
		wantText(t, takes(d), c.want, "%s asks %d by %v", c.running, c.asks, c.order)
	}
}

// Verify finds a selector whose constraint does not hold in any order, and a victim that can stay.
func TestVerifyQuotaConstraints(t *testing.T) {
	st := thirds(t, "5b=5 6b=2 7c=3 8a=2")
	rule := rules.Rule{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{
		{Scope: rules.WithinCohortTree, Quota: rules.DRSLessThanOrEqualToFinalShare}, {Scope: rules.WithinClusterQueue},
	}}
	st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{rule}}}
	r := preemption.Request{Workload: onGPUs("new", "a", 4), Now: now}
	d := decideWith(t, preemption.Config{}, snapshotOf(t, st), r)
	verified(t, st, r, preemption.Config{}, d)
	d.Victims = slices.DeleteFunc(d.Victims, func(v preemption.Victim) bool { return v.Workload == "8a" })
	d.Victims[0].Order = 1
	if err := verify.Decision(st, r, preemption.Config{}, d); err == nil || !strings.Contains(err.Error(), "no order in which the constraints on quota accept") {
		t.Error(err)
	}
}

// Which queues give depends on what needs preemption: of the first flavor nobody borrows, of the second queue b does.
func TestQuotaConstraintsOfEachFlavor(t *testing.T) {
	in := func(nominal ...int64) []quota.Quota {
		return []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: nominal[0]}, {Flavor: "g", Resource: "gpu", Nominal: nominal[1]}}
	}
	st := preemption.State{
		Cohorts:  []queue.Cohort{{Name: "k", Quotas: in(0, 1)}},
		Queues:   []queue.Queue{{Name: "a", Cohort: "k", Rules: "hero", Quotas: in(0, 0)}, {Name: "b", Cohort: "k", Quotas: in(1, 0)}},
		Admitted: []workload.Workload{onGPUs("within", "b", 1), onGPUs("borrows", "b", 1)},
	}
	st.Admitted[1].PodSets[0].Requests[0].Flavor = "g"
	st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{{
		Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: constrained(rules.Borrowing),
	}}}}
	r := pending("a", 0, 1)
	r.Workload.PodSets[0].Requests[0].Flavor = ""
	for _, c := range []preemption.Config{{}, {Compat: preemption.Compat{RulesAlone: true}}} {
		d := decideWith(t, c, snapshotOf(t, st), r)
		if got := takes(d); got != "borrows[0]" || d.Assignment[0].Flavor != "g" {
			t.Errorf("%s with %+v", got, d.Assignment)
		}
	}
}

// terminates is a room that is full until a pod that terminates is gone.
type terminates struct{}

func (terminates) Remove(string)  {}
func (terminates) Restore(string) {}
func (terminates) Fits() bool     { return false }
func (terminates) FitsSoon() bool { return true }

// By rules alone, too, nobody is told to leave where what terminates makes the room; and of more than could ever be
// available all is short that the rules do not reach.
func TestRulesAloneAwaitTheRoom(t *testing.T) {
	st := thirds(t, "1a=1 1b=4 1c=4")
	st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{{
		Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinClusterQueue}},
	}}}}
	alone := preemption.Config{Compat: preemption.Compat{RulesAlone: true}}
	r := preemption.Request{Workload: onGPUs("pending", "a", 1), Now: started(0), Room: terminates{}}
	if d := decideWith(t, alone, snapshotOf(t, st), r); d.Outcome != preemption.Wait || !d.Leaving || len(d.Victims) > 0 {
		t.Errorf("%+v", d)
	}
	r.Workload, r.Room = onGPUs("pending", "a", 13), nil // of 12
	if d := decideWith(t, alone, snapshotOf(t, st), r); len(d.Shortage) != 1 || d.Shortage[0].Missing != 9 {
		t.Errorf("1a leaves, 4 are free: %+v", d)
	}
}
