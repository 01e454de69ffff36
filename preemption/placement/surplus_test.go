package placement_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// elastic is a node that is full of four pods of a group, all under a minimum runtime of one hour.
func elastic(minCount int) placement.State {
	st := placement.State{
		Nodes:  []workload.Node{machine("n", 4)},
		Groups: []workload.PodGroup{{ID: "g", MinCount: minCount, MinRuntime: quota.Some(time.Hour)}},
	}
	for i := range 4 {
		p := cpu(fmt.Sprintf("g-%d", i), "n", 0, 1)
		p.Group, p.Started = "g", preemptiontest.Now.Add(-time.Minute)
		st.Pods = append(st.Pods, p)
	}
	return st
}

func asking(n int64) placement.Request {
	return placement.Request{Priority: 5, Now: preemptiontest.Now, Pods: []workload.Pod{cpu("in", "", 0, n)}}
}

// "because elastic workloads can always be partially preempted" (KAI): what runs over the minimum of a group may go,
// the last by ID, and only the minimum is protected.
func TestSurplusOfAGroup(t *testing.T) {
	end := preemptiontest.Now.Add(59*time.Minute + 1)
	for name, c := range map[string]struct {
		min     int
		asked   int64
		change  func(st *placement.State)
		want    string
		retryAt time.Time
	}{
		"without a minimum all are protected":      {0, 1, nil, "Wait (NoVictims)", end},
		"the surplus goes":                         {2, 2, nil, "Preempt in@n; evict g-2 g-3", time.Time{}},
		"as many as are needed, the last by ID":    {2, 1, nil, "Preempt in@n; evict g-3", time.Time{}},
		"of the minimum none":                      {2, 3, nil, "Wait (NoRoom)", end},
		"a minimum of all":                         {4, 1, nil, "Wait (NoVictims)", end},
		"a minimum that is not reached":            {9, 1, nil, "Wait (NoVictims)", end},
		"a group of mode PodGroup has no surplus":  {2, 1, func(st *placement.State) { st.Groups[0].DisruptionMode = workload.DisruptionModePodGroup }, "Wait (NoVictims)", end},
		"a pod that terminates does not count":     {2, 3, func(st *placement.State) { st.Pods[0].Terminating = true }, "Wait (NoRoom)", end},
		"nor is it surplus, but its room comes":    {2, 2, func(st *placement.State) { st.Pods[3].Terminating = true }, "Preempt in@n; evict g-2", time.Time{}},
		"a member without start is not protected":  {2, 3, func(st *placement.State) { st.Pods[0].Started = time.Time{} }, "Preempt in@n; evict g-0 g-2 g-3", time.Time{}},
		"a pod that names a group that is missing": {2, 1, func(st *placement.State) { st.Groups = nil }, "Preempt in@n; evict g-3", time.Time{}},
	} {
		st, r := elastic(c.min), asking(c.asked)
		if c.change != nil {
			c.change(&st)
		}
		d := decide(t, placement.Config{}, snapshotOf(t, st), r)
		if got := text(d); got != c.want || !d.RetryAt.Equal(c.retryAt) {
			t.Errorf("%s: %q, retry at %v, want %q at %v", name, got, d.RetryAt, c.want, c.retryAt)
		}
		verified(t, st, r, placement.Config{}, d)
	}
}

// What was told to leave does not count, so the surplus that the same request asks for again is never more.
func TestSurplusOfAGroupAskedAgain(t *testing.T) {
	s, r := snapshotOf(t, elastic(2)), asking(1)
	d := decide(t, placement.Config{}, s, r)
	s = edit(t, s, d.Edits()...)
	if again := decide(t, placement.Config{}, s, r); text(again) != "Wait in@n" {
		t.Errorf("%s, want to wait for g-3", text(again))
	}
	other := asking(1)
	other.Pods[0].ID = "other"
	d = decide(t, placement.Config{}, s, other)
	if text(d) != "Preempt other@n; evict g-2" {
		t.Errorf("%s, want the other pod of the surplus", text(d))
	}
	s = edit(t, s, d.Edits()...)
	other.Pods[0].ID = "third"
	if d = decide(t, placement.Config{}, s, other); text(d) != "Wait (NoVictims)" {
		t.Errorf("%s, want that the minimum stays", text(d))
	}
}

// Of pods that are alike the surplus goes first; an earlier start counts more, as upstream has it.
func TestSurplusGoesFirst(t *testing.T) {
	ids := func(st placement.State) (list []string) {
		for _, u := range snapshotOf(t, st).Units() {
			list = append(list, u.Pods[0].ID)
		}
		return list
	}
	st := elastic(2)
	for i, uid := range []string{"d", "c", "b", "a"} {
		st.Pods[i].UID = uid
	}
	if got, want := ids(st), []string{"g-1", "g-0", "g-3", "g-2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want the minimum first: %v", got, want)
	}
	st.Groups[0].MinCount = 0
	if got, want := ids(st), []string{"g-3", "g-2", "g-1", "g-0"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v by UID alone", got, want)
	}
	st.Groups[0].MinCount, st.Pods[3].Started = 2, preemptiontest.Now.Add(-time.Hour)
	if got, want := ids(st), []string{"g-3", "g-1", "g-0", "g-2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want the first to start first: %v", got, want)
	}
}

