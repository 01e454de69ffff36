package preemption_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/proof/agree"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Each law is a property, checked on generated records in classical and in fair sharing.
var laws = []struct {
	name  string
	check func(*rapid.T)
}{
	{"AgreesWithTheWitness", agreesWithTheWitness},
	{"AgreesInACrowd", agreesInACrowd},
	{"VictimsMakeRoom", inEither(victimsMakeRoom)},
	{"NoVictimCanBeSpared", inEither(noVictimCanBeSpared)},
	{"OrderOfInputIsNothing", inEither(orderOfInputIsNothing)},
	{"NamesAreNothing", inEither(namesAreNothing)},
	{"ShiftedTimeIsNothing", inEither(shiftedTimeIsNothing)},
	{"ScaledAmountsAreNothing", inEither(scaledAmountsAreNothing)},
	{"TotalsAreNothing", inEither(totalsAreNothing)},
	{"UsageOfLocalQueuesIsOrder", inEither(usageOfLocalQueuesIsOrder)},
	{"EditsSurviveJSON", inEither(editsSurviveJSON)},
	{"StrangersAreNothing", inEither(strangersAreNothing)},
	{"OwnTreeIsEnough", inEither(ownTreeIsEnough)},
	{"ArgumentsAreLeftAlone", inEither(argumentsAreLeftAlone)},
	{"EditsHaveInverses", inEither(editsHaveInverses)},
	{"StateRoundTrips", inEither(stateRoundTrips)},
	{"AskingAgainTakesNoMore", inEither(askingAgainTakesNoMore)},
	{"ReplicasFreeRoom", inEither(replicasFreeRoom)},
}

func TestLaws(t *testing.T) {
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, law.check)
		})
	}
}

func FuzzLaws(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { laws[rapid.IntRange(0, len(laws)-1).Draw(t, "law")].check(t) }))
}

var sameDecision = cmpopts.EquateEmpty()

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// must returns what came without an error.
func must[T any](v T, err error) func(failer) T {
	return func(t failer) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return v
	}
}

// verified fails if Verify has something against a decision.
func verified(t failer, st preemption.State, r preemption.Request, c preemption.Config, d preemption.Decision) {
	t.Helper()
	if err := verify.Decision(st, r, c, d); err != nil {
		t.Fatalf("%v: %+v: %v", searchOf(c), d, err)
	}
}

// noDiff fails if two values differ; about says what - and + are.
func noDiff(t failer, about string, minus, plus any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(minus, plus, opts...); diff != "" {
		t.Fatalf("%s:\n%s", about, diff)
	}
}

func snapshotOf(t failer, st preemption.State) *preemption.Snapshot {
	t.Helper()
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatalf("NewSnapshot: %v", err)
	}
	return s
}

// inEither checks a law in classical or in fair sharing.
func inEither(law func(*rapid.T, preemption.Config)) func(*rapid.T) {
	return func(t *rapid.T) {
		var config preemption.Config
		if rapid.Bool().Draw(t, "fair") {
			config.Sharing = preemption.Fair
		}
		law(t, config)
	}
}

func preemptorOf(c preemption.Config) *preemption.Preemptor {
	p, err := preemption.New(c)
	if err != nil {
		panic(err)
	}
	return p
}

func decide(t failer, s *preemption.Snapshot, r preemption.Request) preemption.Decision {
	t.Helper()
	d, err := standard.Decide(s, r)
	if err != nil {
		t.Fatalf("Decide: %v", err)
	}
	return d
}

// standard decides by the zero configuration. It keeps its memory between decisions, as a caller's preemptor does.
var standard = new(preemption.Preemptor)

func decideWith(t failer, c preemption.Config, s *preemption.Snapshot, r preemption.Request) preemption.Decision {
	t.Helper()
	d, err := preemptorOf(c).Decide(s, r)
	if err != nil {
		t.Fatalf("Decide: %v", err)
	}
	return d
}

