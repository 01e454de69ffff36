package preemption_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

var sharesNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// team is a queue of GPUs: -1 is unlimited.
func team(name, parent string, deserved, weight, request int64) fairshare.Queue {
	c := fairshare.Claim{Resource: "gpu", Quota: deserved, OverQuotaWeight: float64(weight), Request: request}
	if deserved < 0 {
		c.Quota = quota.Unlimited
	}
	return fairshare.Queue{Name: name, Parent: parent, Claims: []fairshare.Claim{c}}
}

// gpuJob is a workload of pods with one GPU each, created and started some minutes ago.
func gpuJob(id, queue string, priority, count int64, minutes int) workload.Workload {
	at := sharesNow.Add(-time.Duration(minutes) * time.Minute)
	return workload.Workload{ID: id, Queue: queue, Priority: priority, Created: at, ReservedAt: at, PodSets: []workload.PodSet{
		{Name: "main", Count: count, Requests: []quota.Amount{{Flavor: "default", Resource: "gpu", Amount: 1}}}}}
}

func sharesState(total int64, queues []fairshare.Queue, running ...workload.Workload) preemption.State {
	st := preemption.State{FairShares: fairshare.Tree{Resources: []fairshare.Resource{{Name: "gpu", Total: total}}, Queues: queues}, Admitted: running}
	st.Cohorts, st.Queues = preemption.QueuesOf(st.FairShares, "all queues", "default")
	return st
}

func several(prefix, queue string, priority int64, n int) (list []workload.Workload) {
	for i := range n {
		list = append(list, gpuJob(prefix+string(rune('0'+i)), queue, priority, 1, 60-i))
	}
	return list
}

func pendingGPUs(queue string, priority, count int64) workload.Workload {
	w := gpuJob("pending", queue, priority, count, 0)
	w.ReservedAt = time.Time{}
	return w
}

func fixedOf(w workload.Workload) workload.Workload {
	w.NeverYields = true
	return w
}

