package fairshare

import (
	"fmt"
	"math"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
)

// names are the places of resources and queues, by name.
type names struct{ resources, queues map[string]int }

// validate returns everything that is wrong with a tree:
//   - an empty or duplicate name, an unknown parent or resource, a queue below itself;
//   - two claims of a queue on one resource;
//   - an amount that is negative or over [quota.MaxUsage], more that is not preemptible than is used;
//   - a weight, past usage, KValue or saturation that is negative or not finite.
func (t *Tree) validate() (names, error) {
	at := names{make(map[string]int, len(t.Resources)), make(map[string]int, len(t.Queues))}
	var faults fault.List
	for i := range t.Resources {
		r := &t.Resources[i]
		unique(&faults, "resources", i, r.Name, at.resources)
		if r.Total < 0 || r.Total > quota.MaxUsage {
			faults.Add(fmt.Sprintf("resources[%d].total", i), "%d is not within 0 and %d", r.Total, quota.MaxUsage)
		}
		if r.Unit < 0 {
			faults.Add(fmt.Sprintf("resources[%d].unit", i), "%d is negative", r.Unit)
		}
	}
	for i := range t.Queues {
		unique(&faults, "queues", i, t.Queues[i].Name, at.queues)
	}
	claimed := make([]int, len(t.Resources))
	for i := range t.Queues {
		q := &t.Queues[i]
		if _, known := at.queues[q.Parent]; q.Parent != "" && !known {
			faults.Add(fmt.Sprintf("queues[%d].parent", i), "unknown queue %q (queue %q)", q.Parent, q.Name)
		}
		q.validate(&faults, i, at, claimed)
	}
	t.validateAcyclic(&faults, at.queues)
	if k := t.KValue.Or(1); !finite(k) {
		faults.Add("kValue", "%v is negative or not finite", k)
	}
	if factor := t.Saturation.Or(1); !finite(factor) {
		faults.Add("saturation", "%v is negative or not finite", factor)
	}
	return at, faults.Err()
}

func unique(faults *fault.List, list string, i int, name string, at map[string]int) {
	first, taken := at[name]
	switch {
	case name == "":
		faults.Add(fmt.Sprintf("%s[%d].name", list, i), "is empty")
	case taken:
		faults.Add(fmt.Sprintf("%s[%d].name", list, i), "%q is also the name of %s[%d]", name, list, first)
	default:
		at[name] = i
	}
}

func finite(x float64) bool { return x >= 0 && !math.IsInf(x, 1) } // not a number is neither

func amount(n int64) bool { return n >= 0 && n <= quota.MaxUsage }

// validate finds what is wrong with the claims of queue i. claimed has, by resource, the last queue with a claim on it, and one.
func (q *Queue) validate(faults *fault.List, i int, at names, claimed []int) {
	for j := range q.Claims {
		c := &q.Claims[j]
		switch r, known := at.resources[c.Resource]; {
		case !known:
			faults.Add(fmt.Sprintf("queues[%d].claims[%d].resource", i, j), "unknown resource %q (queue %q)", c.Resource, q.Name)
		case claimed[r] == i+1:
			faults.Add(fmt.Sprintf("queues[%d].claims[%d].resource", i, j), "a second claim on %q (queue %q)", c.Resource, q.Name)
		default:
			claimed[r] = i + 1
		}
		c.validate(func(field, problem string, args ...any) {
			faults.Add(fmt.Sprintf("queues[%d].claims[%d].%s", i, j, field), problem+" (queue %q)", append(args, q.Name)...)
		})
	}
}

func (c *Claim) validate(fault func(field, problem string, args ...any)) {
	if !amount(c.Quota) && c.Quota != quota.Unlimited {
		fault("quota", "%d is not within 0 and %d, nor unlimited", c.Quota, quota.MaxUsage)
	}
	if limit, _ := c.Limit.Get(); limit < 0 {
		fault("limit", "%d is negative", limit)
	}
	if !finite(c.OverQuotaWeight) {
		fault("overQuotaWeight", "%v is negative or not finite", c.OverQuotaWeight)
	}
	if !finite(c.PastUsage) {
		fault("pastUsage", "%v is negative or not finite", c.PastUsage)
	}
	if !amount(c.Request) {
		fault("request", "%d is not within 0 and %d", c.Request, quota.MaxUsage)
	}
	switch {
	case !amount(c.Usage):
		fault("usage", "%d is not within 0 and %d", c.Usage, quota.MaxUsage)
	case c.NonPreemptible < 0, c.NonPreemptible > c.Usage:
		fault("nonPreemptible", "%d is not within 0 and the usage, %d", c.NonPreemptible, c.Usage)
	}
}

// validateAcyclic finds the queues that are below themselves.
func (t *Tree) validateAcyclic(faults *fault.List, at map[string]int) {
	seen := make([]int, len(t.Queues)) // the walk that came by: that from queue n-1. 0: none did
	for i := range t.Queues {
		j, known := i, true
		for known && seen[j] == 0 {
			seen[j] = i + 1
			j, known = at[t.Queues[j].Parent]
		}
		if known && seen[j] == i+1 {
			faults.Add(fmt.Sprintf("queues[%d].parent", j), "%q leads back to queue %q", t.Queues[j].Parent, t.Queues[j].Name)
		}
	}
}