func draw(t *rapid.T, config preemption.Config) (preemption.State, preemption.Request, preemption.Decision) {
	record := preemptiontest.Records().Draw(t, "record")
	return record.State, *record.Request, decideWith(t, config, snapshotOf(t, record.State), *record.Request)
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

// The witness says the same, and of time, too. Without RetryAt the answer is otherwise the same.
func agreesWithTheWitness(t *rapid.T) {
	records := preemptiontest.Records()
	if rapid.IntRange(0, 3).Draw(t, "without flavors") == 0 {
		records = preemptiontest.RecordsWithoutFlavors()
	}
	record := records.Draw(t, "record")
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	protect(t, &config, &st)
	reevaluate(t, &config)
	r.Room = drawRoom(t, st)
	s := snapshotOf(t, st)
	d := decideWith(t, config, s, r)
	agrees(t, config, st, r, d)
	config.MaxRetrySteps = -1
	quick := decideWith(t, config, s, r)
	if quick.Outcome != d.Outcome && (quick.Outcome != preemption.Wait || d.Outcome != preemption.Impossible) || !quick.RetryAt.IsZero() {
		t.Fatalf("%+v without RetryAt, %+v with it", quick, d)
	}
}

// agrees fails if the witness decides otherwise.
func agrees(t failer, c preemption.Config, st preemption.State, r preemption.Request, d preemption.Decision) {
	t.Helper()
	if _, diff := agree.Diff(c, st, r, d); diff != "" {
		t.Fatalf("%s", diff)
	}
}

// space is a room that has a place when enough of the workloads are away.
type space struct {
	size  map[string]int
	lacks int
	away  map[string]bool
}

func (s *space) Remove(id string)  { s.away[id] = true }
func (s *space) Restore(id string) { delete(s.away, id) }
func (s *space) Fits() bool {
	free := 0
	for id := range s.away {
		free += s.size[id]
	}
	return free >= s.lacks
}

// drawRoom draws none mostly, one that frees replicas, or one that does not.
func drawRoom(t *rapid.T, st preemption.State) preemption.Room {
	switch n := rapid.IntRange(0, 9).Draw(t, "room"); {
	case n < 8:
		return nil
	case n == 8:
		return drawFleet(t, st)
	}
	s := &space{size: map[string]int{}, away: map[string]bool{}, lacks: rapid.IntRange(0, 3).Draw(t, "lacks")}
	for _, w := range st.Admitted {
		s.size[w.ID] = rapid.IntRange(0, 2).Draw(t, "size")
	}
	return s
}

// With the victims gone the request fits, and can be admitted.
func victimsMakeRoom(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	s := snapshotOf(t, st)
	if d.Outcome != preemption.Fits && d.Outcome != preemption.Preempt && len(d.Edits()) != 0 {
		t.Fatalf("%v has edits", d.Outcome)
	}
	if !d.Possible() {
		return
	}
	if evicting := edit(t, s, d.Edits()...); d.Outcome == preemption.Preempt {
		for w := range evicting.Workloads() {
			whole := slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return v.Workload == w.ID && len(v.Replicas) == 0 })
			if whole != w.Evicted && !workloadOf(st, w.ID).Evicted {
				t.Fatalf("%s is not being evicted", w.ID)
			}
		}
	}
	for _, v := range d.Victims {
		if len(v.Replicas) == 0 {
			s = edit(t, s, preemption.Remove(v.Workload))
		}
		for _, r := range v.Replicas {
			s = edit(t, s, preemption.Remove(v.Workload, preemption.Replicas{PodSet: r.PodSet, Count: r.Count}))
		}
	}
	after := decideWith(t, config, s, r)
	if after.Outcome != preemption.Fits {
		t.Fatalf("without %v the outcome is %v", ids(d.Victims), after.Outcome)
	}
	if after.BorrowHeight != d.BorrowHeight {
		t.Fatalf("borrow height %d was foreseen, it is %d", d.BorrowHeight, after.BorrowHeight)
	}
	admitted := slices.Collect(edit(t, s, after.Edits()...).Workloads())
	if !slices.ContainsFunc(admitted, func(w workload.Workload) bool { return w.ID == r.Workload.ID && w.ReservedAt.Equal(r.Now) }) {
		t.Fatalf("the edits of Fits do not admit the workload")
	}
}

