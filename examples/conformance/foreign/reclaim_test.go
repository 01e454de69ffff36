package foreign

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// reclaimCase is what KAI's rules of reclaim say about pending jobs, apart from any search.
type reclaimCase struct {
	ID    string `json:"id"`
	Input struct {
		sharesInput
		Jobs  []kaiJob `json:"jobs"`
		Nodes map[string]struct {
			GPUs     float64 `json:"gpus"`
			MilliCPU float64 `json:"milliCPU"`
			Memory   float64 `json:"memory"`
		} `json:"nodes"`
		Settings struct {
			KValue         float64 `json:"kValue"`
			Multiplier     float64 `json:"saturationMultiplier"`
			MinimumRuntime *int    `json:"defaultReclaimMinRuntimeMinutes"`
		} `json:"settings"`
	} `json:"input"`
	Want struct {
		sharesWant
		Rules []reclaimRules `json:"rules"`
	} `json:"want"`
}

type reclaimRules struct {
	Preemptor  string       `json:"preemptor"`
	CanReclaim bool         `json:"canReclaim"`
	OverQuota  bool         `json:"nonPreemptibleOverQuota"` // of preempt
	Candidates []string     `json:"candidates"`
	Sets       []reclaimSet `json:"sets"`
}

type reclaimSet struct {
	OK             bool     `json:"ok"`              // in some order
	OrderDependent bool     `json:"order_dependent"` // and not in another
	Victims        []string `json:"victims"`
}

// amounts returns what a number of tasks of the job request.
func (j *kaiJob) amounts(n int) (list []fairshare.Amount) {
	var err error
	for _, of := range []struct{ resource, field string }{{"cpu", "cpusPerTask"}, {"memory", "memoryPerTask"}, {"gpu", "gpusPerTask"}} {
		per, _ := j.PerTask[of.field].(float64)
		list = append(list, fairshare.Amount{Resource: of.resource, Amount: int64(n) * sharesAmount(&err, of.resource, per)})
	}
	return list
}

func (j *kaiJob) running() (n int) {
	for _, task := range j.Tasks {
		if task.State == "Running" {
			n++
		}
	}
	return n
}

// tree returns the queues with what their jobs request and hold.
func (c *reclaimCase) tree() (fairshare.Tree, error) {
	c.Input.KValue, c.Input.Total = c.Input.Settings.KValue, map[string]float64{}
	for _, n := range c.Input.Nodes {
		c.Input.Total["cpu"] += n.MilliCPU
		c.Input.Total["memory"] += n.Memory
		c.Input.Total["gpu"] += n.GPUs
	}
	tree, err := c.Input.sharesInput.tree()
	for i := range tree.Queues {
		for _, j := range c.Input.Jobs {
			if j.Queue != tree.Queues[i].Name {
				continue
			}
			requests, holds := j.amounts(len(j.Tasks)), j.amounts(j.running())
			for k := range tree.Queues[i].Claims { // in the same order
				claim := &tree.Queues[i].Claims[k]
				claim.Request, claim.Usage = claim.Request+requests[k].Amount, claim.Usage+holds[k].Amount
				if !j.Preemptible {
					claim.NonPreemptible += holds[k].Amount
				}
			}
		}
	}
	return tree, err
}

// reclaimer returns the first chunk of a pending job: what is missing to its minimum, above that one task.
func (j *kaiJob) reclaimer() fairshare.Reclaimer {
	n := max(1, j.Groups.PodSets[0].MinAvailable-j.running())
	return fairshare.Reclaimer{Queue: j.Queue, Requests: j.amounts(n), NonPreemptible: !j.Preemptible}
}

// reclaimCaseOf reads a case and makes its tree.
func reclaimCaseOf(line []byte) (c reclaimCase, tree fairshare.Tree, err error) {
	if err = json.Unmarshal(line, &c); err == nil {
		tree, err = c.tree()
	}
	return c, tree, err
}

// TestReclaimRules asks who may reclaim, which jobs are candidates, and whether sets of victims are acceptable. Rows with minimum
// runtimes are asked the first question alone. Of rows whose shares are those of a rounding error nothing is asked.
func TestReclaimRules(t *testing.T) {
	asked := map[string]int{}
	inexact := map[string]bool{}
	err := recorded.Lines("reclaim", beside(t, "kai", "reclaim.jsonl.gz"), func(_ int, line []byte) error {
		c, tree, err := reclaimCaseOf(line)
		if err != nil {
			return err
		}
		r, err := fairshare.NewReclaim(tree, quota.Some(c.Input.Settings.Multiplier))
		if err != nil {
			return err
		}
		want, err := c.Want.list()
		if asked["shares"]++; err != nil || !slices.Equal(sharesOf(r), want) {
			inexact[c.ID] = true
			return err
		}
		jobs := map[string]*kaiJob{}
		for i := range c.Input.Jobs {
			jobs[c.Input.Jobs[i].Name] = &c.Input.Jobs[i]
		}
		protects := c.Input.Settings.MinimumRuntime != nil || strings.Contains(string(line), `"reclaimMinRuntimeMinutes"`)
		for _, rules := range c.Want.Rules {
			in := jobs[rules.Preemptor].reclaimer()
			asked["may"]++
			if refused, err := r.May(in); err != nil || (refused == fairshare.Refusal{}) != rules.CanReclaim {
				t.Errorf("%s, %s: may reclaim %v, not %+v, %v", c.ID, rules.Preemptor, rules.CanReclaim, refused, err)
			}
			if protects {
				continue
			}
			asked["candidates"]++
			if got := candidates(t, r, in, c.Input.Jobs); !slices.Equal(got, rules.Candidates) {
				t.Errorf("%s, %s: candidates %v, want %v", c.ID, rules.Preemptor, got, rules.Candidates)
			}
			for _, set := range rules.Sets {
				asked["sets"]++
				some, all := c.accepted(t, r, in, jobs, set.Victims)
				if some != set.OK || (some && !all) != set.OrderDependent {
					t.Errorf("%s, %s, %v: in some order %v, in all %v; want %+v", c.ID, rules.Preemptor, set.Victims, some, all, set)
				}
			}
		}
		return nil
	})
	if diff := cmp.Diff(map[string]int{"shares": 2183, "may": 3319, "candidates": 3154, "sets": 25665}, asked); err != nil || diff != "" {
		t.Errorf("%v; - want, + asked:\n%s", err, diff)
	}
	// In the first equal fractions are told apart, in the second weight and past usage cancel out.
	if diff := cmp.Diff([]string{"kairec-0915a91f9dac", "kairec-ae2841781b17"}, slices.Sorted(maps.Keys(inexact))); diff != "" {
		t.Errorf("- want, + with other shares:\n%s", diff)
	}
}

