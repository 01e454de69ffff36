package preemption_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// TestKeptSharesDecide: after any edits decisions are those of a snapshot that is made of the same state.
func TestKeptSharesDecide(t *testing.T) {
	p, err := preemption.New(preemption.Config{Sharing: preemption.KAI})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[preemption.Outcome]int{}
	rapid.Check(t, func(t *rapid.T) {
		small := func(label string, most int) int64 { return int64(rapid.IntRange(0, most).Draw(t, label)) }
		queues := []fairshare.Queue{team("d0", "", small("quota", 4), small("weight", 2), 0), team("d1", "", small("quota", 4), small("weight", 2), 0)}
		var leaves []string
		for i := range 2 + int(small("teams", 3)) {
			name := fmt.Sprintf("t%d", i)
			leaves = append(leaves, name)
			queues = append(queues, team(name, fmt.Sprintf("d%d", i%2), small("quota", 3)-1, small("weight", 2), small("requests", 6)))
		}
		job := func(n int) workload.Workload {
			return gpuJob(fmt.Sprintf("w%02d", n), rapid.SampledFrom(leaves).Draw(t, "in"), 50+small("priority", 1), 1+small("pods", 1), int(small("minutes", 9)))
		}
		var running []workload.Workload
		for i := range int(small("running", 10)) {
			running = append(running, job(i))
		}
		s, err := preemption.NewSnapshot(sharesState(10, queues, running...))
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + small("edits", 5) {
			var edits []preemption.Edit
			for range 1 + small("at once", 2) {
				switch at := int(small("queue", len(queues)-1)); small("kind", 4) {
				case 0:
					edits = append(edits, preemption.Admit(job(int(small("job", 12)))))
				case 1:
					if w := s.State().Admitted; len(w) > 0 && len(edits) == 0 {
						edits = append(edits, preemption.StartEviction(w[small("evicts", len(w)-1)].ID))
					}
				case 2:
					queues = slices.Clone(queues)
					queues[at] = team(queues[at].Name, queues[at].Parent, small("quota", 4)-1, small("weight", 2), small("requests", 6))
					queues[at].Priority = small("queue priority", 1)
					queues[at].Claims[0].Limit = quota.AtMost(1 + small("limit", 9))
					fallthrough
				case 3:
					edits = append(edits, preemption.SetFairShareQueue(queues[at]))
				default:
					edits = append(edits, preemption.SetFairShares(fairshare.Tree{Resources: []fairshare.Resource{{Name: "gpu", Total: 8 + small("total", 4)}}, Queues: queues}))
				}
			}
			next, err := s.With(edits...)
			if err != nil {
				t.Fatal(err)
			}
			s = next
			if last := s.State().FairShares.Queues; !reflect.DeepEqual(last, queues) {
				t.Fatalf("%+v, want %+v", last, queues)
			}
			anew, err := preemption.NewSnapshot(s.State())
			if err != nil {
				t.Fatal(err)
			}
			for _, leaf := range leaves {
				r := preemption.Request{Workload: pendingGPUs(leaf, 50, 1+small("asks", 2)), Now: sharesNow}
				r.Workload.NeverYields = small("fixed", 3) == 0
				d, err := p.Decide(s, r)
				want, failed := p.Decide(anew, r)
				if err != nil || failed != nil || !reflect.DeepEqual(d, want) {
					t.Fatalf("%+v, anew %+v; %v, %v", d, want, err, failed)
				}
				outcomes[d.Outcome]++
			}
		}
	})
	for _, o := range []preemption.Outcome{preemption.Fits, preemption.Preempt, preemption.Impossible} {
		if outcomes[o] == 0 {
			t.Errorf("no decision is %v: %v", o, outcomes)
		}
	}
}

// Sync leads to the snapshot of the new state by an edit for each queue that changes, if no more than half do, and else replaces the tree.
func TestSyncFairShares(t *testing.T) {
	leaves := []string{"a", "b", "c", "d"}
	kinds := [2]int{}
	rapid.Check(t, func(t *rapid.T) {
		small := func(label string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, label) }
		var queues []fairshare.Queue
		for _, name := range leaves {
			queues = append(queues, team(name, "", small("quota", 3), small("weight", 2), small("requests", 6)))
		}
		st := sharesState(10, queues)
		s, err := preemption.NewSnapshot(st)
		if err != nil {
			t.Fatal(err)
		}
		want := st
		want.FairShares = st.FairShares.Clone()
		changed := 0
		for i := range leaves {
			if q := &want.FairShares.Queues[i]; small("changes", 2) == 0 {
				q.Claims[0].Request += 1 + small("more", 3)
				changed++
			}
		}
		other := small("other", 5)
		switch other {
		case 0:
			want.FairShares.Resources[0].Unit = 2
		case 1:
			slices.Reverse(want.FairShares.Queues)
		case 2:
			want.FairShares.Queues[0].CreatedAt = want.FairShares.Queues[0].CreatedAt.Local() // the same instant
		}
		next, edits, err := s.Sync(want)
		if err != nil {
			t.Fatal(err)
		}
		count := changed
		if other < 2 || changed > 2 {
			count = 1
			kinds[1]++
		} else {
			kinds[0] += changed
		}
		if len(edits) != count {
			t.Fatalf("%d edits, %d queues change: %+v", len(edits), changed, edits)
		}
		anew, err := preemption.NewSnapshot(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []*preemption.Snapshot{next, edit(t, s, edits...)} {
			if !reflect.DeepEqual(got.FairShares(), anew.FairShares()) {
				t.Fatalf("%+v, anew %+v", got.FairShares(), anew.FairShares())
			}
		}
	})
	if kinds[0] == 0 || kinds[1] == 0 {
		t.Error(kinds)
	}
}

