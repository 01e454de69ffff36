package preemption_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// borrowers is a cohort that lends ten, to queues without quota of their own.
func borrowers(policy queue.PreemptionPolicy, names ...string) preemption.State {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues:  []queue.Queue{{Name: "lender", Cohort: "c", Quotas: gpus(10)}},
	}
	for _, name := range names {
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "c", Quotas: gpus(0), Preemption: policy})
	}
	return st
}

func fairText(t *testing.T, c preemption.Config, st preemption.State, r preemption.Request) string {
	t.Helper()
	c.Sharing = preemption.Fair
	d := must(preemptorOf(c).Decide(snapshotOf(t, st), r))(t)
	return text(d)
}

var fairPolicy = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}

// Whether the others are justified without a victim may change with every one that is
// put back: in the first record it takes a second look to see that w04 alone is enough. A
// workload that goes whole is one victim, with its surplus: in the second, w03 alone is. In the
// third a replica that the first strategy refused went with its workload, so the next that it refused has the second chance.
func TestRecheckIsIrreducible(t *testing.T) {
	for file, want := range map[string]string{
		"recheck-irreducible": "Preempt: w04 InCohortFairSharing",
		"recheck-elastic":     "Preempt: ns/w03 InCohortFairSharing",
		"fair-gone-whole":     "Preempt: ns/w00 InCohortFairSharing, ns/w01 InClusterQueue, ns/w03 InCohortFairSharing, ns/w04 InClusterQueue",
	} {
		data := must(os.ReadFile("testdata/" + file + ".json"))(t)
		record := must(preemption.ParseRecord(data))(t)
		config := preemption.Config{Sharing: preemption.Fair, Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}}
		wantText(t, fairText(t, config, record.State, *record.Request), want, "%s", file)
		if file == "recheck-irreducible" { // the same without exchanges, which would spare whom a first look keeps
			stable := preemption.Config{Sharing: preemption.Stable}
			wantText(t, text(decideWith(t, stable, snapshotOf(t, record.State), *record.Request)), want, "%s, Stable", file)
		}
	}
}

// A victim in the own queue makes the own share small enough for another victim. Where shares
// are asked again, it is not put back, though the other alone is enough.
func TestRecheckKeepsOwnVictim(t *testing.T) {
	final, initial := preemption.LessThanOrEqualToFinalShare, preemption.LessThanInitialShare
	st := borrowers(fairPolicy, "a", "b")
	st.Queues[0].Quotas, st.Queues[1].FairWeight = gpus(23), quota.WeightOf(0.25)
	st.Admitted = []workload.Workload{
		job("own", "a", 0, 2, started(5)), job("other", "b", 0, 4, started(5)), job("stays", "b", 9, 17, started(5)),
	}
	for _, strategies := range [][]preemption.FairStrategy{nil, {final}, {initial}} {
		for n, want := range []string{"Preempt: other InCohortFairSharing", "Preempt: other InCohortFairSharing, own InClusterQueue"} {
			config := searches[n]
			config.Strategies = strategies
			wantText(t, fairText(t, config, st, pending("a", 1, 4)), want, "%v, %v", strategies, searchOf(config))
		}
	}
}

// Of two cohorts of equal share, the one with a workload that borrows comes before the one
// without, whatever their names are.
func TestTieOfCohorts(t *testing.T) {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "left", Parent: "root"}, {Name: "right", Parent: "root"}, {Name: "root", Quotas: gpus(3)}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "left", Quotas: gpus(2), Preemption: fairPolicy}, {Name: "b", Cohort: "right", Quotas: gpus(0)},
		},
		Admitted: []workload.Workload{job("own", "a", 0, 1, started(5)), job("other", "b", 0, 3, started(5))},
	}
	config := preemption.Config{Strategies: []preemption.FairStrategy{preemption.LessThanInitialShare}}
	// If the own queue came first, its share would then permit the other.
	wantText(t, fairText(t, config, st, pending("a", 1, 4)), "Impossible: FairShare b other")
}

