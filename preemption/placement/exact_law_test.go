package placement_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
)

// scoreOf rates the victims of a decision, from the state alone.
func scoreOf(st placement.State, d placement.Decision) placement.Score {
	score := placement.Score{Violations: int64(d.Violations), Highest: math.MinInt32}
	for i, v := range d.Victims {
		score.Pods += int64(len(v.Pods))
		score.Sum += int64(len(v.Pods)) * (int64(v.Priority) + 1<<31)
		if i == 0 || v.Priority > score.Highest {
			score.Highest, score.Started = v.Priority, time.Time{}
		}
		for _, p := range st.Pods {
			earlier := !p.Started.IsZero() && (score.Started.IsZero() || p.Started.Before(score.Started))
			if v.Priority == score.Highest && slices.Contains(v.Pods, p.ID) && earlier {
				score.Started = p.Started.UTC()
			}
		}
	}
	return score
}

func drawExact(t *rapid.T) (st placement.State, r placement.Request, c placement.Config) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	c = preemptiontest.PlacementConfigs().Draw(t, "config")
	c.Search = placement.Exact
	return record.State, *record.Request, c
}

// "The best answer has the best Score": Verify, which tries all answers in small domains, finds
// none that is better, in any mode.
func exactIsBest(t *rapid.T) {
	st, r, c := drawExact(t)
	d := decide(t, c, snapshotOf(t, st), r)
	if err := verify.Placement(st, r, c, d); err != nil {
		t.Fatalf("%+v\n%v", d, err)
	}
	needs := r.MinGroups > 0 || len(r.Nested) > 0 || len(st.Claims) > 0 // the search leaves them out
	if p := d.Proof; p != nil && !p.Optimal && !anywhere(c) && !needs {
		t.Fatalf("not proven: %+v", *p)
	}
}

// anywhere reports whether conflicts of a filter reach over the cluster: then a proof may be
// missing.
func anywhere(c placement.Config) bool {
	return slices.ContainsFunc(c.Filters, func(f placement.Filter) bool { return f.Reach() == placement.ReachCluster })
}

func TestExactIsBest(t *testing.T) { rapid.Check(t, exactIsBest) }
func FuzzExactIsBest(f *testing.F) { f.Fuzz(rapid.MakeFuzz(exactIsBest)) }

// "Never worse than that of the steps", whatever the number of nodes, and with set filters too;
// and the bound is one.
func exactIsNeverWorse(t *rapid.T) {
	st, r, c := drawExact(t) // without set filters: about them nothing is claimed
	c.Exact.MaxNodes = rapid.SampledFrom([]int{1, 3, 10, 30, 100, 1000}).Draw(t, "nodes")
	greedy := c
	greedy.Search, greedy.Exact = placement.Greedy, placement.ExactSearch{}
	s := snapshotOf(t, st)
	d, before := decide(t, c, s, r), decide(t, greedy, s, r)
	if err := verify.Placement(st, r, c, d); err != nil {
		t.Fatalf("%+v\n%v", d, err)
	}
	if isBasic(c, st, r) {
		return // one pod after another: the first takes what the second might have had
	}
	// To wait for what is leaving, without victims, is better than a victim.
	waits := before.Outcome == preemption.Preempt && d.Outcome == preemption.Wait && len(d.Nominations) > 0
	if before.Outcome.Succeeds() && !d.Outcome.Succeeds() && !waits || before.Outcome == preemption.Wait && d.Outcome == preemption.Impossible {
		t.Fatalf("%v, but %v in steps", d.Outcome, before.Outcome)
	}
	if before.Outcome != preemption.Preempt || r.MaxDomains > 0 { // fewer violations end sampling sooner
		return
	}
	if now, then := scoreOf(st, d), scoreOf(st, before); now.Compare(then) > 0 {
		t.Fatalf("%+v, in steps %+v", now, then)
	}
}

func TestExactIsNeverWorse(t *testing.T) { rapid.Check(t, exactIsNeverWorse) }
func FuzzExactIsNeverWorse(f *testing.F) { f.Fuzz(rapid.MakeFuzz(exactIsNeverWorse)) }

// The laws of the exact search mean something: it finds what the steps do not, of each kind.
func TestExactReachesEverything(t *testing.T) {
	const n = 3000
	seen := map[string]int{}
	for seed := range n {
		record, c := preemptiontest.PlacementRecords().Example(seed), preemptiontest.PlacementConfigs().Example(seed+7)
		st, r := record.State, *record.Request
		s := snapshotOf(t, st)
		before := decide(t, c, s, r)
		c.Search = placement.Exact
		d := decide(t, c, s, r)
		if d.Proof == nil || isBasic(c, st, r) {
			continue
		}
		seen["proof"]++
		note := func(name string, is bool) {
			if is {
				seen[name]++
			}
		}
		note("optimal", d.Proof.Optimal)
		note("not proven", !d.Proof.Optimal)
		note("room where there was none", before.Outcome == preemption.Impossible && d.Outcome == preemption.Preempt)
		note("nobody has to yield", before.Outcome == preemption.Preempt && d.Outcome == preemption.Fits)
		note("budgets kept", before.Reason == placement.ReasonBudgets && d.Outcome == preemption.Preempt)
		if before.Outcome != preemption.Preempt || d.Outcome != preemption.Preempt {
			continue
		}
		now, then := scoreOf(st, d), scoreOf(st, before)
		note("better", now.Compare(then) < 0)
		note("fewer violations", now.Violations < then.Violations)
		note("lower priority", now.Violations == then.Violations && now.Highest < then.Highest)
		note("fewer pods", now.Violations == then.Violations && now.Highest == then.Highest && now.Pods < then.Pods)
		note("started later", now.Pods == then.Pods && now.Sum == then.Sum && now.Violations == then.Violations && now.Highest == then.Highest && now.Compare(then) < 0)
		note("better, a group yields", now.Compare(then) < 0 && slices.ContainsFunc(d.Victims, func(v placement.Victim) bool { return v.Group != "" }))
		note("better, with filters", now.Compare(then) < 0 && len(c.Filters) > 0)
	}
	for name, floor := range map[string]int{
		"proof": 1000, "optimal": 1000, "better": 60, "room where there was none": 2, "nobody has to yield": 1, "budgets kept": 2,
		"fewer violations": 5, "lower priority": 10, "fewer pods": 20, "started later": 2, "better, a group yields": 3, "better, with filters": 10,
	} {
		if t.Logf("%s: %d", name, seen[name]); seen[name] < floor {
			t.Errorf("%s: %d, want %d", name, seen[name], floor)
		}
	}
}

