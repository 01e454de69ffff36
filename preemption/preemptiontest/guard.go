package preemptiontest

import (
	"reflect"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// CheckGuard checks the laws of [preemption.Guard] on generated workloads and requests: the
// same arguments give the same verdict; the verdict does not depend on Request.Now; the guard
// does not change its arguments. Call it from a property: rapid.Check(t, func(t *rapid.T) {
// CheckGuard(t, guard) }).
func CheckGuard(t *rapid.T, g preemption.Guard) {
	record := Records().Draw(t, "record")
	r := *record.Request
	running := append([]workload.Workload{r.Workload}, record.State.Admitted...)
	w := rapid.SampledFrom(running).Draw(t, "workload")
	before, requestBefore := w.Clone(), r.Workload.Clone()
	first := g.Verdict(w, r)
	if again := g.Verdict(w, r); again != first {
		t.Fatalf("the verdict on %q is %+v, then %+v", w.ID, first, again)
	}
	later := r
	later.Now = r.Now.Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "later")))
	if at := g.Verdict(w, later); at != first {
		t.Fatalf("the verdict on %q is %+v at %v, and %+v at %v", w.ID, first, r.Now, at, later.Now)
	}
	if !reflect.DeepEqual(before, w) || !reflect.DeepEqual(requestBefore, r.Workload) {
		t.Fatalf("the guard changes its arguments")
	}
}

// ByUID is a guard for tests: workloads with one UID never yield, those with another are
// protected until a time.
type ByUID struct {
	Never, Until string
	Time         time.Time
}

// Verdict implements [preemption.Guard].
func (g ByUID) Verdict(w workload.Workload, _ preemption.Request) preemption.Verdict {
	switch w.UID {
	case g.Never:
		return preemption.NeverYields()
	case g.Until:
		return preemption.ProtectedUntil(g.Time)
	}
	return preemption.MayYield()
}

func guards(t *rapid.T) []preemption.Guard {
	if !chance(t, 1, 6) {
		return nil
	}
	return []preemption.Guard{
		ByUID{"u0", "u1", Now.Add(pick[time.Duration](t, "until", -10, 0, 7, 15) * time.Minute)},
		ByUID{"none", "u1", Now.Add(pick[time.Duration](t, "also until", -10, 5, 20) * time.Minute)},
	}
}
