package preemption_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// anHour is an hour of minimum runtime for everybody.
var anHour = minruntime.Defaults{Preempt: quota.Some(time.Hour)}

// holds is a workload of the own queue that holds the CPUs or GPUs of a flavor since so
// many minutes.
func holds(id, flavor, resource string, priority int64, minutes int) workload.Workload {
	w := runs(id, "a", priority, flavor, 4)
	w.PodSets[0].Requests[0].Resource = resource
	w.ReservedAt = started(minutes)
	return w
}

// Time alone may give candidates to another flavor before it does to the one assigned:
// RetryAt is no later, and no earlier than that flavor's last resource has some.
func TestRetryAtOfAnotherFlavor(t *testing.T) {
	p := preemptorOf(preemption.Config{MinRuntime: anHour})
	both := append(inFlavors(4, 4), quota.Quota{Flavor: "A", Resource: "cpu", Nominal: 4}, quota.Quota{Flavor: "B", Resource: "cpu", Nominal: 4})
	for _, c := range []struct {
		name     string
		quotas   []quota.Quota
		admitted []workload.Workload
		want     string
		minutes  int // until RetryAt
	}{
		{"B is sooner", inFlavors(4, 4), []workload.Workload{holds("a1", "A", "gpu", 0, 5), holds("a2", "B", "gpu", 0, 30)},
			"Wait: A Preempt/NoCandidates+1 (A NoCandidates, B NoCandidates)", 30},
		{"A is sooner", inFlavors(4, 4), []workload.Workload{holds("a1", "A", "gpu", 0, 30), holds("a2", "B", "gpu", 0, 5)},
			"Wait: A Preempt/NoCandidates+1 (A NoCandidates, B NoCandidates)", 30},
		{"A never", inFlavors(4, 4), []workload.Workload{holds("a1", "A", "gpu", 10, 30), holds("a2", "B", "gpu", 0, 5)},
			"Wait: A Preempt/NoCandidates+1 (A NoCandidates, B NoCandidates)", 55},
		{"both never", inFlavors(4, 4), []workload.Workload{holds("a1", "A", "gpu", 10, 30), holds("a2", "B", "gpu", 10, 5)},
			"Impossible: A Preempt/NoCandidates+1 (A NoCandidates, B NoCandidates)", 0},
		{"B when both its resources have", both, []workload.Workload{
			holds("a1", "A", "cpu", 0, 5), holds("a2", "A", "gpu", 0, 4), holds("a3", "B", "gpu", 0, 40), holds("a4", "B", "cpu", 0, 30)},
			"Wait: A Preempt/NoCandidates+1 Preempt/NoCandidates+1 (A NoCandidates, B NoCandidates)", 30},
		{"A when both its resources have", both, []workload.Workload{
			holds("a1", "A", "cpu", 0, 40), holds("a2", "A", "gpu", 0, 30), holds("a3", "B", "gpu", 0, 4), holds("a4", "B", "cpu", 0, 5)},
			"Wait: A Preempt/NoCandidates+1 Preempt/NoCandidates+1 (A NoCandidates, B NoCandidates)", 30},
		{"another group is later", append(inFlavors(4, 0), quota.Quota{Flavor: "C", Resource: "cpu", Nominal: 4}),
			[]workload.Workload{holds("a1", "A", "gpu", 0, 10), holds("a2", "C", "cpu", 0, 40)},
			"Wait: A Preempt/NoCandidates+1 (A NoCandidates, B ExceedsMaxQuota) C Preempt/NoCandidates+1 (C NoCandidates)", 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshotOf(t, pair(c.quotas, nil, queue.FlavorFungibility{}, c.admitted...))
			r := asks(4)
			if len(c.quotas) > 2 {
				r.Workload.PodSets[0].Requests = append(r.Workload.PodSets[0].Requests, quota.Amount{Resource: "cpu", Amount: 1})
			}
			d, err := p.Decide(s, r)
			if err != nil || assignmentText(d) != c.want {
				t.Errorf("got  %s, %v\nwant %s", assignmentText(d), err, c.want)
			}
			verified(t, s.State(), r, preemption.Config{MinRuntime: anHour}, d)
			if c.minutes == 0 {
				return
			}
			if want := now.Add(time.Duration(c.minutes)*time.Minute + 1); !d.RetryAt.Equal(want) {
				t.Fatalf("RetryAt is %v, want %v", d.RetryAt, want)
			}
			for at, want := range map[time.Time]preemption.Outcome{d.RetryAt: preemption.Preempt, d.RetryAt.Add(-1): preemption.Wait} {
				r.Now = at
				if d, err := p.Decide(s, r); err != nil || d.Outcome != want {
					t.Errorf("at %v %s, %v", at, assignmentText(d), err)
				}
			}
		})
	}
}

