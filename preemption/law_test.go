package preemption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/twin"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Each law is a property, checked on generated records, and a fuzz target.
var laws = []struct {
	name  string
	check func(*rapid.T)
}{
	{"AgreesWithTwin", agreesWithTwin},
	{"VictimsMakeRoom", victimsMakeRoom},
	{"NoVictimCanBeSpared", noVictimCanBeSpared},
	{"VictimsArePermitted", victimsArePermitted},
	{"NeverEvictsNobody", neverEvictsNobody},
	{"OrderOfInputIsNothing", orderOfInputIsNothing},
	{"NamesAreNothing", namesAreNothing},
	{"ShiftedTimeIsNothing", shiftedTimeIsNothing},
	{"ScaledAmountsAreNothing", scaledAmountsAreNothing},
	{"ArgumentsAreLeftAlone", argumentsAreLeftAlone},
	{"EditsHaveInverses", editsHaveInverses},
	{"StateRoundTrips", stateRoundTrips},
	{"BlockersBlock", blockersBlock},
}

func TestLaws(t *testing.T) {
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) { rapid.Check(t, law.check) })
	}
}

func FuzzAgreesWithTwin(f *testing.F)          { f.Fuzz(rapid.MakeFuzz(agreesWithTwin)) }
func FuzzVictimsMakeRoom(f *testing.F)         { f.Fuzz(rapid.MakeFuzz(victimsMakeRoom)) }
func FuzzNoVictimCanBeSpared(f *testing.F)     { f.Fuzz(rapid.MakeFuzz(noVictimCanBeSpared)) }
func FuzzVictimsArePermitted(f *testing.F)     { f.Fuzz(rapid.MakeFuzz(victimsArePermitted)) }
func FuzzNeverEvictsNobody(f *testing.F)       { f.Fuzz(rapid.MakeFuzz(neverEvictsNobody)) }
func FuzzOrderOfInputIsNothing(f *testing.F)   { f.Fuzz(rapid.MakeFuzz(orderOfInputIsNothing)) }
func FuzzNamesAreNothing(f *testing.F)         { f.Fuzz(rapid.MakeFuzz(namesAreNothing)) }
func FuzzShiftedTimeIsNothing(f *testing.F)    { f.Fuzz(rapid.MakeFuzz(shiftedTimeIsNothing)) }
func FuzzScaledAmountsAreNothing(f *testing.F) { f.Fuzz(rapid.MakeFuzz(scaledAmountsAreNothing)) }
func FuzzArgumentsAreLeftAlone(f *testing.F)   { f.Fuzz(rapid.MakeFuzz(argumentsAreLeftAlone)) }
func FuzzEditsHaveInverses(f *testing.F)       { f.Fuzz(rapid.MakeFuzz(editsHaveInverses)) }
func FuzzStateRoundTrips(f *testing.F)         { f.Fuzz(rapid.MakeFuzz(stateRoundTrips)) }
func FuzzBlockersBlock(f *testing.F)           { f.Fuzz(rapid.MakeFuzz(blockersBlock)) }

var sameDecision = cmp.Options{cmpopts.IgnoreUnexported(preemption.Decision{}), cmpopts.EquateEmpty()}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func snapshotOf(t failer, st preemption.State) *preemption.Snapshot {
	t.Helper()
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatalf("NewSnapshot: %v", err)
	}
	return s
}

var preemptor = func() *preemption.Preemptor {
	p, err := preemption.New(preemption.Config{})
	if err != nil {
		panic(err)
	}
	return p
}()

func decide(t failer, s *preemption.Snapshot, r preemption.Request) preemption.Decision {
	t.Helper()
	d, err := preemptor.Decide(s, r)
	if err != nil {
		t.Fatalf("Decide: %v", err)
	}
	return d
}

func draw(t *rapid.T) (preemption.State, preemption.Request, preemption.Decision) {
	record := preemptiontest.Records().Draw(t, "record")
	return record.State, *record.Request, decide(t, snapshotOf(t, record.State), *record.Request)
}

func edit(t failer, s *preemption.Snapshot, edits ...preemption.Edit) *preemption.Snapshot {
	t.Helper()
	next, err := s.With(edits...)
	if err != nil {
		t.Fatalf("With: %v", err)
	}
	return next
}

func ids(victims []preemption.Victim) []string {
	list := []string{}
	for _, v := range victims {
		list = append(list, v.Workload)
	}
	return list
}

func agreesWithTwin(t *rapid.T) {
	st, r, d := draw(t)
	want := twin.Decide(st, r)
	missing := map[quota.FlavorResource]int64{}
	for _, sh := range d.Shortage {
		missing[sh.FlavorResource] = sh.Missing
	}
	if d.Outcome != want.Outcome || d.BorrowHeight != want.BorrowHeight ||
		!cmp.Equal(d.Victims, want.Victims, cmpopts.EquateEmpty()) || !cmp.Equal(missing, want.Missing, cmpopts.EquateEmpty()) {
		t.Fatalf("the decision is %+v, the twin's %+v", d, want)
	}
}

