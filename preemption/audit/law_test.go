package audit_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// drawn is a cluster, a request in it, and a configuration without what Judge does not read.
func drawn(t *rapid.T) (preemption.Record, *preemption.Snapshot, preemption.Config) {
	r := preemptiontest.Records().Draw(t, "record")
	c := preemptiontest.Configs().Draw(t, "config")
	c.Search, c.Best, c.MaxRetrySteps, c.MaxBlockers = preemption.Greedy, preemption.BestSearch{}, -1, 0
	s, err := preemption.NewSnapshot(r.State)
	if err != nil {
		t.Fatal(err)
	}
	return r, s, c
}

// runs are the workloads of a snapshot that were not told to leave.
func runs(s *preemption.Snapshot) (list []workload.Workload) {
	for w := range s.Workloads() {
		if !w.Evicted {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b workload.Workload) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func TestVictimsOfDecisionsAreRight(t *testing.T) {
	reached := 0
	rapid.Check(t, func(t *rapid.T) {
		r, s, c := drawn(t)
		p, err := preemption.New(c)
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Decide(s, *r.Request)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, v := range d.Victims {
			if len(v.Replicas) > 0 {
				return // an eviction of a whole workload is judged
			}
			if !v.Leaving {
				ids = append(ids, v.Workload)
			}
		}
		if d.Outcome != preemption.Preempt || len(ids) == 0 {
			return
		}
		reached++
		f, err := audit.Judge(s, c, audit.Eviction{Request: *r.Request, Victims: ids})
		if err != nil || f.Verdict != audit.Right {
			t.Fatalf("%v: %+v, %v", d.Victims, f, err)
		}
	})
	if reached < 10 && !testing.Short() {
		t.Fatalf("only %d decisions preempt", reached)
	}
}

// TestJudgesAgree: a drawn set of victims is right where the judge of another hand accepts it by some reasons, and only there.
func TestJudgesAgree(t *testing.T) {
	count := map[audit.Verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		r, _, c := drawn(t)
		for i := range r.State.Admitted { // whom verify would have to be told, too
			w := &r.State.Admitted[i]
			w.Evicted, w.PodSets = false, slices.Clone(w.PodSets)
			for k := range w.PodSets {
				w.PodSets[k].Terminating = 0
			}
		}
		s, err := preemption.NewSnapshot(r.State)
		if err != nil {
			t.Fatal(err)
		}
		running := runs(s)
		if len(running) == 0 {
			return
		}
		var ids []string
		for range rapid.IntRange(1, 3).Draw(t, "victims") {
			if id := rapid.SampledFrom(running).Draw(t, "victim").ID; !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		f, err := audit.Judge(s, c, audit.Eviction{Request: *r.Request, Victims: ids})
		if err != nil {
			t.Fatal(err)
		}
		count[f.Verdict]++
		if accepted := accepted(r, c, f); accepted != (f.Verdict == audit.Right) {
			t.Fatalf("%v: accepted %v\n%+v", ids, accepted, f)
		}
		if f.Verdict == audit.Right {
			rightly(t, r, c, f)
		}
	})
	for v := audit.Right; v <= audit.NotEnough; v++ {
		if count[v] == 0 && !testing.Short() {
			t.Errorf("no eviction is %v: %v", v, count)
		}
	}
}

// rightly holds the rights by which victims yield to package verify.
func rightly(t *rapid.T, r preemption.Record, c preemption.Config, f audit.Finding) {
	d := preemption.Decision{Outcome: preemption.Preempt, Assignment: f.Instead.Assignment}
	for _, v := range f.Victims {
		w := r.State.Admitted[slices.IndexFunc(r.State.Admitted, func(w workload.Workload) bool { return w.ID == v.Workload })]
		d.Victims = append(d.Victims, preemption.Victim{Workload: v.Workload, Queue: w.Queue, Reason: v.Reason})
	}
	if err := verify.Decision(r.State, *r.Request, c, d); !onlyBeside(err) {
		t.Fatalf("%+v: %v", f.Victims, err)
	}
}

// accepted reports whether package verify accepts the victims, with what was leaving before or without, for some reasons.
func accepted(r preemption.Record, c preemption.Config, f audit.Finding) bool {
	d := preemption.Decision{Outcome: preemption.Preempt, Assignment: f.Instead.Assignment}
	for _, v := range f.Victims {
		d.Victims = append(d.Victims, preemption.Victim{Workload: v.Workload})
	}
	var try func(i int) bool
	try = func(i int) bool {
		if i == len(d.Victims) {
			return onlyBeside(verify.Decision(r.State, *r.Request, c, d))
		}
		v := &d.Victims[i]
		w := r.State.Admitted[slices.IndexFunc(r.State.Admitted, func(w workload.Workload) bool { return w.ID == v.Workload })]
		v.Queue = w.Queue
		for v.Reason = preemption.InClusterQueue; v.Reason <= preemption.ConfigurablePreemption; v.Reason++ {
			if try(i + 1) {
				return true
			}
		}
		return false
	}
	return try(0)
}

// onlyBeside reports whether nothing is wrong with victims, but with what an eviction does not say.
func onlyBeside(err error) bool {
	var faults preemption.Faults
	errors.As(err, &faults)
	for _, f := range faults {
		said := strings.HasSuffix(f.Path, ".cohort") || strings.HasSuffix(f.Path, ".preemptorQueued")
		if !said && !strings.HasPrefix(f.Path, "decision.borrowHeight") {
			return false
		}
	}
	return true
}