// Where no flavor is left for a later pod set, time helps by another flavor for an earlier
// one: the answer is to wait, not that it is impossible.
func TestRetryAtOfAnEarlierChoice(t *testing.T) {
	p := preemptorOf(preemption.Config{MinRuntime: minruntime.Defaults{Preempt: quota.Some(10 * time.Minute)}})
	held := runs("a", "a", 0, "A", 1)
	held.ReservedAt = started(1)
	free := runs("b", "a", 0, "B", 6)
	free.ReservedAt = started(60)
	s := snapshotOf(t, pair(inFlavors(2, 6), nil, queue.FlavorFungibility{}, held, free))
	r := asks(2, 6)
	d, err := p.Decide(s, r)
	if want := now.Add(9*time.Minute + 1); err != nil || d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
		t.Errorf("%v until %v, %v: want to wait until %v", d.Outcome, d.RetryAt, err, want)
	}
	r.Now = d.RetryAt
	if d, _ := p.Decide(s, r); d.Outcome != preemption.Preempt {
		t.Errorf("%+v at RetryAt", d)
	}
	quick := preemptorOf(preemption.Config{MinRuntime: minruntime.Defaults{Preempt: quota.Some(10 * time.Minute)}, MaxRetrySteps: -1})
	r.Now = now
	if d, _ := quick.Decide(s, r); d.Outcome != preemption.Wait || !d.RetryAt.IsZero() {
		t.Errorf("%v until %v without RetryAt", d.Outcome, d.RetryAt)
	}
}

// For a workload that never preempts, time makes no room, however short the search for it.
func TestNeverPreemptsNeverWaits(t *testing.T) {
	var admitted []workload.Workload
	for i, id := range []string{"a1", "a2", "a3"} {
		w := holds(id, "A", "gpu", 0, 10*i+5)
		w.PodSets[0].MinCount = workload.AtLeast(1)
		admitted = append(admitted, w)
	}
	r := asks(4)
	r.Workload.NeverPreempts = true
	r.Workload.PodSets[0].Requests[0].Flavor = "A"
	p := preemptorOf(preemption.Config{MaxRetrySteps: 1, MinRuntime: anHour})
	d, err := p.Decide(snapshotOf(t, pair(inFlavors(12, 0), nil, queue.FlavorFungibility{}, admitted...)), r)
	if err != nil || d.Outcome != preemption.Impossible || !d.RetryAt.IsZero() {
		t.Errorf("%+v, %v", d, err)
	}
}

// sparesFor keeps everybody from a request of the given number of pod sets.
type sparesFor int

func (n sparesFor) Verdict(_ workload.Workload, r preemption.Request) preemption.Verdict {
	if len(r.Workload.PodSets) == int(n) {
		return preemption.NeverYields()
	}
	return preemption.MayYield()
}

// Guards see the request as it was asked, in the assignment as in a forecast.
func TestGuardsSeeTheWholeRequest(t *testing.T) {
	s := snapshotOf(t, pair(inFlavors(4, 0), nil, stopPreempt, runs("a1", "a", 0, "A", 4)))
	p := preemptorOf(preemption.Config{Guards: []preemption.Guard{sparesFor(2)}})
	d, err := p.Decide(s, asks(2, 2))
	if err != nil || d.Assignment[0].Resources[0].Possibility != preemption.PossibilityNoCandidates {
		t.Errorf("%s, %v", assignmentText(d), err)
	}
	f, err := p.Forecast(s, asks(2, 2), quota.Amount{Flavor: "A", Resource: "gpu", Amount: 2})
	if err != nil || f.Possibility != preemption.PossibilityNoCandidates {
		t.Errorf("%+v, %v", f, err)
	}
}
