package fairshare

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/quota"
)

func among[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

// drawTree draws a tree of up to twelve queues and four levels. Many weights, ages and requests are equal; a few amounts are the
// largest.
func drawTree(t *rapid.T) Tree {
	tree := Tree{Resources: []Resource{{Name: "cpu"}, {Name: "gpu", Unit: 1000}}}
	most := among(t, "most", 4, 20, 1000)
	for i := range tree.Resources {
		tree.Resources[i].Total = drawAmount(t, "total", tree.Resources[i], most)
	}
	if rapid.Bool().Draw(t, "has K") {
		tree.KValue = quota.Some(among(t, "K", 0.0, 0.1, 0.5, 1, 5, 1e22))
	}
	uses := rapid.Bool().Draw(t, "uses")
	for i := range rapid.IntRange(1, 12).Draw(t, "queues") {
		q := Queue{Name: fmt.Sprintf("q%02d", i*7%12), Priority: among[int64](t, "priority", 0, 0, 0, 1)}
		q.CreatedAt = time.Unix(among[int64](t, "created", 0, 0, 60, 120), 0)
		if i > 0 && rapid.IntRange(0, 2).Draw(t, "nested") > 0 {
			q.Parent = tree.Queues[rapid.IntRange(0, i-1).Draw(t, "parent")].Name
		}
		for _, r := range tree.Resources {
			if rapid.IntRange(0, 9).Draw(t, "claims") > 0 {
				q.Claims = append(q.Claims, drawClaim(t, r, most, uses))
			}
		}
		tree.Queues = append(tree.Queues, q)
	}
	return tree
}

// drawAmount draws an amount: whole units, quarters and tenths of them, or the largest.
func drawAmount(t *rapid.T, label string, r Resource, most int) int64 {
	unit := max(r.Unit, 1)
	switch rapid.IntRange(0, 30).Draw(t, label+" is") {
	case 0:
		return among(t, label, quota.MaxUsage, quota.MaxUsage-1)
	case 1, 2, 3, 4:
		return rapid.Int64Range(0, int64(most)).Draw(t, label) * unit / 4
	case 5, 6:
		return rapid.Int64Range(0, int64(most)).Draw(t, label) * unit / 10
	}
	return rapid.Int64Range(0, int64(most)).Draw(t, label) * unit
}

func drawClaim(t *rapid.T, r Resource, most int, uses bool) Claim {
	c := Claim{Resource: r.Name, OverQuotaWeight: among(t, "weight", 0, 1, 1, 1, 2, 4, 0.1, 0.2, 0.7, 1.0/3, 1e12, 1e22)}
	switch rapid.IntRange(0, 3).Draw(t, "quota is") {
	case 0:
		c.Quota = drawAmount(t, "quota", r, most) / 4
	case 1:
		c.Quota = quota.Unlimited
	}
	if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
		c.Limit = quota.AtMost(drawAmount(t, "limit", r, most))
	}
	if uses {
		c.PastUsage = among(t, "past", 0, 0, 0.1, 0.25, 0.5, 0.293, 1.2, 2, 1e22)
	}
	c.Request = drawAmount(t, "request", r, most)
	c.Usage = min(c.Request, drawAmount(t, "usage", r, most))
	c.NonPreemptible = among(t, "non preemptible", 0, c.Usage/2, c.Usage)
	return c
}

func must(t failer, tree Tree) []QueueShares {
	list, err := Divide(tree)
	if err != nil {
		t.Fatalf("%+v: %v", tree, err)
	}
	return list
}

type failer interface {
	Fatalf(format string, args ...any)
}

// The model that was written from the words alone divides alike: trees that rapid can make smaller, and many more.
func TestDividesAsTheModel(t *testing.T) {
	alike := func(t failer, tree Tree) {
		if diff := cmp.Diff(model(tree), must(t, tree)); diff != "" {
			t.Fatalf("%s: - model, + got:\n%s", text(tree), diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) { alike(t, drawTree(t)) })
	trees := rapid.Custom(drawTree)
	for seed := range 1000 {
		alike(t, trees.Example(seed))
	}
}

// The order of the lists does not matter, and the tree is not changed.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		before := text(tree)
		want := must(t, tree)
		if text(tree) != before {
			t.Fatalf("the tree is changed")
		}
		random := rand.New(rand.NewSource(rapid.Int64().Draw(t, "order")))
		random.Shuffle(len(tree.Queues), func(i, j int) { tree.Queues[i], tree.Queues[j] = tree.Queues[j], tree.Queues[i] })
		for _, q := range tree.Queues {
			random.Shuffle(len(q.Claims), func(i, j int) { q.Claims[i], q.Claims[j] = q.Claims[j], q.Claims[i] })
		}
		if diff := cmp.Diff(want, must(t, tree)); diff != "" {
			t.Fatalf("- before, + after:\n%s", diff)
		}
		slices.Reverse(tree.Resources)
		for _, of := range must(t, tree) {
			slices.Reverse(of.Shares)
			at := slices.IndexFunc(want, func(o QueueShares) bool { return o.Queue == of.Queue })
			if diff := cmp.Diff(want[at], of); diff != "" {
				t.Fatalf("- before, + with resources in reverse:\n%s", diff)
			}
		}
	})
}