// Of two cohorts of equal share the one with the better first workload comes first; one that uses nothing is
// not asked, wherever it is.
func TestTieOfCohortsWithIdle(t *testing.T) {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "left", Parent: "root"}, {Name: "right", Parent: "root"}, {Name: "root"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "root", Quotas: gpus(4), Preemption: fairPolicy},
			{Name: "b", Cohort: "left", Quotas: gpus(0)}, {Name: "c", Cohort: "right", Quotas: gpus(0)},
		},
		Admitted: []workload.Workload{job("first", "b", 0, 2, started(4)), job("second", "c", 0, 2, started(5))},
	}
	idle := job("idle", "c", -1, 0, started(5))
	idle.PodSets = nil
	behind := idle
	behind.ID, behind.Queue = "behind", "d"
	st.Queues = append(st.Queues, queue.Queue{Name: "d", Cohort: "right"})
	for range 3 {
		wantText(t, fairText(t, preemption.Config{}, st, pending("a", 1, 2)), "Preempt: first InCohortReclamation", "%d workloads", len(st.Admitted))
		st.Admitted = append(st.Admitted, idle)
		idle = behind
	}
}

// "At equal share a cohort comes before a queue; of queues, the one with the better next
// candidate (being evicted, of another queue, then as in a phase of candidates); of cohorts,
// the one with the better first workload", whatever their names are.
func TestFairTies(t *testing.T) {
	evicted := func(w workload.Workload) workload.Workload {
		w.Evicted = true
		return w
	}
	for name, c := range map[string]struct{ first, second workload.Workload }{
		"evicted":           {evicted(job("first", "", 5, 2, started(9))), job("second", "", 0, 2, started(1))},
		"evicted, both":     {evicted(job("first", "", 0, 2, started(9))), evicted(job("second", "", 5, 2, started(1)))},
		"lower priority":    {job("first", "", 0, 2, started(9)), job("second", "", 5, 2, started(1))},
		"later reservation": {job("first", "", 0, 2, started(1)), job("second", "", 0, 2, started(9))},
		"smaller ID":        {job("first", "", 0, 2, started(5)), job("second", "", 0, 2, started(5))},
	} {
		for _, names := range [][2]string{{"b", "d"}, {"d", "b"}} {
			first, second := c.first, c.second
			first.Queue, second.Queue = names[0], names[1]
			queues := borrowers(fairPolicy, "a", "b", "d")
			for _, q := range names {
				queues.Admitted = append(queues.Admitted, job("rest-"+q, q, 9, 3, started(60)))
			}
			queues.Admitted = append(queues.Admitted, first, second)
			cohorts := queues
			cohorts.Cohorts, cohorts.Queues = append([]queue.Cohort(nil), queues.Cohorts...), append([]queue.Queue(nil), queues.Queues...)
			for i := 2; i < 4; i++ {
				q := &cohorts.Queues[i]
				q.Cohort = "of-" + q.Name
				cohorts.Cohorts = append(cohorts.Cohorts, queue.Cohort{Name: q.Cohort, Parent: "c"})
			}
			mixed := cohorts // the second is in a cohort, and so comes first
			mixed.Queues = append([]queue.Queue(nil), cohorts.Queues...)
			for i := range mixed.Queues {
				if mixed.Queues[i].Name == names[0] {
					mixed.Queues[i].Cohort = "c"
				}
			}
			for kind, of := range map[string]struct {
				st   preemption.State
				want string
			}{"queues": {queues, first.ID}, "cohorts": {cohorts, first.ID}, "a cohort and a queue": {mixed, second.ID}} {
				if name == "evicted" {
					of.want = first.ID // it leaves anyway, and is enough
				}
				d := decideWith(t, preemption.Config{Sharing: preemption.Fair}, snapshotOf(t, of.st), pending("a", 10, 1))
				if len(d.Victims) != 1 || d.Victims[0].Workload != of.want {
					t.Errorf("%s of %s, first in %s: %s, want %s", name, kind, names[0], text(d), of.want)
				}
			}
		}
	}
}