// With the victims gone the request fits, and can be admitted.
func victimsMakeRoom(t *rapid.T) {
	st, r, d := draw(t)
	s := snapshotOf(t, st)
	if d.Outcome == preemption.Impossible {
		if len(d.Edits()) != 0 {
			t.Fatalf("Impossible has edits")
		}
		return
	}
	if evicting := edit(t, s, d.Edits()...); d.Outcome == preemption.Preempt {
		for _, w := range evicting.State().Admitted {
			if slices.Contains(ids(d.Victims), w.ID) && !w.Evicted {
				t.Fatalf("%s is not being evicted", w.ID)
			}
		}
	}
	for _, v := range d.Victims {
		s = edit(t, s, preemption.Remove(v.Workload))
	}
	after := decide(t, s, r)
	if after.Outcome != preemption.Fits {
		t.Fatalf("without %v the outcome is %v", ids(d.Victims), after.Outcome)
	}
	if after.BorrowHeight != d.BorrowHeight {
		t.Fatalf("borrow height %d was foreseen, it is %d", d.BorrowHeight, after.BorrowHeight)
	}
	admitted := edit(t, s, after.Edits()...).State().Admitted
	if !slices.ContainsFunc(admitted, func(w workload.Workload) bool { return w.ID == r.Workload.ID && w.ReservedAt.Equal(r.Now) }) {
		t.Fatalf("the edits of Fits do not admit the workload")
	}
}

// KEP-83, Preemption, step 5: add workloads back as long as the request still fits.
// No proper subset of the victims is enough.
func noVictimCanBeSpared(t *rapid.T) {
	st, r, d := draw(t)
	all := ids(d.Victims)
	if len(all) > 10 {
		all = all[:0] // 2^n subsets
	}
	borrowing := twin.Decide(st, r).Borrowing
	for set := range 1<<len(all) - 1 {
		var gone []string
		for i, id := range all {
			if set>>i&1 == 1 {
				gone = append(gone, id)
			}
		}
		if twin.FitsWithout(st, r, gone, borrowing) {
			t.Fatalf("victims %v, but %v is enough", all, gone)
		}
	}
}

// Every victim satisfies the policy that its reason names, by itself.
func victimsArePermitted(t *rapid.T) {
	st, r, d := draw(t)
	policy := queueOf(st, r.Workload.Queue).Preemption
	ours := r.Workload.EffectivePriority()
	for _, v := range d.Victims {
		w := workloadOf(st, v.Workload)
		theirs := w.EffectivePriority()
		permitted := func(p queue.Policy) bool {
			return p == queue.Any || p != queue.Never && theirs < ours ||
				p == queue.LowerOrNewerEqualPriority && theirs == ours && w.Queued.After(r.Workload.Queued)
		}
		ok := false
		switch v.Reason {
		case preemption.InClusterQueue:
			ok = w.Queue == r.Workload.Queue && v.Cohort == "" && permitted(policy.WithinClusterQueue)
		case preemption.InCohortReclamation:
			ok = w.Queue != r.Workload.Queue && v.Cohort != "" && permitted(policy.ReclaimWithinCohort)
		case preemption.InCohortReclaimWhileBorrowing:
			ok = w.Queue != r.Workload.Queue && v.Cohort != "" && permitted(policy.ReclaimWithinCohort) &&
				permitted(policy.BorrowWithinCohort.Policy) && policy.BorrowWithinCohort.MaxPriorityThreshold.Admits(theirs)
		}
		if !ok || v.Queue != w.Queue {
			t.Fatalf("victim %+v is not permitted by %+v", v, policy)
		}
	}
}

func neverEvictsNobody(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	q := queueOf(record.State, record.Request.Workload.Queue)
	q.Preemption = queue.Preemption{}
	d := decide(t, edit(t, snapshotOf(t, record.State), preemption.SetQueue(q)), *record.Request)
	if d.Outcome == preemption.Preempt || len(d.Victims) > 0 {
		t.Fatalf("%+v under Never", d)
	}
}

func orderOfInputIsNothing(t *rapid.T) {
	st, r, d := draw(t)
	shuffled := preemption.State{
		Cohorts:  rapid.Permutation(st.Cohorts).Draw(t, "cohorts"),
		Queues:   rapid.Permutation(st.Queues).Draw(t, "queues"),
		Admitted: rapid.Permutation(st.Admitted).Draw(t, "admitted"),
	}
	if diff := cmp.Diff(d, decide(t, snapshotOf(t, shuffled), r), sameDecision); diff != "" {
		t.Fatalf("in another order: %s", diff)
	}
}