// "Preempt" counts in the same queue, "Reclaim" between queues; where no queue is named, it is preemption.
func TestMinimumRuntimeAgainstReclaims(t *testing.T) {
	hours := func(n int) quota.OptionalDuration { return quota.Some(time.Duration(n) * time.Hour) }
	start := preemptiontest.Now.Add(-30 * time.Minute)
	for name, c := range map[string]struct {
		pod    workload.Pod
		group  workload.PodGroup
		config placement.Config
		queue  string
		until  int // hours from the start; zero: it yields
		setBy  string
	}{
		"the same queue preempts":           {pod: workload.Pod{Queue: "a", MinRuntime: hours(1), ReclaimMinRuntime: hours(2)}, queue: "a", until: 1, setBy: `pod "p"`},
		"another queue reclaims":            {pod: workload.Pod{Queue: "a", MinRuntime: hours(1), ReclaimMinRuntime: hours(2)}, queue: "b", until: 2, setBy: `pod "p"`},
		"no queue asks":                     {pod: workload.Pod{Queue: "a", MinRuntime: hours(1), ReclaimMinRuntime: hours(2)}, until: 1, setBy: `pod "p"`},
		"the pod has no queue":              {pod: workload.Pod{MinRuntime: hours(1), ReclaimMinRuntime: hours(2)}, queue: "b", until: 1, setBy: `pod "p"`},
		"zero ends the search":              {pod: workload.Pod{Queue: "a", MinRuntime: hours(1), ReclaimMinRuntime: hours(0)}, config: placement.Config{ReclaimMinRuntime: hours(3)}, queue: "b"},
		"unset is that of the group":        {pod: workload.Pod{Group: "g", MinRuntime: hours(1)}, group: workload.PodGroup{Queue: "a", ReclaimMinRuntime: hours(3)}, queue: "b", until: 3, setBy: `group "g"`},
		"or the default":                    {pod: workload.Pod{Queue: "a", MinRuntime: hours(1)}, config: placement.Config{MinRuntime: hours(2), ReclaimMinRuntime: hours(4)}, queue: "b", until: 4, setBy: "default"},
		"never that against preemption":     {pod: workload.Pod{Queue: "a", MinRuntime: hours(1)}, config: placement.Config{MinRuntime: hours(2)}, queue: "b"},
		"the queue of the group counts":     {pod: workload.Pod{Group: "g", Queue: "b", MinRuntime: hours(1), ReclaimMinRuntime: hours(2)}, group: workload.PodGroup{Queue: "a"}, queue: "b", until: 2, setBy: `pod "p"`},
		"also where it is none":             {pod: workload.Pod{Group: "g", Queue: "a", MinRuntime: hours(1), ReclaimMinRuntime: hours(2)}, queue: "b", until: 1, setBy: `pod "p"`},
		"not that of a group that is away":  {pod: workload.Pod{Group: "h", Queue: "a", MinRuntime: hours(1), ReclaimMinRuntime: hours(2)}, queue: "b", until: 2, setBy: `pod "p"`},
		"a group that yields whole is kept": {pod: workload.Pod{Group: "g"}, group: workload.PodGroup{Queue: "a", DisruptionMode: workload.DisruptionModePodGroup, ReclaimMinRuntime: hours(1)}, queue: "b", until: 1, setBy: `group "g"`},
	} {
		p := c.pod
		p.ID, p.Node, p.Started, p.Requests = "p", "n", start, workload.Resources{"cpu": 1}
		c.group.ID = "g"
		st := placement.State{Nodes: []workload.Node{machine("n", 1)}, Pods: []workload.Pod{p}, Groups: []workload.PodGroup{c.group}}
		r := asking(1)
		r.Queue = c.queue
		d := decide(t, c.config, snapshotOf(t, st), r)
		verified(t, st, r, c.config, d)
		if c.until == 0 {
			if text(d) != "Preempt in@n; evict p" {
				t.Errorf("%s: %s, want that p yields", name, text(d))
			}
			continue
		}
		until := start.Add(time.Duration(c.until) * time.Hour)
		if d.Outcome != preemption.Wait || !d.RetryAt.Equal(until.Add(1)) || len(d.Blockers) != 1 || d.Blockers[0].SetBy != c.setBy || !d.Blockers[0].Until.Equal(until) {
			t.Errorf("%s: %s until %v, %+v; want %v by %s", name, text(d), d.RetryAt, d.Blockers, until, c.setBy)
		}
	}
}

