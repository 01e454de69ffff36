package preemption_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The laws that ask the same thing in another way.

func orderOfInputIsNothing(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	shuffled := preemption.State{
		Cohorts:  rapid.Permutation(st.Cohorts).Draw(t, "cohorts"),
		Queues:   rapid.Permutation(st.Queues).Draw(t, "queues"),
		Admitted: rapid.Permutation(st.Admitted).Draw(t, "admitted"),
	}
	noDiff(t, "in another order", d, decideWith(t, config, snapshotOf(t, shuffled), r), sameDecision)
}

// Other names of queues and cohorts, and other IDs in the same order, give the same
// victims.
func namesAreNothing(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	suffix := rapid.SampledFrom([]string{"x", "/", "\u00e9"}).Draw(t, "suffix")
	names := map[string]string{"": ""}
	rename := func(name string) string {
		if _, ok := names[name]; !ok {
			names[name] = fmt.Sprintf("%02d%s", 99-len(names), suffix) // the other way round
		}
		return names[name]
	}
	other := cloneState(st)
	for i := range other.Cohorts {
		other.Cohorts[i].Name, other.Cohorts[i].Parent = rename(st.Cohorts[i].Name), rename(st.Cohorts[i].Parent)
	}
	for i := range other.Queues {
		other.Queues[i].Name, other.Queues[i].Cohort = rename(st.Queues[i].Name), rename(st.Queues[i].Cohort)
	}
	for i := range other.Admitted {
		w := &other.Admitted[i]
		w.Queue, w.ID, w.UID = rename(w.Queue), "a"+w.ID, "a"+w.UID
	}
	r.Workload.Queue = rename(r.Workload.Queue)
	got := decideWith(t, config, snapshotOf(t, other), r)
	want := slices.Clone(d.Victims)
	for i := range want {
		want[i].Workload = "a" + want[i].Workload
		want[i].Queue, want[i].Cohort = rename(want[i].Queue), rename(want[i].Cohort)
	}
	if diff := cmp.Diff(want, got.Victims, cmpopts.EquateEmpty()); got.Outcome != d.Outcome || diff != "" {
		t.Fatalf("renamed: %v, not %v: %s", got.Outcome, d.Outcome, diff)
	}
}

func shiftedTimeIsNothing(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	by := time.Duration(rapid.Int64Range(-1e18, 1e18).Draw(t, "by"))
	shift := func(at *time.Time) {
		if !at.IsZero() {
			*at = at.Add(by)
		}
	}
	later := cloneState(st)
	for i := range later.Admitted {
		shift(&later.Admitted[i].Created)
		shift(&later.Admitted[i].Queued)
		shift(&later.Admitted[i].ReservedAt)
	}
	shift(&r.Workload.Created)
	shift(&r.Workload.Queued)
	shift(&r.Now)
	shift(&d.RetryAt)
	d.Victims = slices.Clone(d.Victims)
	for i := range d.Victims {
		shift(&d.Victims[i].PreemptorQueued)
	}
	if d.Admitted != nil {
		admitted := *d.Admitted
		d.Admitted = &admitted
		shift(&admitted.Created)
		shift(&admitted.Queued)
		shift(&admitted.ReservedAt)
	}
	d.Blockers = slices.Clone(d.Blockers)
	for i := range d.Blockers {
		shift(&d.Blockers[i].Until)
	}
	noDiff(t, fmt.Sprintf("shifted by %v", by), d, decideWith(t, config, snapshotOf(t, later), r), sameDecision)
}

// All amounts, quotas and limits in another unit give the same victims.
func scaledAmountsAreNothing(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	most := quota.MaxUsage / max(1, largestSum(st, r))
	if most < 2 {
		return // none that does not saturate
	}
	by := rapid.Int64Range(2, min(most, 1<<40)).Draw(t, "by")
	scaled := func(l quota.OptionalInt64) quota.OptionalInt64 {
		if n, ok := l.Get(); ok {
			return quota.AtMost(quota.Mul(by, n))
		}
		return l
	}
	quotas := func(list []quota.Quota) {
		for i := range list {
			q := &list[i]
			q.Nominal, q.BorrowingLimit, q.LendingLimit = quota.Mul(by, q.Nominal), scaled(q.BorrowingLimit), scaled(q.LendingLimit)
		}
	}
	reserved := func(list []quota.Amount) {
		for i := range list {
			list[i].Amount *= by
		}
	}
	amounts := func(w *workload.Workload) {
		for i := range w.PodSets {
			reserved(w.PodSets[i].Requests)
		}
	}
	other := cloneState(st)
	for i := range other.Cohorts {
		quotas(other.Cohorts[i].Quotas)
		reserved(other.Cohorts[i].Reserved)
	}
	for i := range other.Queues {
		quotas(other.Queues[i].Quotas)
		reserved(other.Queues[i].Reserved)
	}
	for i := range other.Admitted {
		amounts(&other.Admitted[i])
	}
	r.Workload = r.Workload.Clone()
	amounts(&r.Workload)
	got := decideWith(t, config, snapshotOf(t, other), r)
	if diff := cmp.Diff(d.Victims, got.Victims, cmpopts.EquateEmpty()); got.Outcome != d.Outcome || got.BorrowHeight != d.BorrowHeight || diff != "" {
		t.Fatalf("scaled by %d: %v, not %v: %s", by, got.Outcome, d.Outcome, diff)
	}
}

