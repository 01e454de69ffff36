package verify_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The answers here are those of earlier versions of the library, which their judge accepted. Each is refused for what was wrong
// with it, and the right answer is accepted.

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func runs(id, queue string, priority int64, amounts ...quota.Amount) workload.Workload {
	hour := noon.Add(-time.Hour)
	return workload.Workload{ID: id, Queue: queue, Priority: priority, Queued: hour, Created: hour, ReservedAt: hour, PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: amounts}}}
}

func gpu(n int64) quota.Amount { return quota.Amount{Flavor: "f", Resource: "gpu", Amount: n} }

func waits(id, queue string, priority int64, amounts ...quota.Amount) workload.Workload {
	w := runs(id, queue, priority, amounts...)
	w.ReservedAt = time.Time{}
	return w
}

// refused judges an answer of which a text is wrong, and the right answer.
func refused(t *testing.T, judge func(preemption.Decision) error, wrong, right preemption.Decision, text string) {
	t.Helper()
	if err := judge(wrong); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("the wrong answer: %v, want %q", err, text)
	}
	if err := judge(right); err != nil {
		t.Errorf("the right answer: %v", err)
	}
}

// full is a room that is full until a pod on a node has left.
type full struct{}

func (full) Remove(string)  {}
func (full) Restore(string) {}
func (full) Fits() bool     { return false }
func (full) FitsSoon() bool { return true }

// TestRefusesAdmissionBesideALeavingPod: nothing is admitted while the pod in whose place it comes is still there.
func TestRefusesAdmissionBesideALeavingPod(t *testing.T) {
	low := runs("low", "a", 1, gpu(1))
	low.Evicted = true
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 4}}}}, Admitted: []workload.Workload{low}}
	r := preemption.Request{Workload: waits("x", "a", 10, gpu(1)), Now: noon, Room: full{}}
	admitted := r.Workload.Clone()
	admitted.ReservedAt = noon
	judge := func(d preemption.Decision) error { return verify.Decision(st, r, preemption.Config{}, d) }
	refused(t, judge, preemption.Decision{Outcome: preemption.Fits, Admitted: &admitted}, preemption.Decision{Outcome: preemption.Wait, Leaving: true},
		"Fits, but the request does not fit now")
}

// TestRefusesAnotherVictimBesideTheLeaving: of two victims one has left. The other one, on its way, is still enough.
func TestRefusesAnotherVictimBesideTheLeaving(t *testing.T) {
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.LowerPriority}
	of := func(name string, nominal int64) queue.Queue {
		return queue.Queue{Name: name, Cohort: "c", Preemption: policy, Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: nominal}}}
	}
	small := runs("small", "b", 1, gpu(1))
	small.Evicted = true
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}}, Queues: []queue.Queue{of("a", 3), of("b", 1)},
		Admitted: []workload.Workload{runs("mine", "a", 9, gpu(1)), small},
	}
	r := preemption.Request{Workload: waits("x", "a", 10, gpu(3)), Now: noon}
	for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair, preemption.Stable} {
		judge := func(d preemption.Decision) error {
			return verify.Decision(st, r, preemption.Config{Sharing: sharing}, d)
		}
		reason := preemption.InCohortReclamation
		if sharing == preemption.Stable || sharing == preemption.Fair {
			reason = preemption.InCohortFairSharing
		}
		right := preemption.Decision{Outcome: preemption.Preempt, BorrowHeight: 1, Victims: []preemption.Victim{{Workload: "small", Queue: "b", Cohort: "c", Reason: reason, Leaving: true}}}
		refused(t, judge, preemption.Decision{Outcome: preemption.Preempt, Victims: []preemption.Victim{{Workload: "mine", Queue: "a", Reason: preemption.InClusterQueue}}}, right,
			"what leaves already is enough")
		if err := judge(preemption.Decision{Outcome: preemption.Impossible, BorrowHeight: 1}); err == nil {
			t.Errorf("%v: Impossible is accepted", sharing)
		}
	}
}