// Queues of a request and its pods agree, as priorities do.
func TestFaultsOfQueues(t *testing.T) {
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("n", 1)}, Groups: []workload.PodGroup{{ID: "g", Queue: "a"}}})
	ask := func(r placement.Request) error {
		_, err := new(placement.Preemptor).Decide(s, r)
		return err
	}
	wantFaults(t, ask(placement.Request{Queue: "b", Group: "g", Pods: []workload.Pod{{ID: "p", Queue: "c"}}}), `request.queue: "b" differs from "a" of group "g"`)
	wantFaults(t, ask(placement.Request{Pods: []workload.Pod{{ID: "p", Group: "g"}}}), `request.queue: "" differs from "a" of group "g"`)
	wantFaults(t, ask(placement.Request{Queue: "b", Pods: []workload.Pod{{ID: "p", Queue: "c"}}}), `request.pods[0].queue: "c" differs from "b" of the request`)
	for _, r := range []placement.Request{
		{Queue: "b", Pods: []workload.Pod{{ID: "p"}}}, {Queue: "b", Pods: []workload.Pod{{ID: "p", Queue: "b"}}},
		{Queue: "a", Group: "g", Pods: []workload.Pod{{ID: "p", Queue: "c"}}}, {Queue: "b", Group: "h", Pods: []workload.Pod{{ID: "p", Queue: "c"}}},
	} {
		if err := ask(r); err != nil {
			t.Error(err)
		}
	}
	_, err := placement.New(placement.Config{MinRuntime: quota.Some(time.Duration(-1)), ReclaimMinRuntime: quota.Some(time.Duration(-2))})
	wantFaults(t, err, "config.MinRuntime: -1ns is negative\nconfig.ReclaimMinRuntime: -2ns is negative")
	d := decide(t, placement.Config{}, s, placement.Request{Queue: "b", Pods: []workload.Pod{{ID: "p"}}})
	if d.Pods[0].Queue != "b" {
		t.Errorf("%+v, want the queue of the request", d.Pods[0])
	}
}

// Edits of pods and groups move the surplus as a new snapshot would, in every list that a decision reads.
func surplusFollowsEdits(t *rapid.T) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	st, r := record.State, *record.Request
	c := preemptiontest.PlacementConfigs().Draw(t, "config")
	if len(st.Groups) == 0 || len(st.Pods) == 0 {
		return
	}
	s := snapshotOf(t, st)
	for range rapid.IntRange(1, 6).Draw(t, "edits") {
		p, g := rapid.SampledFrom(st.Pods).Draw(t, "pod"), rapid.SampledFrom(st.Groups).Draw(t, "group")
		known := slices.IndexFunc(s.State().Groups, func(o workload.PodGroup) bool { return o.ID == g.ID })
		var e placement.Edit
		switch rapid.IntRange(0, 4).Draw(t, "edit") {
		case 0:
			p.Group = rapid.SampledFrom([]string{p.Group, g.ID}).Draw(t, "to")
			e = placement.Run(p)
		case 1:
			e = placement.Remove(p.ID)
		case 2:
			e = placement.StartEvictionAt(p.ID, r.Now)
		case 3:
			g.MinCount = rapid.IntRange(0, 3).Draw(t, "minimum")
			g.Parent = rapid.SampledFrom([]string{g.Parent, g.Parent, "", "t0", "g0"}).Draw(t, "parent")
			e = placement.SetGroup(g)
		case 4:
			if known < 0 {
				continue
			}
			e = placement.RemoveGroup(g.ID)
		}
		if next, err := s.With(e); err == nil { // else the pod is gone, or the group has pods
			s = next
		}
	}
	st = s.State()
	if root, known := rootOf(st, cmp.Or(r.Group, r.Pods[0].Group)); known {
		r.Priority, r.Queue = root.Priority, root.Queue
	}
	r.MinGroups, r.Nested = 0, nil
	if r.Pods = slices.Clone(r.Pods); r.Group != "" {
		for i := range r.Pods {
			r.Pods[i].Group = "" // the one that it names may be elsewhere
		}
	}
	for name, s := range map[string]*placement.Snapshot{"fresh": snapshotOf(t, st), "edited": s} {
		t.Log(name)
		agrees(t, c, st, r, decide(t, c, s, r))
	}
	noDiff(t, "other units (- fresh, + edited)", snapshotOf(t, st).Units(), s.Units())
	noDiff(t, "other potential victims (- fresh, + edited)", new(placement.Preemptor).PotentialVictims(snapshotOf(t, st), 100), new(placement.Preemptor).PotentialVictims(s, 100))
}

// The shortest default is one, of either kind.
func TestDefaultOfOneNanosecond(t *testing.T) {
	p := cpu("p", "n", 0, 1)
	p.Queue, p.Started = "a", preemptiontest.Now
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("n", 1)}, Pods: []workload.Pod{p}})
	for queue, c := range map[string]placement.Config{"a": {MinRuntime: quota.Some(time.Nanosecond)}, "b": {ReclaimMinRuntime: quota.Some(time.Nanosecond)}} {
		r := asking(1)
		r.Queue = queue
		if d := decide(t, c, s, r); d.Outcome != preemption.Wait || !d.RetryAt.Equal(preemptiontest.Now.Add(2)) {
			t.Errorf("queue %s: %s, retry at %v", queue, text(d), d.RetryAt)
		}
	}
}