// largestSum is no less than any sum of amounts and quotas that a decision adds up, but for
// unlimited ones.
func largestSum(st preemption.State, r preemption.Request) (sum int64) {
	add := func(n int64) {
		if n < quota.Unlimited {
			sum = quota.Add(sum, n)
		}
	}
	quotas := func(list []quota.Quota) {
		for _, q := range list {
			add(q.Nominal)
			for _, l := range []quota.OptionalInt64{q.BorrowingLimit, q.LendingLimit} {
				n, _ := l.Get()
				add(n)
			}
		}
	}
	reserved := func(list []quota.Amount) {
		for _, a := range list {
			add(a.Amount)
		}
	}
	for _, c := range st.Cohorts {
		quotas(c.Quotas)
		reserved(c.Reserved)
	}
	for _, q := range st.Queues {
		quotas(q.Quotas)
		reserved(q.Reserved)
	}
	for _, w := range append(slices.Clone(st.Admitted), r.Workload) {
		for _, a := range w.Usage() {
			add(a.Amount)
		}
	}
	return sum
}

func argumentsAreLeftAlone(t *rapid.T, config preemption.Config) {
	record := preemptiontest.Records().Draw(t, "record")
	stateBefore, requestBefore := cloneState(record.State), *record.Request
	requestBefore.Workload = record.Request.Workload.Clone()
	requestBefore.NeedsPreemption = slices.Clone(record.Request.NeedsPreemption)
	s := snapshotOf(t, record.State)
	before := s.State()
	d := decideWith(t, config, s, *record.Request)
	if _, err := s.With(append(d.Edits(), preemption.Remove("nobody"))...); err == nil {
		t.Fatalf("removing nobody succeeds")
	}
	edit(t, s, d.Edits()...)
	noDiff(t, "the snapshot changed", before, s.State(), sameValues)
	noDiff(t, "the state changed", stateBefore, record.State, sameValues)
	noDiff(t, "the request changed", requestBefore, *record.Request, sameValues)
	for i := range record.State.Admitted { // nothing of the arguments is kept
		record.State.Admitted[i].PodSets[0].Count += 7
	}
	noDiff(t, "asked again", d, decideWith(t, config, s, requestBefore), sameDecision)
}

func editsHaveInverses(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	s := snapshotOf(t, st)
	same := func(what string, s *preemption.Snapshot) {
		t.Helper()
		noDiff(t, what, d, decideWith(t, config, s, r), sameDecision)
	}
	w := preemptiontest.Workload(st, "ns/extra").Draw(t, "extra")
	same("Admit, Remove", edit(t, edit(t, s, preemption.Admit(w)), preemption.Remove(w.ID)))
	q := queueOf(st, rapid.SampledFrom(st.Queues).Draw(t, "queue").Name)
	other := q
	other.Quotas, other.Preemption = nil, queue.PreemptionPolicy{}
	same("SetQueue and back", edit(t, edit(t, s, preemption.SetQueue(other)), preemption.SetQueue(q)))
	same("a queue and a cohort come and go", edit(t,
		edit(t, s, preemption.SetCohort(queue.Cohort{Name: "new"}), preemption.SetQueue(queue.Queue{Name: "new", Cohort: "new"})),
		preemption.RemoveQueue("new"), preemption.RemoveCohort("new")))
	if len(st.Admitted) > 0 {
		w := rapid.SampledFrom(st.Admitted).Draw(t, "admitted")
		same("Remove, Admit", edit(t, edit(t, s, preemption.Remove(w.ID)), preemption.Admit(w)))
		same("StartEviction, Update", edit(t, edit(t, s, preemption.StartEviction(w.ID)), preemption.Admit(w)))
		moved := w
		moved.Queue = q.Name
		same("Update and back", edit(t, edit(t, s, preemption.Admit(moved)), preemption.Admit(w)))
		same("SetWorkload and back", edit(t, edit(t, s, preemption.Admit(moved)), preemption.Admit(w)))
		same("Remove, SetWorkload", edit(t, edit(t, s, preemption.Remove(w.ID)), preemption.Admit(w)))
	}
	built := edit(t, new(preemption.Snapshot), configure(st)...)
	for _, w := range st.Admitted {
		built = edit(t, built, preemption.Admit(w))
	}
	same("built by edits", built)
}

