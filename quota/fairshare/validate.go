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
//   - an amount that is negative or over [quota.MaxUsage];
//   - a weight, past usage or KValue that is negative or not finite.
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
	claimed := make([]int, len(t.Resources)) // the last queue with a claim on the resource, and one
	for i := range t.Queues {
		q := &t.Queues[i]
		if _, known := at.queues[q.Parent]; q.Parent != "" && !known {
			faults.Add(fmt.Sprintf("queues[%d].parent", i), "unknown queue %q (queue %q)", q.Parent, q.Name)
		}
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
			if !c.valid() {
				c.validate(&faults, fmt.Sprintf("queues[%d].claims[%d]", i, j), q.Name)
			}
		}
	}
	t.validateAcyclic(&faults, at.queues)
	if k := t.KValue.Or(1); !finite(k) {
		faults.Add("kValue", "%v is negative or not finite", k)
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

func (c *Claim) valid() bool {
	return (amount(c.Quota) || c.Quota == quota.Unlimited) && c.Limit.Or(0) >= 0 && amount(c.Request) && amount(c.Usage) &&
		finite(c.OverQuotaWeight) && finite(c.PastUsage)
}

func (c *Claim) validate(faults *fault.List, path, queue string) {
	if !amount(c.Quota) && c.Quota != quota.Unlimited {
		faults.Add(path+".quota", "%d is not within 0 and %d, nor unlimited (queue %q)", c.Quota, quota.MaxUsage, queue)
	}
	if limit := c.Limit.Or(0); limit < 0 {
		faults.Add(path+".limit", "%d is negative (queue %q)", limit, queue)
	}
	if !finite(c.OverQuotaWeight) {
		faults.Add(path+".overQuotaWeight", "%v is negative or not finite (queue %q)", c.OverQuotaWeight, queue)
	}
	if !finite(c.PastUsage) {
		faults.Add(path+".pastUsage", "%v is negative or not finite (queue %q)", c.PastUsage, queue)
	}
	if !amount(c.Request) {
		faults.Add(path+".request", "%d is not within 0 and %d (queue %q)", c.Request, quota.MaxUsage, queue)
	}
	if !amount(c.Usage) {
		faults.Add(path+".usage", "%d is not within 0 and %d (queue %q)", c.Usage, quota.MaxUsage, queue)
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