// KEP-83, Preemption, step 5: add workloads back as long as the request still fits.
// No proper subset of the victims is enough.
func noVictimCanBeSpared(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	noneIsEnough(t, config, st, r, d)
}

// noneIsEnough fails if the request fits without a part of the victims. Where it is not known whether they were found
// with borrowing, only what fits without it counts.
func noneIsEnough(t *rapid.T, config preemption.Config, st preemption.State, r preemption.Request, d preemption.Decision) {
	var all []preemption.Victim // one for each replica that yields
	for _, v := range d.Victims {
		if len(v.Replicas) == 0 {
			all = append(all, v)
		}
		for _, r := range v.Replicas {
			if r.Leaving > 0 { // they leave together
				all = append(all, preemption.Victim{Workload: v.Workload, Replicas: []preemption.Replicas{{PodSet: r.PodSet, Count: r.Leaving, Leaving: r.Leaving}}})
			}
			for range r.Count - r.Leaving {
				all = append(all, preemption.Victim{Workload: v.Workload, Replicas: []preemption.Replicas{{PodSet: r.PodSet, Count: 1}}})
			}
		}
	}
	if len(all) > 10 {
		all = all[:0] // 2^n subsets
	}
	borrowing := config.Sharing != preemption.Classical || d.BorrowHeight > 0
	for set := range 1<<len(all) - 1 {
		var gone []preemption.Victim
		for i, v := range all {
			if set>>i&1 == 1 {
				gone = append(gone, v)
			}
		}
		if fitsWithout(config, st, r, gone, borrowing) {
			t.Fatalf("victims %v, but %v is enough", all, gone)
		}
	}
}

// fitsWithout reports whether the request fits without the victims; without borrowing, whether it also fits within the
// nominal quota of its queue.
func fitsWithout(c preemption.Config, st preemption.State, r preemption.Request, victims []preemption.Victim, borrowing bool) bool {
	var gone []preemption.Edit
	removed := map[[2]string]int64{}
	for _, v := range victims {
		if gone = append(gone, preemption.Remove(v.Workload, v.Replicas...)); r.Room != nil && len(v.Replicas) == 0 {
			r.Room.Remove(v.Workload)
			defer r.Room.Restore(v.Workload)
		}
		for _, few := range v.Replicas {
			if room, frees := r.Room.(preemption.ReplicaRoom); frees {
				removed[[2]string{v.Workload, few.PodSet}] += few.Count
				room.SetRemoved(v.Workload, few.PodSet, removed[[2]string{v.Workload, few.PodSet}])
				defer room.SetRemoved(v.Workload, few.PodSet, 0)
			}
		}
	}
	s, err := preemption.NewSnapshot(st)
	if err == nil {
		s, err = s.With(gone...)
	}
	if err != nil {
		panic(err)
	}
	r.NeedsPreemption, r.Workload = nil, withoutZeros(r.Workload)
	d, err := preemptorOf(c).Decide(s, r)
	return err == nil && d.Outcome == preemption.Fits && (borrowing || d.BorrowHeight == 0)
}

func cloneState(st preemption.State) preemption.State {
	var c preemption.State
	for _, x := range st.Cohorts {
		c.Cohorts = append(c.Cohorts, x.Clone())
	}
	for _, x := range st.Queues {
		c.Queues = append(c.Queues, x.Clone())
	}
	for _, x := range st.Flavors {
		c.Flavors = append(c.Flavors, x.Clone())
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