// At equal share a queue with a candidate comes before the own one, whatever its candidate is.
// The queues borrow five of one resource, which is not asked for, and one of the other.
func TestFairTieOfOwnQueue(t *testing.T) {
	both := []quota.Quota{{Flavor: "h100", Resource: "cpu", Nominal: 10}, {Flavor: "h100", Resource: "gpu", Nominal: 10}}
	ofCPU := func(w workload.Workload) workload.Workload {
		w.PodSets[0].Requests[0].Resource = "cpu"
		return w
	}
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
		own, other := names[0], names[1]
		st := borrowers(fairPolicy, "a", "b")
		for i := range st.Queues {
			st.Queues[i].Quotas = []quota.Quota{{Flavor: "h100", Resource: "cpu"}, {Flavor: "h100", Resource: "gpu"}}
		}
		st.Queues[0].Quotas = both
		st.Admitted = []workload.Workload{
			job("base-a", "a", 20, 5, started(60)), job("base-b", "b", 20, 5, started(60)),
			ofCPU(job("lent", "lender", 20, 8, started(60))),
			ofCPU(job("mine", own, 0, 1, started(1))), ofCPU(job("theirs", other, 9, 1, started(9))),
		}
		r := pending(own, 10, 1)
		r.Workload = ofCPU(r.Workload)
		d := decideWith(t, preemption.Config{Sharing: preemption.Fair}, snapshotOf(t, st), r)
		if len(d.Victims) != 1 || d.Victims[0].Workload != "theirs" {
			t.Errorf("own queue %s: %s, want theirs", own, text(d))
		}
	}
}

// A preemptor keeps its own list of strategies.
func TestStrategiesAreKept(t *testing.T) {
	c := preemption.Config{Sharing: preemption.Fair, Strategies: []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}}
	st := preemption.State{
		Cohorts:  []queue.Cohort{{Name: "root"}},
		Queues:   []queue.Queue{{Name: "a", Cohort: "root", Quotas: gpus(0), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}}, {Name: "b", Cohort: "root", Quotas: gpus(0)}, {Name: "lends", Cohort: "root", Quotas: gpus(4)}},
		Admitted: []workload.Workload{job("large", "b", 0, 3, started(5))},
	}
	p := preemptorOf(c)
	s, r := snapshotOf(t, st), pending("a", 0, 2)
	want := must(p.Decide(s, r))(t)
	c.Strategies[0] = preemption.LessThanInitialShare
	got, err := p.Decide(s, r)
	other := decideWith(t, c, s, r)
	if err != nil || got.Outcome != want.Outcome || other.Outcome == want.Outcome {
		t.Errorf("%v, then %v; with the other strategy %v; %v", want.Outcome, got.Outcome, other.Outcome, err)
	}
}

// What is reserved of a cohort's quota makes it borrow, as what runs does: so the workload below it counts
// among those who may yield, and its cpu is not short. Nobody runs on what is reserved.
func TestReservedMakesACohortBorrow(t *testing.T) {
	both := func(gpu, cpu int64) []quota.Quota {
		return append(gpus(gpu), quota.Quota{Flavor: "h100", Resource: "cpu", Nominal: cpu})
	}
	of := func(resource string, amount int64) []quota.Amount {
		return []quota.Amount{{Flavor: "h100", Resource: resource, Amount: amount}}
	}
	runs := job("runs", "b", 0, 1, now)
	runs.PodSets[0].Requests = of("cpu", 1)
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}, {Name: "below", Parent: "all"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "all", Quotas: both(0, 0), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
			{Name: "b", Cohort: "below", Quotas: both(0, 0)},
			{Name: "c", Cohort: "below", Quotas: both(1, 1), Reserved: of("gpu", 2)},
		},
		Admitted: []workload.Workload{runs},
	}
	r := pending("a", 0, 1)
	r.Workload.PodSets[0].Requests = append(r.Workload.PodSets[0].Requests, of("cpu", 1)...)
	config := preemption.Config{Sharing: preemption.Fair}
	config.Protection.Reclaim, config.Protection.FairSharing = time.Hour, time.Hour
	d := decideWith(t, config, snapshotOf(t, st), r)
	if len(d.Shortage) != 1 || d.Shortage[0].Resource != "gpu" || d.Shortage[0].Missing != 2 {
		t.Errorf("%v: %+v", d.Outcome, d.Shortage)
	}
	agrees(t, config, st, r, d)
}

