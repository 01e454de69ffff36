package corpus

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// UnlimitedLends is the departure for unlimited quota with a lending limit. Here the limit is
// lent. Kueue subtracts unlimited from unlimited and lends nothing.
const UnlimitedLends = "unlimited quota with a lending limit lends the limit"

// unlimitedLends is the predicate of UnlimitedLends: a node with a parent has a lending limit in
// one of the columns, and there it, or a node under it, has unlimited nominal quota.
func (c *Case) unlimitedLends(columns ...quota.FlavorResource) bool {
	parents, limited, unlimited := map[string]string{}, map[string]bool{}, []string{}
	see := func(node, parent string, quotas []quota.Quota) {
		parents[node] = parent
		for _, q := range quotas {
			asked := false
			for _, fr := range columns {
				asked = asked || fr == q.FlavorResource()
			}
			_, limits := q.LendingLimit.Get()
			limited[node] = limited[node] || asked && limits && parent != ""
			if asked && q.Nominal == quota.Unlimited {
				unlimited = append(unlimited, node)
			}
		}
	}
	for _, co := range c.Cohorts {
		parent := ""
		if co.Parent != "" {
			parent = "cohort " + co.Parent
		}
		see("cohort "+co.Name, parent, co.Quotas)
	}
	for _, q := range c.ClusterQueues {
		parent := ""
		if q.Cohort != "" {
			parent = "cohort " + q.Cohort
		}
		see("queue "+q.Name, parent, q.Quotas)
	}
	for _, node := range unlimited {
		for ; node != ""; node = parents[node] {
			if limited[node] {
				return true
			}
		}
	}
	return false
}

// large is an amount that no case comes near; half of it and more stands for unlimited.
const large = 1 << 52

// withoutUnlimited returns the case's cluster with large quotas in place of unlimited ones: what
// [UnlimitedLends] says is that both lend the same.
func (c *Case) withoutUnlimited() preemption.State {
	st := c.State()
	for i := range st.Cohorts {
		st.Cohorts[i].Quotas = largeQuotas(st.Cohorts[i].Quotas)
	}
	for i := range st.Queues {
		st.Queues[i].Quotas = largeQuotas(st.Queues[i].Quotas)
	}
	return st
}

func largeQuotas(list []quota.Quota) []quota.Quota {
	list = slices.Clone(list)
	for i := range list {
		if list[i].Nominal == quota.Unlimited {
			list[i].Nominal = large
		}
	}
	return list
}

// orUnlimited returns an amount; one that is large is unlimited.
func orUnlimited(amount int64) int64 {
	if amount >= large/2 {
		return quota.Unlimited
	}
	return amount
}
