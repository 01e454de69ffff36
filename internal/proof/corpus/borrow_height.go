package corpus

import (
	"slices"

	"github.com/cedesched/cede/quota"
)

// heightNow returns the height of the lowest subtree of Kueue's own rows that has room for an amount,
// with nobody gone: Kueue gives it as it is without its victims.
func (c *Case) heightNow(a quota.Amount) int {
	rest := a.Amount
	for n := (caseNode{"queue", c.Incoming.ClusterQueue}); ; n = c.parent(n) {
		row, lends := c.rowOf(n, a.FlavorResource())
		if c.parent(n).name == "" || row.Usage+rest <= row.SubtreeQuota {
			return c.height(n)
		}
		if limit, limited := lends.Get(); limited {
			rest -= max(0, row.SubtreeQuota-limit-row.Usage)
		}
	}
}

// caseNode is a queue or a cohort of a case.
type caseNode struct{ kind, name string }

func (c *Case) parent(n caseNode) (parent caseNode) {
	for _, q := range c.ClusterQueues {
		if n == (caseNode{"queue", q.Name}) {
			parent = caseNode{"cohort", q.Cohort}
		}
	}
	for _, co := range c.Cohorts {
		if n == (caseNode{"cohort", co.Name}) {
			parent = caseNode{"cohort", co.Parent}
		}
	}
	return parent
}

// height returns the length of the longest path down from a node: 0 for a queue, and for a cohort
// that has nothing in it.
func (c *Case) height(n caseNode) (height int) {
	if slices.ContainsFunc(c.ClusterQueues, func(q ClusterQueue) bool { return n == (caseNode{"cohort", q.Cohort}) }) {
		height = 1
	}
	for _, co := range c.Cohorts {
		if n == (caseNode{"cohort", co.Parent}) {
			height = max(height, 1+c.height(caseNode{"cohort", co.Name}))
		}
	}
	return height
}

// rowOf returns Kueue's numbers of a node in a column, and its lending limit.
func (c *Case) rowOf(n caseNode, fr quota.FlavorResource) (row QuotaRow, lends quota.OptionalInt64) {
	rows, quotas := c.Want.Quota.ClusterQueues, []quota.Quota(nil)
	if n.kind == "cohort" {
		rows = c.Want.Quota.Cohorts
	}
	if at := slices.IndexFunc(rows, func(r QuotaRow) bool { return r.Name == n.name && r.FlavorResource == fr }); at >= 0 {
		row = rows[at]
	}
	for _, q := range c.ClusterQueues {
		if n == (caseNode{"queue", q.Name}) {
			quotas = effective(q.Quotas, true, true)
		}
	}
	for _, co := range c.Cohorts {
		if n == (caseNode{"cohort", co.Name}) {
			quotas = effective(co.Quotas, true, false)
		}
	}
	for _, q := range quotas {
		if q.FlavorResource() == fr {
			lends = q.LendingLimit
		}
	}
	return row, lends
}
