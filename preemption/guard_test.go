package preemption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func TestGuardKeepsItsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		preemptiontest.CheckGuard(t, preemptiontest.ByUID{Never: "u0", Until: "u1", Time: now})
	})
}

// All protections count, and the latest end wins: policy, minimum runtime, guard.
func TestProtectionsCompose(t *testing.T) {
	w := job("low", "a", 0, 4, started(30))
	w.UID = "u"
	st := preemption.State{
		Queues: []queue.Queue{{
			Name: "a", Quotas: gpus(4), Preemption: reclaims,
			MinRuntime: minruntime.Settings{Preempt: quota.Some(time.Hour)}, // until now + 30m
		}},
		Admitted: []workload.Workload{w},
	}
	s := snapshotOf(t, st)
	for _, c := range []struct {
		name  string
		guard preemptiontest.ByUID
		want  string
		until time.Time
	}{
		{"no guard", preemptiontest.ByUID{}, "Wait: GuaranteedRuntime a low", started(-30)},
		{"an earlier end", preemptiontest.ByUID{Until: "u", Time: started(-10)}, "Wait: GuaranteedRuntime a low", started(-30)},
		{"a later end", preemptiontest.ByUID{Until: "u", Time: started(-50)}, "Wait: GuaranteedRuntime a low", started(-50)},
		{"never", preemptiontest.ByUID{Never: "u"}, "Impossible: GuaranteedRuntime a low", time.Time{}},
	} {
		p := preemptorOf(preemption.Config{Guards: []preemption.Guard{c.guard}})
		d := must(p.Decide(s, pending("a", 10, 4)))(t)
		want := c.until
		if !want.IsZero() {
			want = want.Add(1)
		}
		if got := text(d); got != c.want || !d.RetryAt.Equal(want) {
			t.Errorf("%s: %s until %v, want %s until %v", c.name, got, d.RetryAt, c.want, want)
		}
	}
	_, err := preemption.New(preemption.Config{Guards: []preemption.Guard{nil}, MinRuntime: minruntime.Defaults{Method: 9,
		Preempt: quota.Some(time.Duration(-1)), Reclaim: quota.Some(time.Duration(-1)),
	}})
	wantFaults(t, err, "config.MinRuntime.Preempt: -1ns is negative", "config.MinRuntime.Reclaim: -1ns is negative",
		"config.MinRuntime.Method: Method(9) is unknown", "config.Guards[0]: is nil")
}

// recorder is a guard that notes who it is asked about; it keeps those of a priority.
type recorder struct {
	asked *[]string
	keeps int64
}

func (g recorder) Verdict(w workload.Workload, _ preemption.Request) preemption.Verdict {
	*g.asked = append(*g.asked, w.ID)
	if w.Priority == g.keeps {
		return preemption.NeverYields()
	}
	return preemption.MayYield()
}

// A guard is asked last: not about those whom a policy or a minimum runtime keeps, nor
// about those who use nothing that needs preemption.
func TestGuardsAreAskedLast(t *testing.T) {
	other := job("other flavor", "a", 0, 1, started(120))
	other.PodSets[0].Requests[0].Flavor = "a100"
	surplus := job("protected surplus of another flavor", "a", 0, 3, started(1))
	surplus.PodSets[0].Requests[0].Flavor, surplus.PodSets[0].MinCount = "a100", workload.AtLeast(0)
	st := preemption.State{
		Queues: []queue.Queue{{
			Name: "a", Quotas: append(gpus(4), quota.Quota{Flavor: "a100", Resource: "gpu", Nominal: 4}),
			Preemption: reclaims, MinRuntime: minruntime.Settings{Preempt: quota.Some(time.Hour)},
		}},
		Admitted: []workload.Workload{
			other, surplus, job("protected", "a", 0, 1, started(1)), job("important", "a", 10, 1, started(120)),
			job("first", "a", 1, 1, started(120)), job("second", "a", 2, 1, started(120)),
		},
	}
	for sharing, want := range map[preemption.Sharing]string{preemption.Classical: "[first second]", preemption.Fair: "[first second]"} {
		var asked []string
		d := decideWith(t, preemption.Config{Sharing: sharing, Guards: []preemption.Guard{recorder{&asked, 1}}}, snapshotOf(t, st), pending("a", 10, 1))
		slices.Sort(asked)
		if got := fmt.Sprint(slices.Compact(asked)); got != want || text(d) != "Preempt: second InClusterQueue" {
			t.Errorf("%v: asked about %s, want %s; %s", sharing, got, want, text(d))
		}
	}
}

// "The last instant at which it is protected; ok is false when it never is, or
// always."
func TestVerdictUntil(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		verdict      preemption.Verdict
		until, never bool
	}{
		"zero":          {preemption.Verdict{}, false, false},
		"may yield":     {preemption.MayYield(), false, false},
		"the zero time": {preemption.ProtectedUntil(time.Time{}), false, false},
		"until noon":    {preemption.ProtectedUntil(noon), true, false},
		"never":         {preemption.NeverYields(), false, true},
	} {
		until, ok := c.verdict.Until()
		if ok != c.until || ok && !until.Equal(noon) || c.verdict.Never() != c.never {
			t.Errorf("%s: until %v, %v, never %v", name, until, ok, c.verdict.Never())
		}
	}
}