func text(tree Tree) string {
	data, err := json.Marshal(tree)
	return fmt.Sprint(string(data), err)
}

// A tree in JSON is the same tree.
func TestJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		var read Tree
		if err := json.Unmarshal([]byte(text(tree)[:len(text(tree))-len("<nil>")]), &read); err != nil {
			t.Fatalf("%v", err)
		}
		if diff := cmp.Diff(must(t, tree), must(t, read)); diff != "" {
			t.Fatalf("%s", diff)
		}
	})
}

// What each step gives has its bounds: quota and rounds give at most what is requestable, the remainder at most one unit. Where the
// quotas fit, siblings have no more than there is to divide; elsewhere they have what their quotas give. If any of them with a weight
// lacks something, and none used anything in the past, all is divided.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		list := must(t, tree)
		for r, resource := range tree.Resources {
			amounts, deserved, given := map[string]int64{"": resource.Total}, map[string]int64{}, map[string]int64{}
			lack, past := map[string]bool{}, map[string]bool{}
			for _, of := range list {
				amounts[of.Queue] = of.Shares[r].FairShare
			}
			for _, q := range tree.Queues {
				at := slices.IndexFunc(list, func(of QueueShares) bool { return of.Queue == q.Name })
				s, c := list[at].Shares[r], claimOf(q, resource.Name)
				wants := min(s.Request, c.Limit.Or(quota.Unlimited))
				if s.Deserved+s.OverQuota > wants || s.Remainder > max(resource.Unit, 1) || min(s.Deserved, s.OverQuota, s.Remainder) < 0 {
					t.Fatalf("%s: %v of %d", q.Name, s, wants)
				}
				deserved[q.Parent] = quota.Add(deserved[q.Parent], s.Deserved)
				given[q.Parent] = quota.Add(given[q.Parent], s.FairShare)
				lack[q.Parent] = lack[q.Parent] || c.OverQuotaWeight > 0 && wants > s.FairShare
				past[q.Parent] = past[q.Parent] || c.PastUsage > 0
			}
			for parent, amount := range amounts {
				sum, quotas := given[parent], deserved[parent]
				if sum > max(amount, quotas) || quotas > amount && sum != quotas || lack[parent] && !past[parent] && sum < amount {
					t.Fatalf("%s: %d of %d is given below %q, %d by quota", resource.Name, sum, amount, parent, quotas)
				}
			}
		}
	})
}

func claimOf(q Queue, resource string) Claim {
	if i := slices.IndexFunc(q.Claims, func(c Claim) bool { return c.Resource == resource }); i >= 0 {
		return q.Claims[i]
	}
	return Claim{}
}

// With a larger total the queues without a parent have more, all together. A single one may have less, for what rounding leaves of a
// high priority goes to a lower one until it makes whole units: less by a unit for each queue at most.
func TestMoreForMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		tree.Queues = slices.DeleteFunc(tree.Queues, func(q Queue) bool { return q.Parent != "" })
		for _, q := range tree.Queues {
			for i := range q.Claims {
				q.Claims[i].PastUsage = 0
			}
		}
		before := must(t, tree)
		for r := range tree.Resources {
			total := &tree.Resources[r].Total
			*total = min(*total+rapid.Int64Range(1, 5000).Draw(t, "more"), quota.MaxUsage)
		}
		after := must(t, tree)
		for r, resource := range tree.Resources {
			was, is := int64(0), int64(0)
			for i := range before {
				a, b := before[i].Shares[r].FairShare, after[i].Shares[r].FairShare
				was, is = quota.Add(was, a), quota.Add(is, b)
				if a-b > int64(len(before))*max(resource.Unit, 1) {
					t.Fatalf("%s: %v, then %v", before[i].Queue, before[i].Shares[r], after[i].Shares[r])
				}
			}
			if is < was {
				t.Fatalf("%s: %d, then %d", resource.Name, was, is)
			}
		}
	})
}