// Other names of queues and cohorts, and other IDs in the same order, give the same
// victims.
func namesAreNothing(t *rapid.T) {
	st, r, d := draw(t)
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
	got := decide(t, snapshotOf(t, other), r)
	want := slices.Clone(d.Victims)
	for i := range want {
		want[i].Workload = "a" + want[i].Workload
		want[i].Queue, want[i].Cohort = rename(want[i].Queue), rename(want[i].Cohort)
	}
	if diff := cmp.Diff(want, got.Victims, cmpopts.EquateEmpty()); got.Outcome != d.Outcome || diff != "" {
		t.Fatalf("renamed: %v, not %v: %s", got.Outcome, d.Outcome, diff)
	}
}

func shiftedTimeIsNothing(t *rapid.T) {
	st, r, d := draw(t)
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
	if diff := cmp.Diff(d, decide(t, snapshotOf(t, later), r), sameDecision); diff != "" {
		t.Fatalf("shifted by %v: %s", by, diff)
	}
}

// All amounts, quotas and limits in another unit give the same victims.
func scaledAmountsAreNothing(t *rapid.T) {
	st, r, d := draw(t)
	by := rapid.Int64Range(2, 1<<40).Draw(t, "by")
	scaled := func(l quota.Limit) quota.Limit {
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
	amounts := func(w *workload.Workload) {
		for i := range w.PodSets {
			for j := range w.PodSets[i].Requests {
				w.PodSets[i].Requests[j].Amount *= by
			}
		}
	}
	other := cloneState(st)
	for i := range other.Cohorts {
		quotas(other.Cohorts[i].Quotas)
	}
	for i := range other.Queues {
		quotas(other.Queues[i].Quotas)
	}
	for i := range other.Admitted {
		amounts(&other.Admitted[i])
	}
	r.Workload = r.Workload.Clone()
	amounts(&r.Workload)
	got := decide(t, snapshotOf(t, other), r)
	if diff := cmp.Diff(d.Victims, got.Victims, cmpopts.EquateEmpty()); got.Outcome != d.Outcome || got.BorrowHeight != d.BorrowHeight || diff != "" {
		t.Fatalf("scaled by %d: %v, not %v: %s", by, got.Outcome, d.Outcome, diff)
	}
}

func argumentsAreLeftAlone(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	stateBefore, requestBefore := cloneState(record.State), *record.Request
	requestBefore.Workload = record.Request.Workload.Clone()
	requestBefore.NeedsPreemption = slices.Clone(record.Request.NeedsPreemption)
	s := snapshotOf(t, record.State)
	before := s.State()
	d := decide(t, s, *record.Request)
	if _, err := s.With(append(d.Edits(), preemption.Remove("nobody"))...); err == nil {
		t.Fatalf("removing nobody succeeds")
	}
	edit(t, s, d.Edits()...)
	if diff := cmp.Diff(before, s.State(), sameValues); diff != "" {
		t.Fatalf("the snapshot changed: %s", diff)
	}
	if diff := cmp.Diff(stateBefore, record.State, sameValues); diff != "" {
		t.Fatalf("the state changed: %s", diff)
	}
	if diff := cmp.Diff(requestBefore, *record.Request, sameValues); diff != "" {
		t.Fatalf("the request changed: %s", diff)
	}
	for i := range record.State.Admitted { // nothing of the arguments is kept
		record.State.Admitted[i].PodSets[0].Count += 7
	}
	if diff := cmp.Diff(d, decide(t, s, requestBefore), sameDecision); diff != "" {
		t.Fatalf("asked again: %s", diff)
	}
}

func editsHaveInverses(t *rapid.T) {
	st, r, d := draw(t)
	s := snapshotOf(t, st)
	same := func(what string, s *preemption.Snapshot) {
		t.Helper()
		if diff := cmp.Diff(d, decide(t, s, r), sameDecision); diff != "" {
			t.Fatalf("%s: %s", what, diff)
		}
	}
	w := preemptiontest.Workload(st, "ns/extra").Draw(t, "extra")
	same("Admit, Remove", edit(t, edit(t, s, preemption.Admit(w)), preemption.Remove(w.ID)))
	q := queueOf(st, rapid.SampledFrom(st.Queues).Draw(t, "queue").Name)
	other := q
	other.Quotas, other.Preemption = nil, queue.Preemption{}
	same("SetQueue and back", edit(t, edit(t, s, preemption.SetQueue(other)), preemption.SetQueue(q)))
	same("a queue and a cohort come and go", edit(t,
		edit(t, s, preemption.SetCohort(queue.Cohort{Name: "new"}), preemption.SetQueue(queue.Queue{Name: "new", Cohort: "new"})),
		preemption.RemoveQueue("new"), preemption.RemoveCohort("new")))
	if len(st.Admitted) > 0 {
		w := rapid.SampledFrom(st.Admitted).Draw(t, "admitted")
		same("Remove, Admit", edit(t, edit(t, s, preemption.Remove(w.ID)), preemption.Admit(w)))
		same("StartEviction, Update", edit(t, edit(t, s, preemption.StartEviction(w.ID)), preemption.Update(w)))
		moved := w
		moved.Queue = q.Name
		same("Update and back", edit(t, edit(t, s, preemption.Update(moved)), preemption.Update(w)))
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

func stateRoundTrips(t *rapid.T) {
	st, r, d := draw(t)
	s := snapshotOf(t, st)
	again := snapshotOf(t, s.State())
	if diff := cmp.Diff(s.State(), again.State(), sameValues); diff != "" {
		t.Fatalf("NewSnapshot(s.State()): %s", diff)
	}
	if diff := cmp.Diff(d, decide(t, again, r), sameDecision); diff != "" {
		t.Fatalf("NewSnapshot(s.State()) decides otherwise: %s", diff)
	}
	record := throughJSON(t, preemption.Record{State: s.State(), Request: &r})
	if diff := cmp.Diff(preemption.Record{State: s.State(), Request: &r}, record, sameValues); diff != "" {
		t.Fatalf("through JSON: %s", diff)
	}
}

// An impossible request says what is short, and every blocker holds some of it and
// is kept by the rule that it names.
func blockersBlock(t *rapid.T) {
	st, r, d := draw(t)
	if d.Outcome != preemption.Impossible {
		if len(d.Shortage)+len(d.Blockers) > 0 {
			t.Fatalf("%v with a shortage or blockers", d.Outcome)
		}
		return
	}
	if len(d.Shortage) == 0 || len(d.Blockers) > 16 {
		t.Fatalf("%d shortages, %d blockers", len(d.Shortage), len(d.Blockers))
	}
	short := func(fr quota.FlavorResource) bool {
		return slices.ContainsFunc(d.Shortage, func(sh preemption.Shortage) bool { return sh.FlavorResource == fr })
	}
	s := snapshotOf(t, st)
	policy := queueOf(st, r.Workload.Queue).Preemption
	ours := r.Workload.EffectivePriority()
	for _, b := range d.Blockers {
		rows, _ := s.QueueStatus(b.Queue)
		if b.Cohort != "" {
			rows, _ = s.CohortStatus(b.Cohort)
		}
		if !slices.ContainsFunc(rows, func(q preemption.QuotaStatus) bool { return q.Usage > 0 && short(q.FlavorResource) }) {
			t.Fatalf("%+v uses nothing that is short", b)
		}
		if b.Rule == preemption.WithinNominal {
			if b.Workload != "" || b.Queue == r.Workload.Queue || (b.Queue == "") == (b.Cohort == "") {
				t.Fatalf("%+v: about a workload, or the own queue, or not one node", b)
			}
			continue
		}
		w := workloadOf(st, b.Workload)
		lower := w.EffectivePriority() < ours
		ok := w.Queue == b.Queue
		switch b.Rule {
		case preemption.WithinClusterQueue:
			ok = ok && w.Queue == r.Workload.Queue && (policy.WithinClusterQueue == queue.Never || !lower)
		case preemption.ReclaimWithinCohort:
			ok = ok && w.Queue != r.Workload.Queue && (policy.ReclaimWithinCohort == queue.Never || !lower)
		case preemption.BorrowWithinCohort:
			ok = ok && w.Queue != r.Workload.Queue && (policy.BorrowWithinCohort.Policy == queue.Never || !lower ||
				!policy.BorrowWithinCohort.MaxPriorityThreshold.Admits(w.EffectivePriority()))
		}
		if !ok {
			t.Fatalf("%+v is no blocker under %+v", b, policy)
		}
	}
}

func cloneState(st preemption.State) preemption.State {
	var c preemption.State
	for _, x := range st.Cohorts {
		c.Cohorts = append(c.Cohorts, x.Clone())
	}
	for _, x := range st.Queues {
		c.Queues = append(c.Queues, x.Clone())
	}
	for _, x := range st.Admitted {
		c.Admitted = append(c.Admitted, x.Clone())
	}
	return c
}

func queueOf(st preemption.State, name string) queue.Queue {
	i := slices.IndexFunc(st.Queues, func(q queue.Queue) bool { return q.Name == name })
	return st.Queues[i].Clone()
}

func workloadOf(st preemption.State, id string) workload.Workload {
	i := slices.IndexFunc(st.Admitted, func(w workload.Workload) bool { return w.ID == id })
	return st.Admitted[i].Clone()
}
