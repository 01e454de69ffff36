package fairshare

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/quota"
)

// holding is a queue whose pods hold all that they request.
func holding(name, parent string, quota int64, weight float64, usage int64) Queue {
	c := gpu(quota, weight, usage)
	c.Usage = usage
	return gpuQueue(name, parent, c)
}

func asks(queue string, gpus int64) Reclaimer {
	return Reclaimer{Queue: queue, Requests: []Amount{{"gpu", gpus}}}
}

// units are so many units of a queue, of one GPU each.
func units(queue string, n int) (list []Unit) {
	for range n {
		list = append(list, Unit{queue, []Amount{{"gpu", 1}}})
	}
	return list
}

func reclaim(t *testing.T, tree Tree, saturation ...float64) *Reclaim {
	t.Helper()
	for _, f := range saturation {
		tree.Saturation = quota.Some(f)
	}
	r, err := NewReclaim(tree)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pends adds what waits to the requests of a queue.
func pends(q Queue, request int64) Queue {
	q.Claims[0].Request += request
	return q
}

func never(q Queue) Queue {
	q.Claims[0].NonPreemptible = q.Claims[0].Usage
	return q
}

// Two queues with a quota of 4 of 8 GPUs each: b holds all, a asks for two. b's share is 6.
func starved() Tree {
	return gpuTree(8, 1, pends(gpuQueue("a", "", gpu(4, 1, 0)), 2), holding("b", "", 4, 1, 8))
}

// withCPU adds 10 CPUs, and claims on them in the order of the queues.
func withCPU(tree Tree, claims ...Claim) Tree {
	tree.Resources = append(tree.Resources, Resource{Name: "cpu", Total: 10})
	for i, c := range claims {
		c.Resource = "cpu"
		tree.Queues[i].Claims = append(tree.Queues[i].Claims, c)
	}
	return tree
}

// "With it, the queue is within its fair share of every resource, also of those that are not requested. What can never be preempted
// has to be within the quota, too."
func TestMay(t *testing.T) {
	two := withCPU(starved(), Claim{Request: 1, Usage: 1})
	fixed := asks("a", 2)
	fixed.NonPreemptible = true
	otherwise := Reclaimer{"a", []Amount{{"gpu", 1}}, true}
	weighty := gpuTree(8, 1, pends(never(holding("a", "", 2, 1, 1)), 2), holding("b", "", 4, 1, 7))
	for what, c := range map[string]struct {
		tree Tree
		in   Reclaimer
		want Refusal
	}{
		"within its share":     {starved(), asks("a", 2), Refusal{}},
		"over its share":       {starved(), asks("a", 3), Refusal{FairShare, "a", "gpu"}},
		"over another share":   {two, asks("a", 1), Refusal{FairShare, "a", "cpu"}},
		"at its share already": {starved(), asks("b", 0), Refusal{FairShare, "b", "gpu"}},
		"over another quota":   {withCPU(starved(), Claim{Request: 1, Usage: 1, Quota: 1}), otherwise, Refusal{}},
		"over another quota, never preempted": {
			withCPU(starved(), Claim{Request: 1, Usage: 1, NonPreemptible: 1, OverQuotaWeight: 1}), otherwise, Refusal{NonPreemptibleQuota, "a", "cpu"}},
		"over its quota":                  {weighty, asks("a", 2), Refusal{}},
		"over its quota, never preempted": {weighty, fixed, Refusal{NonPreemptibleQuota, "a", "gpu"}},
		"never preempted":                 {starved(), fixed, Refusal{}},
	} {
		if got, err := reclaim(t, c.tree).May(c.in); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// "Within the quotas of its queue and of all above, of the resources that are requested."
func TestMayPreempt(t *testing.T) {
	tree := gpuTree(8, 1, gpuQueue("top", "", gpu(3, 0, 0)), never(holding("a", "top", 2, 0, 1)), never(holding("b", "top", 1, 0, 1)))
	tree.Resources = append(tree.Resources, Resource{Name: "cpu"})
	tree.Queues[1].Claims = append(tree.Queues[1].Claims, Claim{Resource: "cpu", Usage: 1, NonPreemptible: 1})
	r := reclaim(t, tree)
	for _, c := range []struct {
		in   Reclaimer
		want Refusal
	}{
		{Reclaimer{"a", []Amount{{"gpu", 1}}, true}, Refusal{}},
		{Reclaimer{"a", []Amount{{"gpu", 2}}, true}, Refusal{NonPreemptibleQuota, "a", "gpu"}},
		{Reclaimer{"a", []Amount{{"gpu", 2}}, false}, Refusal{}},
		{Reclaimer{"a", []Amount{{"cpu", 1}}, true}, Refusal{NonPreemptibleQuota, "a", "cpu"}},
		{Reclaimer{"a", []Amount{{"cpu", 0}}, true}, Refusal{}},
		{Reclaimer{"top", []Amount{{"gpu", 2}}, true}, Refusal{NonPreemptibleQuota, "top", "gpu"}},
		{Reclaimer{"b", nil, true}, Refusal{}},
	} {
		if got, err := r.MayPreempt(c.in); err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v", c.in, got, err)
		}
	}
	tree.Queues[0].Claims[0].Quota = 2
	got, err := reclaim(t, tree).MayPreempt(Reclaimer{"a", []Amount{{"gpu", 1}}, true})
	if err != nil || got != (Refusal{NonPreemptibleQuota, "top", "gpu"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// Who is a candidate, by the two siblings above reclaimer and victim.
func TestCandidate(t *testing.T) {
	// Departments d1 (quota 2: a 1, x 1) and d2 (quota 2: y 2) of 4 GPUs; x holds three, y one.
	departments := gpuTree(4, 1, gpuQueue("d1", "", gpu(2, 1, 0)), gpuQueue("d2", "", gpu(2, 1, 0)),
		pends(gpuQueue("a", "d1", gpu(1, 1, 0)), 1), holding("x", "d1", 1, 1, 3), holding("y", "d2", 2, 1, 1))
	unlimited := starved()
	unlimited.Queues[1].Claims[0].Quota = quota.Unlimited
	exactly := gpuTree(8, 1, pends(gpuQueue("a", "", gpu(4, 1, 0)), 4), holding("b", "", 4, 1, 4))
	under := gpuTree(8, 1, pends(gpuQueue("a", "", gpu(4, 1, 0)), 4), holding("b", "", 4, 1, 3))
	mixed := withCPU(starved(), Claim{Quota: 4}, Claim{Quota: 4, Request: 3, Usage: 3})
	exactlyOne := withCPU(gpuTree(8, 1, pends(gpuQueue("a", "", gpu(4, 1, 0)), 4), holding("b", "", 4, 1, 4)), Claim{Quota: 4}, Claim{Quota: 4})
	both := Reclaimer{Queue: "a", Requests: []Amount{{"cpu", 1}, {"gpu", 1}}}
	underBoth := gpuTree(8, 1, pends(gpuQueue("a", "", gpu(4, 1, 0)), 4), holding("b", "", 4, 1, 3))
	underBoth = withCPU(underBoth, Claim{Quota: 4}, Claim{Quota: 4})
	for what, c := range map[string]struct {
		tree   Tree
		in     Reclaimer
		victim string
		want   Refusal
	}{
		"over its quota":                         {starved(), asks("a", 2), "b", Refusal{}},
		"over its share":                         {starved(), asks("a", 5), "b", Refusal{}},
		"the own queue":                          {starved(), asks("b", 1), "b", Refusal{Rule: SameBranch, Queue: "b"}},
		"a department above":                     {departments, asks("a", 1), "d1", Refusal{Rule: SameBranch, Queue: "d1"}},
		"a sibling in the department":            {departments, asks("a", 1), "x", Refusal{}},
		"another department, not over its share": {departments, asks("a", 1), "y", Refusal{NotOver, "d2", ""}},
		"unlimited quota has no say":             {unlimited, asks("a", 2), "b", Refusal{}},
		"exactly its quota":                      {exactly, asks("a", 4), "b", Refusal{}},
		"under its quota":                        {under, asks("a", 4), "b", Refusal{NotOver, "b", "gpu"}},
		"exactly its quota, the reclaimer over":  {exactly, asks("a", 5), "b", Refusal{NotOver, "b", ""}},
		"over one quota, under another":          {mixed, both, "b", Refusal{}},
		"under the one quota requested":          {mixed, Reclaimer{"a", []Amount{{"cpu", 1}}, false}, "b", Refusal{NotOver, "b", "cpu"}},
		"exactly one quota, under another":       {exactlyOne, both, "b", Refusal{NotOver, "b", "cpu"}},
		"under two quotas":                       {underBoth, both, "b", Refusal{NotOver, "b", "gpu"}},
		"nothing requested":                      {under, Reclaimer{Queue: "a"}, "b", Refusal{}},
	} {
		if got, err := reclaim(t, c.tree).Candidate(c.in, c.victim); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// Which units may yield, in this order.
func TestAllows(t *testing.T) {
	// a has no quota, and a share of 2.
	poor := gpuTree(8, 1, pends(gpuQueue("a", "", gpu(0, 1, 0)), 2), holding("b", "", 4, 1, 8))
	// a is within its quotas, b at its share: one of 2 GPUs may go, though b is left with less than its share.
	large := gpuTree(9, 1, pends(gpuQueue("a", "", gpu(3, 1, 0)), 3), holding("b", "", 0, 1, 6))
	noCPU := gpuTree(9, 1, pends(gpuQueue("a", "", gpu(3, 1, 0)), 3), holding("b", "", 0, 1, 6))
	noCPU = withCPU(noCPU, Claim{}, Claim{OverQuotaWeight: 1, Request: 6, Usage: 6})
	pod := func(in Reclaimer, cpu int64) Reclaimer {
		in.Requests = append(in.Requests, Amount{"cpu", cpu})
		return in
	}
	// With a's two GPUs d1 holds 3 of its share of 2.
	full := gpuTree(8, 1, gpuQueue("d1", "", gpu(2, 0, 0)), pends(gpuQueue("a", "d1", gpu(2, 0, 0)), 2), holding("x", "d1", 0, 0, 1),
		holding("d2", "", 4, 0, 8))
	none := gpuTree(8, 1, gpuQueue("d1", "", gpu(0, 0, 0)), pends(gpuQueue("a", "d1", gpu(2, 0, 0)), 2), holding("d2", "", 6, 0, 8),
		holding("d3", "", 0, 0, 8))
	fixed := asks("a", 2)
	fixed.NonPreemptible = true
	// In department a, c has a share of 3 and b of 1. Both hold more.
	inside := gpuTree(4, 1, gpuQueue("a", "", gpu(4, 0, 0)), holding("b", "a", 1, 0, 2), holding("c", "a", 3, 0, 5))
	// The same with a share of 1 for c, which holds eight.
	fullerSibling := gpuTree(4, 1, gpuQueue("a", "", gpu(4, 0, 0)), holding("b", "a", 1, 0, 2), holding("c", "a", 1, 0, 8))
	// b holds more CPUs than its share, and c does; nobody asks for any.
	idle := func(lost int64) (Tree, []Unit) {
		tree := gpuTree(8, 1, pends(gpuQueue("b", "", gpu(4, 0, 0)), 2), holding("c", "", 4, 0, 8))
		tree = withCPU(tree, Claim{Quota: 1, Request: 4, Usage: 4}, Claim{Quota: 4, Request: 8, Usage: 8})
		return tree, []Unit{{"c", []Amount{{"gpu", 2}, {"cpu", lost}}}}
	}
	notLost, gpusOnly := idle(0)
	isLost, bothLost := idle(1)
	fixedCPU := withCPU(starved(), Claim{Usage: 1, NonPreemptible: 1})
	for what, c := range map[string]struct {
		tree       Tree
		saturation float64
		in         Reclaimer
		units      []Unit
		want       Refusal
	}{
		"down to the share":               {poor, 1, asks("a", 2), units("b", 2), Refusal{}},
		"one unit more":                   {poor, 1, asks("a", 2), units("b", 3), Refusal{NotOver, "b", ""}},
		"down to the quota":               {starved(), 1, asks("a", 2), units("b", 4), Refusal{}},
		"below the quota":                 {starved(), 1, asks("a", 2), units("b", 5), Refusal{NotOver, "b", ""}},
		"the last unit goes below":        {large, 1, asks("a", 3), []Unit{{"b", []Amount{{"gpu", 6}}}}, Refusal{}},
		"over another quota":              {noCPU, 1, pod(asks("a", 3), 1), []Unit{{"b", []Amount{{"gpu", 2}}}}, Refusal{NotOver, "b", ""}},
		"of the own queue":                {starved(), 1, asks("a", 2), units("a", 1), Refusal{Rule: SameBranch, Queue: "a"}},
		"nobody":                          {starved(), 1, asks("a", 2), nil, Refusal{}},
		"as full as the sibling":          {full, 1, asks("a", 2), units("d2", 2), Refusal{Saturation, "d1", "gpu"}}, // 3/2 and 6/4
		"less full than the sibling":      {full, 1, asks("a", 2), units("d2", 1), Refusal{}},                        // 3/2 and 7/4
		"fuller by the factor":            {full, 1.25, asks("a", 2), units("d2", 1), Refusal{Saturation, "d1", "gpu"}},
		"fuller by a factor of two":       {full, 2, asks("a", 2), units("d2", 1), Refusal{Saturation, "d1", "gpu"}},
		"less full by the factor":         {full, 0.9, asks("a", 2), units("d2", 2), Refusal{}},
		"what is lost in its own branch":  {full, 1, asks("a", 2), append(units("d2", 2), units("x", 1)...), Refusal{}},
		"within the share":                {full, 1, asks("a", 1), units("d2", 2), Refusal{}},
		"without a share":                 {none, 1, asks("a", 2), units("d2", 2), Refusal{Saturation, "d1", "gpu"}},
		"without a share, both":           {none, 1, asks("a", 2), units("d3", 2), Refusal{}},
		"never preempted, over the quota": {none, 1, fixed, units("d3", 2), Refusal{NonPreemptibleQuota, "d1", "gpu"}},
		"never preempted":                 {starved(), 1, fixed, units("b", 2), Refusal{}},
		"never preempted, another quota":  {fixedCPU, 1, fixed, units("b", 2), Refusal{NonPreemptibleQuota, "a", "cpu"}},
		"as full as a sibling below":      {inside, 1, asks("b", 1), units("c", 1), Refusal{Saturation, "b", "gpu"}},
		"not as full as a sibling below":  {inside, 0.1, asks("b", 1), units("c", 1), Refusal{}},
		"less full than a sibling below":  {fullerSibling, 1, asks("b", 1), units("c", 1), Refusal{}},
		"fuller of what is not involved":  {notLost, 1, asks("b", 2), gpusOnly, Refusal{}},
		"fuller of what is lost":          {isLost, 1, asks("b", 2), bothLost, Refusal{Saturation, "b", "cpu"}},
	} {
		r := reclaim(t, c.tree, c.saturation)
		if got, err := r.Allows(c.in, c.units); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v\n%+v", what, got, err, r.Shares())
		}
	}
}

// Every fault of a question is found at once; a tree with faults and a factor that is none are refused.
func TestFaultsOfReclaim(t *testing.T) {
	r := reclaim(t, starved())
	_, err := r.Allows(Reclaimer{Queue: "c", Requests: []Amount{{"tpu", 1}, {"gpu", -1}}}, []Unit{{"b", nil}, {"d", []Amount{{"", 1}}}})
	want := `reclaimer.queue: unknown queue "c"; reclaimer.requests[0].resource: unknown resource "tpu"; ` +
		`reclaimer.requests[1].amount: -1 is not within 0 and 4611686018427387904; ` +
		`units[1].queue: unknown queue "d"; units[1].usage[0].resource: unknown resource ""`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	_, may := r.May(Reclaimer{})
	_, preempt := r.MayPreempt(Reclaimer{})
	_, candidate := r.Candidate(asks("a", 1), "")
	_, tree := NewReclaim(gpuTree(-1, 1))
	negative := starved()
	negative.Saturation = quota.Some(-1.0)
	_, factor := NewReclaim(negative)
	for want, err := range map[string]error{
		`reclaimer.queue: unknown queue ""`:                              may,
		`units[0].queue: unknown queue ""`:                               candidate,
		"resources[0].total: -1 is not within 0 and 4611686018427387904": tree,
		"saturation: -1 is negative or not finite":                       factor,
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if preempt == nil {
		t.Error("an unknown queue may preempt")
	}
}

// A Reclaim is what it was made of: neither its questions nor its tree nor its answers change it.
func TestReclaimIsImmutable(t *testing.T) {
	tree := starved()
	r := reclaim(t, tree)
	before := r.Shares()
	if got, err := r.Allows(asks("a", 2), units("b", 4)); err != nil || got != (Refusal{}) {
		t.Errorf("%+v, %v", got, err)
	}
	tree.Resources[0].Name, tree.Queues[1].Name, tree.Queues[1].Claims[0].Quota = "other", "other", 0
	r.Shares()[0].Shares[0].FairShare = 100
	if diff := cmp.Diff(before, r.Shares()); diff != "" {
		t.Errorf("- before, + after:\n%s", diff)
	}
	if got, err := r.Allows(asks("a", 2), units("b", 5)); err != nil || got != (Refusal{NotOver, "b", ""}) {
		t.Errorf("%+v, %v", got, err)
	}
	if text, err := json.Marshal(Refusal{}); err != nil || string(text) != "{}" {
		t.Errorf("%s, %v", text, err)
	}
}