// In fair sharing, too, a cohort that borrows nothing bars what runs below it, and the blocker says so. b uses the
// quota of its sibling c inside mid; mid uses its own quota alone. So it is with another cohort between.
func TestFairNamesTheCohortWithinItsQuota(t *testing.T) {
	for _, deep := range []bool{false, true} {
		st := preemption.State{
			Cohorts: []queue.Cohort{{Name: "root"}, {Name: "mid", Parent: "root"}},
			Queues: []queue.Queue{
				{Name: "a", Cohort: "root", Quotas: gpus(4), Preemption: fairPolicy}, {Name: "b", Cohort: "mid", Quotas: gpus(0)},
				{Name: "c", Cohort: "mid", Quotas: gpus(4)}, {Name: "d", Cohort: "root", Quotas: gpus(0)},
			},
			Admitted: []workload.Workload{job("b1", "b", 0, 4, started(60)), job("a1", "a", 9, 2, started(60)), job("d1", "d", 0, 2, started(60))},
		}
		st.Admitted[2].NeverYields = true
		if deep {
			st.Cohorts = append(st.Cohorts, queue.Cohort{Name: "low", Parent: "mid"})
			st.Queues[1].Cohort = "low"
		}
		for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
			config, r := preemption.Config{Sharing: sharing}, pending("a", 5, 2)
			d := decideWith(t, config, snapshotOf(t, st), r)
			at := slices.IndexFunc(d.Blockers, func(b preemption.Blocker) bool { return b.Cohort == "mid" })
			if d.Outcome != preemption.Impossible || at < 0 || d.Blockers[at].Rule != preemption.RuleWithinNominal {
				t.Errorf("%v, deep %v: %v %+v", sharing, deep, d.Outcome, d.Blockers)
			}
			e, err := explain.Explain(preemptorOf(config), snapshotOf(t, st), r)
			if text := explain.Text(e.Steps); err != nil || !strings.Contains(text, `in the quota of cohort "mid": b1`) {
				t.Errorf("%v, deep %v: %v\n%s", sharing, deep, err, text)
			}
		}
	}
}

// removals counts how often workloads are tried: each is taken out of the room.
type removals struct{ removed int }

func (r *removals) Remove(string)  { r.removed++ }
func (r *removals) Restore(string) {}
func (r *removals) Fits() bool     { return true }

// A strategy is asked about one workload of each kind, however many there are: who takes the same is refused as well. RetryAt takes
// all 100 once.
func TestStrategiesAreAskedOnceForEachKind(t *testing.T) {
	st := borrowers(fairPolicy, "a", "b")
	st.Queues[0].Quotas = gpus(1050)
	for i := range 100 {
		st.Admitted = append(st.Admitted, job(fmt.Sprintf("w%02d", i), "b", 0, int64(10+i%2), started(i+1)))
	}
	room := &removals{}
	r := pending("a", 0, 1045)
	r.Room = room
	d := must(preemptorOf(preemption.Config{Sharing: preemption.Fair}).Decide(snapshotOf(t, st), r))(t)
	if d.Outcome != preemption.Impossible || room.removed <= 100 || room.removed > 105 {
		t.Errorf("%v, after %d of 100 workloads were tried", d.Outcome, room.removed)
	}
}
