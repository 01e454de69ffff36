package fairshare

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/quota"
)

// gpu is a claim on GPUs without a limit.
func gpu(quota int64, weight float64, request int64) Claim {
	return Claim{Resource: "gpu", Quota: quota, OverQuotaWeight: weight, Request: request}
}

func gpuQueue(name, parent string, c Claim) Queue {
	return Queue{Name: name, Parent: parent, CreatedAt: time.Unix(60, 0), Claims: []Claim{c}}
}

func gpuTree(total, unit int64, queues ...Queue) Tree {
	return Tree{Resources: []Resource{{Name: "gpu", Total: total, Unit: unit}}, Queues: queues}
}

// divided returns the shares of the only resource, by queue.
func divided(t *testing.T, tree Tree) map[string]Share {
	t.Helper()
	list, err := Divide(tree)
	if err != nil {
		t.Fatal(err)
	}
	shares := map[string]Share{}
	for _, of := range list {
		shares[of.Queue] = of.Shares[0]
	}
	return shares
}

// Each sentence of the division, on a small tree of GPUs.
func TestFairShares(t *testing.T) {
	high := func(q Queue) Queue { q.Priority = 1; return q }
	older := func(q Queue) Queue { q.CreatedAt = time.Unix(0, 0); return q }
	limited := func(q Queue, limit int64) Queue { q.Claims[0].Limit = quota.AtMost(limit); return q }
	used := func(q Queue, past float64) Queue { q.Claims[0].PastUsage = past; return q }
	for rule, c := range map[string]struct {
		tree Tree
		want map[string]int64
	}{
		"a quota of which less is requested gives what is requested": {
			gpuTree(8, 1, gpuQueue("a", "", gpu(4, 1, 2)), gpuQueue("b", "", gpu(4, 1, 8))), map[string]int64{"a": 2, "b": 6}},
		"what quotas leave goes by weight": {
			gpuTree(8, 1, gpuQueue("a", "", gpu(0, 3, 8)), gpuQueue("b", "", gpu(0, 1, 8))), map[string]int64{"a": 6, "b": 2}},
		"weight 0 gets nothing over its quota": {
			gpuTree(8, 1, gpuQueue("a", "", gpu(1, 0, 8)), gpuQueue("b", "", gpu(0, 1, 4))), map[string]int64{"a": 1, "b": 4}},
		"of equal fractions the older get a unit, then the smaller names": {
			gpuTree(8, 1, gpuQueue("b", "", gpu(0, 1, 8)), older(gpuQueue("c", "", gpu(0, 1, 8))), gpuQueue("a", "", gpu(0, 1, 8))),
			map[string]int64{"a": 3, "b": 2, "c": 3}},
		"quotas may add up to more than there is": {
			gpuTree(4, 1, gpuQueue("a", "", gpu(3, 1, 8)), gpuQueue("b", "", gpu(3, 1, 8))), map[string]int64{"a": 3, "b": 3}},
		"unlimited quota gives all that there is at most": {
			gpuTree(4, 1, gpuQueue("a", "", gpu(quota.Unlimited, 1, 8)), gpuQueue("b", "", gpu(1, 1, 8))), map[string]int64{"a": 4, "b": 1}},
		"a limit bounds what is requestable": {
			gpuTree(8, 1, limited(gpuQueue("a", "", gpu(4, 1, 8)), 3), gpuQueue("b", "", gpu(0, 1, 8))), map[string]int64{"a": 3, "b": 5}},
		"a limit of 0 permits nothing": {
			gpuTree(8, 1, limited(gpuQueue("a", "", gpu(4, 1, 8)), 0), gpuQueue("b", "", gpu(0, 1, 8))), map[string]int64{"a": 0, "b": 8}},
		"a higher priority comes first": {
			gpuTree(8, 1, gpuQueue("a", "", gpu(2, 9, 8)), high(gpuQueue("b", "", gpu(0, 1, 5)))), map[string]int64{"a": 3, "b": 5}},
		"what rounding leaves of a high priority goes to the rounds of a lower one first": {
			gpuTree(4, 1, high(gpuQueue("a", "", gpu(0, 1, 4))), high(gpuQueue("b", "", gpu(0, 1, 4))), high(gpuQueue("c", "", gpu(0, 1, 4))),
				high(gpuQueue("d", "", gpu(0, 1, 4))), high(gpuQueue("e", "", gpu(0, 1, 4))), gpuQueue("low", "", gpu(0, 1, 4))),
			map[string]int64{"a": 0, "b": 0, "c": 0, "d": 0, "e": 0, "low": 4}},
		"the last units of what rounding leaves may exceed a request": {
			gpuTree(2400, 1000, gpuQueue("a", "", gpu(0, 1, 1300)), gpuQueue("b", "", gpu(0, 1, 1300))), map[string]int64{"a": 1400, "b": 1000}},
		"no round follows if nobody wants less than its part": { // parts 1, 5/2, 1/2; the other unit goes to the older of equals
			gpuTree(4, 1, gpuQueue("a", "", gpu(0, 2, 1)), gpuQueue("b", "", gpu(0, 5, 9)), older(gpuQueue("c", "", gpu(0, 1, 9)))),
			map[string]int64{"a": 1, "b": 2, "c": 1}},
		"a round follows if somebody wants less than its part": { // of the last unit, divided again, b has 5/6
			gpuTree(5, 1, gpuQueue("a", "", gpu(0, 2, 1)), gpuQueue("b", "", gpu(0, 5, 9)), older(gpuQueue("c", "", gpu(0, 1, 9)))),
			map[string]int64{"a": 1, "b": 4, "c": 0}},
		"the last unit may be a part of one": {
			gpuTree(1001, 1000, gpuQueue("a", "", gpu(0, 1, 9000))), map[string]int64{"a": 1001}},
		"past usage lowers a part": { // 1/2 + (1/2 - 1/2) and 1/2 + 1/2
			gpuTree(9, 1, used(gpuQueue("a", "", gpu(0, 1, 9)), 0.5), gpuQueue("b", "", gpu(0, 1, 9))), map[string]int64{"a": 3, "b": 6}},
		"where weight and past usage cancel out nothing is given": { // 1 + 1 × (1 - 2)
			gpuTree(8, 1, used(gpuQueue("a", "", gpu(3, 1, 8)), 2)), map[string]int64{"a": 3}},
		"a share is divided below": {
			gpuTree(10, 1, gpuQueue("d1", "", gpu(4, 1, 0)), gpuQueue("d2", "", gpu(2, 2, 0)), gpuQueue("a", "d1", gpu(2, 1, 5)),
				gpuQueue("b", "d1", gpu(2, 2, 6)), gpuQueue("c", "d2", gpu(0, 1, 3)), gpuQueue("d", "d2", gpu(2, 1, 1))),
			map[string]int64{"d1": 6, "d2": 4, "a": 3, "b": 3, "c": 3, "d": 1}},
		"weights are the decimals that are written": { // in binary 0.1 + 0.2 is more than 0.3
			gpuTree(6, 1, gpuQueue("a", "", gpu(0, 0.1, 6)), gpuQueue("b", "", gpu(0, 0.2, 6)), gpuQueue("c", "", gpu(0, 0.3, 6))),
			map[string]int64{"a": 1, "b": 2, "c": 3}},
	} {
		got := map[string]int64{}
		for name, s := range divided(t, c.tree) {
			got[name] = s.FairShare
			if s.FairShare != s.Deserved+s.OverQuota+s.Remainder {
				t.Errorf("%s: the parts of %+v do not add up", rule, s)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (- want, + got):\n%s", rule, diff)
		}
	}
}

// "Allocatable is the larger of quota and fair share, and the limit at most. With unlimited quota it is the limit."
func TestAllocatable(t *testing.T) {
	limit := quota.AtMost
	for _, c := range []struct {
		quota, request int64
		limit          quota.OptionalInt64
		want           int64
	}{
		{4, 2, quota.OptionalInt64{}, 4}, {4, 6, quota.OptionalInt64{}, 6}, {4, 6, limit(5), 5}, {4, 2, limit(3), 3}, {0, 0, quota.OptionalInt64{}, 0},
		{quota.Unlimited, 1, quota.OptionalInt64{}, quota.Unlimited}, {quota.Unlimited, 1, limit(7), 7}, {4, 9, limit(0), 0},
	} {
		claim := gpu(c.quota, 1, c.request)
		claim.Limit = c.limit
		if got := divided(t, gpuTree(8, 1, gpuQueue("a", "", claim)))["a"].Allocatable; got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A queue is starved of what it may still hold within its fair share, its request and its limit; it is over by what exceeds its
// fair share. Pods of an inner queue count there, and above.
func TestStarvedAndOver(t *testing.T) {
	holds := func(c Claim, usage int64) Claim { c.Usage = usage; return c }
	tree := gpuTree(8000, 1000, gpuQueue("top", "", holds(gpu(0, 1, 1000), 1000)), gpuQueue("a", "top", holds(gpu(0, 3, 8000), 1000)),
		gpuQueue("b", "top", holds(gpu(0, 1, 8000), 7000)), gpuQueue("idle", "", gpu(4000, 0, 0)))
	want := map[string]Share{
		"top":  {Resource: "gpu", FairShare: 8000, OverQuota: 8000, Allocatable: 8000, Request: 17000, Usage: 9000, Over: 1000},
		"a":    {Resource: "gpu", FairShare: 6000, OverQuota: 6000, Allocatable: 6000, Request: 8000, Usage: 1000, Starved: 5000},
		"b":    {Resource: "gpu", FairShare: 2000, OverQuota: 2000, Allocatable: 2000, Request: 8000, Usage: 7000, Over: 5000},
		"idle": {Resource: "gpu", Allocatable: 4000},
	}
	if diff := cmp.Diff(want, divided(t, tree)); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	// By a unit of the remainder the share exceeds the request: nobody lacks what it does not request.
	exceeds := divided(t, gpuTree(2400, 1000, gpuQueue("a", "", gpu(0, 1, 1300)), gpuQueue("b", "", gpu(0, 1, 1300))))
	if s := exceeds["a"]; s.FairShare != 1400 || s.Starved != 1300 {
		t.Errorf("%v", s)
	}
}

// Sums of requests saturate, and the largest amounts are divided exactly.
func TestLargestAmounts(t *testing.T) {
	most := quota.MaxUsage
	shares := divided(t, gpuTree(most, 1, gpuQueue("top", "", gpu(0, 1, most)), gpuQueue("a", "top", gpu(0, 1e-300, most)),
		gpuQueue("b", "top", gpu(0, 3e-300, most)), gpuQueue("c", "", gpu(0, 1e300, 1))))
	if shares["top"].Request != quota.Unlimited || shares["top"].FairShare != most-1 || shares["c"].FairShare != 1 {
		t.Errorf("%v", shares)
	}
	if a, b := shares["a"], shares["b"]; a.FairShare != (most-1)/4+1 || b.FairShare != (most-1)/4*3+2 {
		t.Errorf("of %d: %v, %v", most-1, a, b)
	}
}

// Every fault is found at once, each with its path and value.
func TestFaults(t *testing.T) {
	tree := Tree{
		Resources: []Resource{{Name: "gpu", Total: -1, Unit: -1}, {Name: "gpu"}, {Total: quota.MaxUsage + 1}},
		Queues: []Queue{
			{Name: "a", Parent: "b", Claims: []Claim{
				{Resource: "gpu", Quota: -3}, {Resource: "gpu", Limit: quota.AtMost(-1)}, {Resource: "tpu", OverQuotaWeight: -5},
			}},
			{Name: "b", Parent: "c", Claims: []Claim{
				{Resource: "gpu", OverQuotaWeight: math.NaN(), PastUsage: -6, Request: -7, Usage: quota.MaxUsage + 1},
			}},
			{Name: "c", Parent: "b", Claims: []Claim{{Resource: "gpu", Quota: quota.MaxUsage + 1, Usage: 1, NonPreemptible: 2}}},
			{Name: "a", Parent: "none", Claims: []Claim{{Resource: "gpu", NonPreemptible: -1}}}, {Parent: "own"}, {Name: "own", Parent: "own"},
		},
		KValue: quota.WeightOf(-8),
	}
	want := []string{
		"resources[0].total: -1 is not within 0 and 4611686018427387904",
		"resources[0].unit: -1 is negative",
		`resources[1].name: "gpu" is also the name of resources[0]`,
		"resources[2].name: is empty",
		"resources[2].total: 4611686018427387905 is not within 0 and 4611686018427387904",
		`queues[3].name: "a" is also the name of queues[0]`,
		"queues[4].name: is empty",
		`queues[0].claims[0].quota: -3 is not within 0 and 4611686018427387904, nor unlimited (queue "a")`,
		`queues[0].claims[1].resource: a second claim on "gpu" (queue "a")`,
		`queues[0].claims[1].limit: -1 is negative (queue "a")`,
		`queues[0].claims[2].resource: unknown resource "tpu" (queue "a")`,
		`queues[0].claims[2].overQuotaWeight: -5 is negative or not finite (queue "a")`,
		`queues[1].claims[0].overQuotaWeight: NaN is negative or not finite (queue "b")`,
		`queues[1].claims[0].pastUsage: -6 is negative or not finite (queue "b")`,
		`queues[1].claims[0].request: -7 is not within 0 and 4611686018427387904 (queue "b")`,
		`queues[1].claims[0].usage: 4611686018427387905 is not within 0 and 4611686018427387904 (queue "b")`,
		`queues[2].claims[0].quota: 4611686018427387905 is not within 0 and 4611686018427387904, nor unlimited (queue "c")`,
		`queues[2].claims[0].nonPreemptible: 2 is not within 0 and the usage, 1 (queue "c")`,
		`queues[3].parent: unknown queue "none" (queue "a")`,
		`queues[3].claims[0].nonPreemptible: -1 is not within 0 and the usage, 0 (queue "a")`,
		`queues[1].parent: "c" leads back to queue "b"`,
		`queues[5].parent: "own" leads back to queue "own"`,
		"kValue: -8 is negative or not finite",
	}
	shares, err := Divide(tree)
	faults, _ := err.(interface{ Unwrap() []error })
	if shares != nil || faults == nil {
		t.Fatalf("%v, %v", shares, err)
	}
	var got []string
	for _, fault := range faults.Unwrap() {
		got = append(got, fault.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

// The zero Tree is valid and divides nothing. A queue without a claim has the zero claim.
func TestZero(t *testing.T) {
	if shares, err := Divide(Tree{}); len(shares) != 0 || err != nil {
		t.Errorf("%v, %v", shares, err)
	}
	got := divided(t, gpuTree(8, 0, Queue{Name: "a"}))["a"]
	if got != (Share{Resource: "gpu"}) || !strings.HasPrefix(got.String(), "gpu: 0 (0 by quota") {
		t.Errorf("%v", got)
	}
}

// Weights of which the sum on one scale is no int64 divide as others do.
func TestWeightsOfAllSizes(t *testing.T) {
	tree := Tree{Resources: []Resource{{Name: "gpu", Total: 9}}}
	for i, weight := range []float64{1e15, 1e15, 1e15, 0.0001} {
		tree.Queues = append(tree.Queues, Queue{Name: fmt.Sprint(i), Claims: []Claim{{Resource: "gpu", OverQuotaWeight: weight, Request: 9}}})
	}
	if diff := cmp.Diff(model(tree), must(t, tree)); diff != "" {
		t.Errorf("- model, + got:\n%s", diff)
	}
}

// Of what rounding left, the larger fraction comes first, whether both are of one round or of two: a queue keeps that of an earlier round
// if its part in a later one is whole.
func TestFractionsOfTwoRounds(t *testing.T) {
	var of [6]*big.Int
	for i := range of {
		of[i] = big.NewInt(int64(i))
	}
	for _, small := range []bool{false, true} {
		each := func(do func(n, of int64, f fraction)) {
			for i := int64(1); i < int64(len(of)); i++ {
				for n := range i {
					f := fraction{rest: big.NewInt(n), of: of[i]}
					if small {
						f = fraction{word: uint64(n), ofWord: uint64(i)}
					}
					do(n, i, f)
				}
			}
		}
		each(func(a, b int64, f fraction) {
			each(func(c, d int64, g fraction) {
				if got, want := f.compare(g), big.NewInt(a*d).Cmp(big.NewInt(c*b)); got != want {
					t.Errorf("%d/%d and %d/%d, small: %v: %d, want %d", a, b, c, d, small, got, want)
				}
			})
		})
	}
}