// TestKAI has situations of KAI's own test harness.
func TestKAI(t *testing.T) {
	elastic := gpuJob("b-job", "b", 50, 8, 60)
	elastic.PodSets[0].MinCount = workload.AtLeast(4)
	rigid := gpuJob("b-job", "b", 50, 8, 60)
	rigid.PodSets[0].MinCount = workload.AtLeast(6)
	protected := sharesState(4, []fairshare.Queue{team("a", "", 2, 1, 2), team("b", "", 2, 1, 4)},
		gpuJob("b0", "b", 50, 1, 100), gpuJob("b1", "b", 50, 1, 90), gpuJob("b2", "b", 50, 1, 80), gpuJob("b3", "b", 50, 1, 70))
	protected.Queues[1].MinRuntime = minruntime.Settings{Reclaim: quota.Some(10 * time.Minute)}
	protected.Admitted[2].ReservedAt = sharesNow.Add(-time.Minute)
	allProtected := protected
	allProtected.Admitted = nil
	for i, w := range protected.Admitted {
		w.ReservedAt = sharesNow.Add(-time.Duration(i+1) * time.Minute)
		allProtected.Admitted = append(allProtected.Admitted, w)
	}
	departments := sharesState(4, []fairshare.Queue{team("d1", "", 2, 1, 0), team("a", "d1", 1, 1, 1), team("x", "d1", 1, 1, 3), team("d2", "", 2, 1, 0), team("y", "d2", 2, 1, 1)},
		append(several("x", "x", 50, 3), gpuJob("y0", "y", 50, 1, 5))...)
	pairs, singles := gpuJob("b-job", "b", 50, 4, 60), gpuJob("b-job", "b", 50, 4, 60)
	pairs.PodSets[0].MinCount, singles.PodSets[0].MinCount = workload.AtLeast(2), workload.AtLeast(1)
	overOne := []fairshare.Queue{team("a", "", 2, 1, 2), team("b", "", 3, 1, 4)} // both are entitled to 5 of 4
	for name, c := range map[string]struct {
		state   preemption.State
		pending workload.Workload
		want    string
	}{
		"of a surplus as many as the minimum together": {sharesState(4, overOne, pairs), pendingGPUs("a", 50, 2), "Preempt b-job×2"},
		"and others singly":                            {sharesState(4, overOne, singles), pendingGPUs("a", 50, 2), "Impossible"},
		"the newest of who is over its share go": {sharesState(8, []fairshare.Queue{team("a", "", 4, 1, 2), team("b", "", 4, 1, 8)}, several("b", "b", 50, 8)...),
			pendingGPUs("a", 50, 2), "Preempt b6 b7"},
		"idle room goes to whoever asks":            {sharesState(4, []fairshare.Queue{team("a", "", 0, 0, 1), team("b", "", 4, 1, 0)}), pendingGPUs("a", 50, 1), "Fits"},
		"what never yields needs quota":             {sharesState(4, []fairshare.Queue{team("a", "", 0, 1, 1)}), fixedOf(pendingGPUs("a", 100, 1)), "Impossible 1 gpu within the quota"},
		"who is within quota keeps all":             {departments, pendingGPUs("a", 50, 1), "Preempt x2"},
		"surplus goes first":                        {sharesState(8, []fairshare.Queue{team("a", "", 4, 1, 2), team("b", "", 4, 1, 8)}, elastic), pendingGPUs("a", 50, 2), "Preempt b-job×2"},
		"then the gang goes whole":                  {sharesState(8, []fairshare.Queue{team("a", "", 4, 1, 4), team("b", "", 4, 1, 8)}, rigid), pendingGPUs("a", 50, 4), "Preempt b-job"},
		"who is protected is passed over":           {protected, pendingGPUs("a", 50, 2), "Preempt b1 b3"},
		"all are protected for a while":             {allProtected, pendingGPUs("a", 50, 1), "Wait 12:06:00.000000001"},
		"over its share a queue preempts in itself": {sharesState(2, []fairshare.Queue{team("a", "", 1, 1, 4)}, several("a", "a", 50, 2)...), fixedOf(pendingGPUs("a", 100, 1)), "Preempt a1"},
		"and not equals":                            {sharesState(2, []fairshare.Queue{team("a", "", 1, 1, 4)}, several("a", "a", 50, 2)...), pendingGPUs("a", 50, 1), "Impossible"},
		"a limit holds": {sharesState(8, []fairshare.Queue{{Name: "a", Claims: []fairshare.Claim{{Resource: "gpu", Quota: 4, Limit: quota.AtMost(1), Request: 2}}}}), pendingGPUs("a", 50, 2),
			"Impossible 1 gpu"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := preemption.NewSnapshot(c.state)
			if err != nil {
				t.Fatal(err)
			}
			p, err := preemption.New(preemption.Config{Sharing: preemption.KAI})
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.Decide(s, preemption.Request{Workload: c.pending, Now: sharesNow})
			if err != nil {
				t.Fatal(err)
			}
			if got := told(d); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// What was told to leave holds nothing for shares: a queue that loses a workload of its own may reclaim as if that were gone.
func TestLeavingHoldsNoShare(t *testing.T) {
	st := sharesState(4, []fairshare.Queue{team("a", "", 2, 1, 2), team("b", "", 2, 1, 4)}, gpuJob("leaves", "a", 50, 1, 60))
	st.Admitted[0].Evicted = true
	st.Admitted = append(st.Admitted, several("b", "b", 50, 3)...)
	p, err := preemption.New(preemption.Config{Sharing: preemption.KAI})
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decide(must(preemption.NewSnapshot(st))(t), preemption.Request{Workload: pendingGPUs("a", 50, 2), Now: sharesNow})
	if got := told(d); err != nil || got != "Preempt b2 leaves" {
		t.Errorf("%q, %v, %+v", got, err, d)
	}
}

// told is a decision in a line.
func told(d preemption.Decision) string {
	text := d.Outcome.String()
	for _, v := range d.Victims {
		text += " " + v.Workload
		for _, r := range v.Replicas {
			text += "×" + string(rune('0'+r.Count))
		}
	}
	for _, s := range d.Shortage {
		if d.Outcome == preemption.Impossible && (s.NeverYields || s.PotentialAvailable < 2) {
			text += " " + string(rune('0'+s.Missing)) + " " + s.Resource
		}
		if s.NeverYields {
			text += " within the quota"
		}
	}
	if !d.RetryAt.IsZero() {
		text += " " + d.RetryAt.Format("15:04:05.999999999")
	}
	return text
}

// A tree that does not match the state is refused whole, with the path of each fault.
func TestFairSharesFaults(t *testing.T) {
	good := func() preemption.State {
		return sharesState(4, []fairshare.Queue{team("d", "", 4, 1, 0), team("a", "d", 2, 1, 1), team("b", "d", 2, 1, 1)})
	}
	for want, spoil := range map[string]func(*preemption.State){
		`fairShares.queues[1].name: no queue or cohort "x"`:                        func(st *preemption.State) { st.FairShares.Queues[1].Name = "x" },
		`fairShares: queue "b" has no fair share`:                                  func(st *preemption.State) { st.FairShares.Queues = st.FairShares.Queues[:2] },
		`fairShares.queues[2].parent: unknown queue "x" (queue "b")`:               func(st *preemption.State) { st.FairShares.Queues[2].Parent = "x" },
		`fairShares.queues[2].parent: is empty, but queue "b" is not in cohort "a`: func(st *preemption.State) { st.FairShares.Queues[2].Parent = "" },
		`fairShares.queues[1].claims[0].usage: is set`:                             func(st *preemption.State) { st.FairShares.Queues[1].Claims[0].Usage = 1 },
		`fairShares.queues[1].claims[0].overQuotaWeight: -1 is negative`:           func(st *preemption.State) { st.FairShares.Queues[1].Claims[0].OverQuotaWeight = -1 },
		`fairShares.saturation: -2 is negative`:                                    func(st *preemption.State) { st.FairShares.Saturation = quota.Some(-2.0) },
	} {
		st := good()
		spoil(&st)
		if _, err := preemption.NewSnapshot(st); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	p, err := preemption.New(preemption.Config{Sharing: preemption.KAI})
	if err != nil {
		t.Fatal(err)
	}
	plain := good()
	plain.FairShares = fairshare.Tree{}
	s, err := preemption.NewSnapshot(plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Decide(s, preemption.Request{Workload: pendingGPUs("a", 1, 1), Now: sharesNow}); err == nil || !strings.Contains(err.Error(), "config.Sharing: is KAI, but the snapshot has no fair shares") {
		t.Error(err)
	}
	for want, c := range map[string]preemption.Config{
		"config.Sharing: is KAI, but the search is Best": {Sharing: preemption.KAI, Search: preemption.Best},
		"config.Strategies: is set, but Sharing is KAI":  {Sharing: preemption.KAI, Strategies: []preemption.FairStrategy{preemption.LessThanInitialShare}},
	} {
		if _, err := preemption.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A tree that does not match is left out whole, with all its faults.
func TestValidWithoutFairShares(t *testing.T) {
	st := sharesState(4, []fairshare.Queue{team("a", "", 4, 1, 2), team("b", "", 4, 1, 8)}, several("b", "b", 50, 2)...)
	if valid, left, err := st.Valid(); err != nil || len(left) > 0 || valid.FairShares.IsZero() {
		t.Errorf("%v, %v, %+v", err, left, valid.FairShares)
	}
	st.Queues[0].Name = ""
	valid, left, err := st.Valid()
	if err != nil || len(left) != 2 || !valid.FairShares.IsZero() || len(valid.Queues) != 1 || left[1][0].Path != "fairShares.queues[0].name" {
		t.Errorf("%v, %v, %+v", err, left, valid)
	}
}

// The tree is part of the state: it goes through JSON, edits and Sync, and shares follow it.
func TestFairSharesChange(t *testing.T) {
	st := sharesState(8, []fairshare.Queue{team("a", "", 4, 1, 2), team("b", "", 4, 1, 8)}, several("b", "b", 50, 8)...)
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(s.State())
	if err != nil {
		t.Fatal(err)
	}
	read, err := preemption.ParseState(data)
	if err != nil || !reflect.DeepEqual(read, s.State()) {
		t.Errorf("%v, %s", err, data)
	}
	share := func(s *preemption.Snapshot, queue string) fairshare.Share {
		for _, of := range s.FairShares() {
			if of.Queue == queue {
				return of.Shares[0]
			}
		}
		return fairshare.Share{}
	}
	if a, b := share(s, "a"), share(s, "b"); a.FairShare != 2 || a.Starved != 2 || b.FairShare != 6 || b.Usage != 8 || b.Over != 2 {
		t.Errorf("a %+v, b %+v", a, b)
	}
	more := st
	more.FairShares = st.FairShares.Clone()
	more.FairShares.Queues[0].Claims[0].Request = 4
	next, edits, err := s.Sync(more)
	if err != nil || len(edits) != 1 || !reflect.DeepEqual(edits[0], preemption.SetFairShareQueue(more.FairShares.Queues[0])) || share(next, "a").FairShare != 4 || share(s, "a").FairShare != 2 {
		t.Errorf("%v, %d edits, %+v", err, len(edits), share(next, "a"))
	}
	if again, err := s.With(edits...); err != nil || !reflect.DeepEqual(again.State(), next.State()) {
		t.Errorf("%v", err)
	}
	gone, err := next.With(preemption.Remove("b7"))
	if err != nil || share(gone, "b").Usage != 7 || share(gone, "b").FairShare != 4 {
		t.Errorf("%v, %+v", err, share(gone, "b"))
	}
	without, err := gone.With(preemption.SetFairShares(fairshare.Tree{}))
	if err != nil || without.FairShares() != nil {
		t.Errorf("%v, %v", err, without.FairShares())
	}
	if _, err := next.With(preemption.SetCohort(st.Cohorts[0]), preemption.RemoveQueue("a")); err == nil || !strings.Contains(err.Error(), `fairShares.queues[0].name: no queue or cohort "a"`) {
		t.Error(err)
	}
}