// settled judges answers about a state in JSON that a function spoils.
func settled(t *testing.T, state, request string, c preemption.Config, spoil func(*settle.Answer), text string) {
	t.Helper()
	var st preemption.State
	var r settle.Request
	if err := json.Unmarshal([]byte(state), &st); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(request), &r); err != nil {
		t.Fatal(err)
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	p, err := preemption.New(c)
	if err != nil {
		t.Fatal(err)
	}
	a, err := settle.Decide(p, s, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := verify.Settlement(st, r, c, a); err != nil {
		t.Errorf("the right answer: %v", err)
	}
	spoil(&a)
	if err := verify.Settlement(st, r, c, a); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("the wrong answer: %v, want %q", err, text)
	}
}

const borrowsAnother = `{"cohorts":[{"name":"c"}],"queues":[
	{"name":"a","cohort":"c","quotas":[{"flavor":"f","resource":"cpu","nominal":3},{"flavor":"f","resource":"gpu","nominal":0}]},
	{"name":"b","cohort":"c","quotas":[{"flavor":"f","resource":"cpu","nominal":0},{"flavor":"f","resource":"gpu","nominal":0}]}],"admitted":[
	{"id":"a/cpu","queue":"a","priority":-1,"podSets":[{"name":"m","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":3}]}]},
	{"id":"a/gpu","queue":"a","podSets":[{"name":"m","count":1,"requests":[{"flavor":"f","resource":"gpu","amount":1}]}]},
	{"id":"b/cpu","queue":"b","podSets":[{"name":"m","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":3}]}]}]}`

// TestRefusesWhatIsWithinTheNominalQuota: queue a gives no cpu because it borrows a gpu.
func TestRefusesWhatIsWithinTheNominalQuota(t *testing.T) {
	for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
		spoil := func(a *settle.Answer) {
			swap := func(list []preemption.Victim) {
				for i := range list {
					if list[i].Workload == "b/cpu" {
						list[i].Workload, list[i].Queue = "a/cpu", "a"
					}
				}
			}
			swap(a.Victims)
			a.Victims[0], a.Victims[1] = a.Victims[1], a.Victims[0]
			for i := range a.Steps {
				swap(a.Steps[i].Victims)
				swap(a.Steps[i].Decision.Victims)
			}
		}
		settled(t, borrowsAnother, `{"now":"2026-01-01T12:00:00Z"}`, preemption.Config{Sharing: sharing}, spoil, `no policy permits "a/cpu" to be preempted`)
	}
}

// TestRefusesAnInstantThatNeverHelps: nobody who is over may ever leave, and a time is said.
func TestRefusesAnInstantThatNeverHelps(t *testing.T) {
	const state = `{"queues":[{"name":"a","quotas":[{"flavor":"f","resource":"gpu","nominal":0}]}],"admitted":[
		{"id":"a/x","queue":"a","neverYields":true,"podSets":[{"name":"m","count":1,"requests":[{"flavor":"f","resource":"gpu","amount":1}]}]}]}`
	spoil := func(a *settle.Answer) {
		a.Outcome, a.RetryAt = preemption.Wait, noon.Add(15*time.Minute)
		for i := range a.Steps {
			a.Steps[i].Decision.Outcome, a.Steps[i].Decision.RetryAt = preemption.Wait, a.RetryAt
		}
	}
	settled(t, state, `{"now":"2026-01-01T12:00:00Z"}`, preemption.Config{}, spoil, "time has not helped")
}

// TestRefusesMoreThanMaxVictims: two leave where one was asked for.
func TestRefusesMoreThanMaxVictims(t *testing.T) {
	var both settle.Answer
	settled(t, borrowsAnother, `{"now":"2026-01-01T12:00:00Z"}`, preemption.Config{}, func(a *settle.Answer) {
		both = *a
		a.Victims = a.Victims[:1]
	}, "answer.victims")
	settled(t, borrowsAnother, `{"now":"2026-01-01T12:00:00Z","maxVictims":1}`, preemption.Config{}, func(a *settle.Answer) { *a = both }, "are 2, at most 1 are asked for")
}