// TestPreemptRules asks whether jobs that can never be preempted may preempt within their quotas.
func TestPreemptRules(t *testing.T) {
	asked, refuses := 0, 0
	err := recorded.Lines("preempt", beside(t, "kai", "preempt.jsonl.gz"), func(_ int, line []byte) error {
		c, tree, err := reclaimCaseOf(line)
		if err != nil {
			return err
		}
		r, err := fairshare.NewReclaim(tree, quota.OptionalFloat64{})
		if err != nil {
			return err
		}
		for _, rules := range c.Want.Rules {
			j := &c.Input.Jobs[slices.IndexFunc(c.Input.Jobs, func(j kaiJob) bool { return j.Name == rules.Preemptor })]
			refused, err := r.MayPreempt(j.reclaimer())
			if asked++; err != nil || (refused.Rule == fairshare.NonPreemptibleQuota) != rules.OverQuota {
				t.Errorf("%s, %s: over its quota %v, not %+v, %v", c.ID, rules.Preemptor, rules.OverQuota, refused, err)
			}
			if rules.OverQuota {
				refuses++
			}
		}
		return nil
	})
	if err != nil || asked != 1421 || refuses == 0 {
		t.Errorf("%d asked, %d refused, %v", asked, refuses, err)
	}
}

func sharesOf(r *fairshare.Reclaim) (list []recorded.FairShare) {
	for _, of := range r.Shares() {
		for _, s := range of.Shares {
			list = append(list, recorded.FairShare{Queue: of.Queue, Resource: s.Resource, FairShare: s.FairShare})
		}
	}
	return list
}

func candidates(t *testing.T, r *fairshare.Reclaim, in fairshare.Reclaimer, jobs []kaiJob) []string {
	list := []string{}
	for _, j := range jobs {
		if !j.Preemptible || j.running() == 0 {
			continue
		}
		refused, err := r.Candidate(in, j.Queue)
		if err != nil {
			t.Fatal(err)
		}
		if refused == (fairshare.Refusal{}) {
			list = append(list, j.Name)
		}
	}
	return list
}

// accepted reports whether victims may yield in some order of their jobs, and in all orders. Siblings of the reclaimer lose them, each
// apart from the others, and of its jobs the last alone decides. So each is the last once, in the sibling that comes first.
func (c *reclaimCase) accepted(
	t *testing.T, r *fairshare.Reclaim, in fairshare.Reclaimer, jobs map[string]*kaiJob, victims []string,
) (some, all bool) {
	units, losers := map[string][]fairshare.Unit{}, map[string][]string{}
	of := map[string]int{}
	for _, task := range victims {
		of[task[:strings.LastIndex(task, "-")]]++
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		j, n := jobs[name], of[name]
		for ; n > j.Groups.PodSets[0].MinAvailable; n-- {
			units[name] = append(units[name], fairshare.Unit{Queue: j.Queue, Usage: j.amounts(1)})
		}
		units[name] = append(units[name], fairshare.Unit{Queue: j.Queue, Usage: j.amounts(n)})
		loser := c.below(in.Queue, j.Queue)
		losers[loser] = append(losers[loser], name)
	}
	ask := func(order []string) fairshare.Refusal {
		var list []fairshare.Unit
		for _, name := range order {
			list = append(list, units[name]...)
		}
		refused, err := r.Allows(in, list)
		if err != nil {
			t.Fatal(err)
		}
		return refused
	}
	all = true
	var good []string
	for _, loser := range slices.Sorted(maps.Keys(losers)) {
		list := slices.Clone(losers[loser])
		order := list
		for range losers[loser] {
			list = append(list[1:len(list):len(list)], list[0])
			if refused := ask(list); refused.Rule == fairshare.NotOver {
				all = false
			} else {
				order = list
			}
		}
		good = append(good, order...)
	}
	some = ask(good) == fairshare.Refusal{}
	return some, some && all
}

// below returns the queue that a queue is in, or is, and of which the parent is above the reclaimer's queue.
func (c *reclaimCase) below(reclaimer, queue string) string {
	above := map[string]bool{"": true}
	parents := map[string]string{}
	for _, q := range c.Input.Queues {
		parents[q.Name] = q.Parent
	}
	for q := reclaimer; q != ""; q = parents[q] {
		above[q] = true
	}
	for !above[parents[queue]] {
		queue = parents[queue]
	}
	return queue
}