func configure(st preemption.State) []preemption.Edit {
	var edits []preemption.Edit
	for _, q := range st.Queues { // queues first: only the whole has to be valid
		edits = append(edits, preemption.SetQueue(q))
	}
	for _, c := range st.Cohorts {
		edits = append(edits, preemption.SetCohort(c))
	}
	return edits
}

func stateRoundTrips(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	s := snapshotOf(t, st)
	again := snapshotOf(t, s.State())
	noDiff(t, "NewSnapshot(s.State())", s.State(), again.State(), sameValues)
	noDiff(t, "NewSnapshot(s.State()) decides otherwise", d, decideWith(t, config, again, r), sameDecision)
	record := throughJSON(t, preemption.Record{State: s.State(), Request: &r})
	noDiff(t, "through JSON", preemption.Record{State: s.State(), Request: &r}, record, sameValues)
}

// What has nothing to do with the request changes nothing: a tree of its own, with queues
// and workloads; a queue without quota, and workloads that take nothing, beside those of
// the request; quota of something that nobody uses.
func strangersAreNothing(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	other := cloneState(st)
	number := 0
	name := func() string {
		number++
		return fmt.Sprintf("%sstranger%d", rapid.SampledFrom([]string{"", "zz-"}).Draw(t, "prefix"), number)
	}
	switch rapid.IntRange(0, 3).Draw(t, "what") {
	case 0: // a tree
		strangers := preemptiontest.States().Draw(t, "strangers")
		cohorts, queues := map[string]string{"": ""}, map[string]string{}
		for _, c := range strangers.Cohorts {
			cohorts[c.Name] = name()
		}
		for _, c := range strangers.Cohorts {
			c.Name, c.Parent = cohorts[c.Name], cohorts[c.Parent]
			other.Cohorts = append(other.Cohorts, c)
		}
		for _, q := range strangers.Queues {
			queues[q.Name] = name()
			q.Name, q.Cohort = queues[q.Name], cohorts[q.Cohort]
			other.Queues = append(other.Queues, q)
		}
		for _, w := range strangers.Admitted {
			w.ID, w.Queue = name(), queues[w.Queue]
			other.Admitted = append(other.Admitted, w)
		}
	case 1: // a queue beside
		q := queue.Queue{Name: name(), Cohort: queueOf(st, r.Workload.Queue).Cohort}
		q.Preemption.ReclaimWithinCohort = queue.Any
		other.Queues = append(other.Queues, q)
	case 2: // workloads that take nothing
		w := preemptiontest.Workload(st, name()).Draw(t, "workload")
		w.PodSets = nil
		other.Admitted = append(other.Admitted, w)
	case 3: // quota of something else
		i := rapid.IntRange(0, len(other.Queues)-1).Draw(t, "queue")
		other.Queues[i].Quotas = append(other.Queues[i].Quotas, quota.Quota{Flavor: name(), Resource: "tokens", Nominal: 5})
	}
	other.Admitted = rapid.Permutation(other.Admitted).Draw(t, "admitted")
	noDiff(t, "with strangers", d, decideWith(t, config, snapshotOf(t, other), r), sameDecision)
}

// A decision that was written and read again makes the same edits, to the same effect.
func editsSurviveJSON(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	text := must(json.Marshal(d))(t)
	var again preemption.Decision
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	noDiff(t, "read again", d, again, sameDecision)
	s := snapshotOf(t, st)
	after, afterAgain := edit(t, s, d.Edits()...), edit(t, s, again.Edits()...)
	noDiff(t, "the edits read again", after.State(), afterAgain.State(), sameValues)
	r.Workload.ID = "ns/next"
	noDiff(t, "decided after the edits", decideWith(t, config, after, r), decideWith(t, config, afterAgain, r), sameDecision)
}