// Verify finds each way to spoil what the search says.
func TestSpoiltProofs(t *testing.T) {
	type question struct {
		st placement.State
		r  placement.Request
		c  placement.Config
	}
	ways := []struct {
		name string
		do   func(q *question, d *placement.Decision) bool
	}{
		{"no proof", func(_ *question, d *placement.Decision) bool {
			d.Proof = nil
			return d.Outcome == preemption.Preempt
		}},
		{"a proof of steps", func(q *question, _ *placement.Decision) bool {
			q.c.Search = placement.Greedy
			return q.c.Mode != placement.ModeReplace
		}},
		{"a better value", func(_ *question, d *placement.Decision) bool {
			d.Proof.Value.Pods--
			return d.Outcome == preemption.Preempt
		}},
		{"a bound too high", func(_ *question, d *placement.Decision) bool {
			d.Proof.LowerBound.Sum++
			return d.Outcome == preemption.Preempt
		}},
		{"optimal with a gap", func(_ *question, d *placement.Decision) bool {
			d.Proof.LowerBound = placement.Score{Highest: math.MinInt32}
			return d.Outcome == preemption.Preempt
		}},
		{"the answer of the steps", func(q *question, d *placement.Decision) bool {
			c := q.c
			c.Search = placement.Greedy
			proof := *d.Proof
			*d = decide(t, c, snapshotOf(t, q.st), q.r)
			score := scoreOf(q.st, *d)
			better := proof.Value.Compare(score) < 0
			d.Proof = &placement.Proof{Optimal: true, Value: score, LowerBound: score}
			return d.Outcome == preemption.Preempt && better && len(q.st.Pods) <= 12 && q.c.Budgets == placement.Soft
		}},
		{"nothing is allowed", func(q *question, d *placement.Decision) bool {
			small := d.Outcome == preemption.Preempt && len(q.st.Pods) <= 12 && q.r.MinCount == len(q.r.Pods)
			*d = placement.Decision{Outcome: preemption.Impossible, Reason: placement.ReasonBudgets, Proof: &placement.Proof{Optimal: true}}
			return small
		}},
	}
	applied := map[string]int{}
	for seed := range 1500 {
		record := preemptiontest.PlacementRecords().Example(seed)
		q := question{record.State, *record.Request, preemptiontest.PlacementConfigs().Example(seed + 1)}
		q.c.Search = placement.Exact
		s := snapshotOf(t, q.st)
		for _, way := range ways {
			d, spoilt := decide(t, q.c, s, q.r), q
			if d.Proof == nil || isBasic(q.c, q.st, q.r) || !d.Proof.Optimal || !way.do(&spoilt, &d) {
				continue
			}
			applied[way.name]++
			if err := verify.Placement(spoilt.st, spoilt.r, spoilt.c, d); err == nil {
				t.Errorf("%d: %s: %+v", seed, way.name, d)
			}
		}
	}
	for _, way := range ways {
		if t.Logf("%s: %d", way.name, applied[way.name]); applied[way.name] < 5 {
			t.Errorf("%s: %d times", way.name, applied[way.name])
		}
	}
}

// A decision of the exact search can be carried out, and is the same each time.
func exactDecides(t *rapid.T) {
	st, r, c := drawExact(t)
	s := snapshotOf(t, st)
	d := decide(t, c, s, r)
	if diff := cmp.Diff(d, decide(t, c, s, r), same); diff != "" {
		t.Fatalf("asked again:\n%s", diff)
	}
	if _, err := s.With(d.Edits()...); err != nil {
		t.Fatal(err)
	}
	e := explainWith(t, c, s, r)
	if diff := cmp.Diff(d, e.Decision, same); diff != "" {
		t.Fatalf("-Decide +Explain:\n%s", diff)
	}
	for _, of := range e.Domains {
		if of.Better && of.Victims > 0 && of.Reason != 0 {
			t.Fatalf("%+v", of)
		}
	}
	if d.RetryAt.IsZero() {
		return
	}
	if r.Now = d.RetryAt; !decide(t, c, s, r).Outcome.Succeeds() {
		t.Fatalf("at %v: %v", d.RetryAt, decide(t, c, s, r).Outcome)
	}
}

func TestExactDecides(t *testing.T) { rapid.Check(t, exactDecides) }
func FuzzExactDecides(f *testing.F) { f.Fuzz(rapid.MakeFuzz(exactDecides)) }