// Edits of one queue's shares join with others, and say what is wrong by the number of the edit.
func TestSetFairShareQueue(t *testing.T) {
	st := sharesState(8, []fairshare.Queue{team("a", "", 4, 1, 2), team("b", "", 4, 1, 8)}, several("b", "b", 50, 8)...)
	s := snapshotOf(t, st)
	used, moved, wrong := team("a", "", 4, 1, 2), team("b", "a", 4, 1, 8), team("b", "", 4, 1, 8)
	used.Claims[0].Usage, wrong.Claims[0].Request = 1, -1
	same, err := s.With(preemption.Remove("b0"), preemption.SetFairShareQueue(used), preemption.SetFairShareQueue(moved), preemption.SetFairShareQueue(wrong), preemption.SetFairShareQueue(team("c", "", 1, 1, 1)))
	if err == nil || same != s {
		t.Fatal(err)
	}
	for _, want := range []string{"edits[1].claims[0].usage: is set", "edits[2].parent: \"a\" is not", "edits[3].claims[0].request: -1", "edits[4].name: no queue \"c\""} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwithout %s", err, want)
		}
	}
	cohorts, queues := preemption.QueuesOf(fairshare.Tree{Queues: []fairshare.Queue{{Name: "c"}}}, "all queues", "default")
	tree := st.FairShares.Clone()
	tree.Queues = append(tree.Queues, team("c", "", 0, 1, 0))
	next, err := s.With(preemption.SetQueue(queues[0]), preemption.SetFairShareQueue(team("a", "", 4, 1, 7)), preemption.SetFairShares(tree), preemption.SetFairShareQueue(team("c", "", 0, 1, 3)))
	if err != nil || len(cohorts) != 1 || len(next.FairShares()) != 3 || next.FairShares()[0].Shares[0].FairShare != 2 || next.FairShares()[2].Shares[0].Request != 3 {
		t.Fatalf("%v, %+v", err, next.FairShares())
	}
	if _, err := s.With(preemption.SetFairShares(tree), preemption.SetFairShareQueue(team("d", "", 0, 1, 3))); err == nil || !strings.Contains(err.Error(), `edits[1]: no queue "d"`) {
		t.Error(err)
	}
	if _, err := snapshotOf(t, scenario.Worlds[0].State()).With(preemption.SetFairShareQueue(used)); err == nil {
		t.Error("a queue has a fair share where there are none")
	}
}

// TestReclaimLooksAtFewQueues: of a thousand queues over their shares a reclaim looks into some, whether all stand alike or not.
func TestReclaimLooksAtFewQueues(t *testing.T) {
	p, err := preemption.New(preemption.Config{Sharing: preemption.KAI})
	if err != nil {
		t.Fatal(err)
	}
	for _, alike := range []bool{true, false} {
		for _, gang := range []int64{1, 20} {
			st, asks := scenario.Reclaiming(10_000, alike, gang)
			s := snapshotOf(t, st)
			over := slices.DeleteFunc(s.FairShares(), func(of fairshare.QueueShares) bool { return of.Shares[2].Over == 0 })
			if len(over) < 900 {
				t.Errorf("%d queues are over their shares", len(over))
			}
			d, steps, err := p.DecideCounting(s, asks)
			if err != nil || d.Outcome != preemption.Preempt || len(d.Victims) != int(gang) || steps > 10+4*int(gang) {
				t.Errorf("alike %v, gang of %d: %v, %d victims, %d steps, %v", alike, gang, d.Outcome, len(d.Victims), steps, err)
			}
		}
	}
}

func TestReclaimAllocatesNoQueue(t *testing.T) {
	p, err := preemption.New(preemption.Config{Sharing: preemption.KAI})
	if err != nil {
		t.Fatal(err)
	}
	st, asks := scenario.Reclaiming(10_000, false, 1)
	s := snapshotOf(t, st)
	if n := testing.AllocsPerRun(20, func() { _, _ = p.Decide(s, asks) }); n > 40 {
		t.Errorf("a reclaim among a thousand queues: %v allocations", n)
	}
	q := st.FairShares.Queues[777]
	q.Claims = slices.Clone(q.Claims)
	q.Claims[2].Request++
	if n := testing.AllocsPerRun(20, func() { edit(t, s, preemption.SetFairShareQueue(q)) }); n > 80 {
		t.Errorf("an edit of a queue's shares: %v allocations", n)
	}
}
