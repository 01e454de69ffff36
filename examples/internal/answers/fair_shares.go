package answers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// Requesting returns the queues once a workload waits in one of them, in place of another form of it; nil: it did not wait. What a queue
// requests is part of what its fair share goes by.
func Requesting(t fairshare.Tree, w, before *workload.Workload) fairshare.Tree {
	t = t.Clone()
	add := func(w *workload.Workload, sign int64) {
		for i := range t.Queues {
			if t.Queues[i].Name != w.Queue {
				continue
			}
			for j := range t.Queues[i].Claims {
				claim := &t.Queues[i].Claims[j]
				for _, u := range w.Usage() {
					if claim.Resource == u.Resource {
						claim.Request = max(0, min(quota.Add(claim.Request, sign*u.Amount), quota.MaxUsage))
					}
				}
			}
		}
	}
	if before != nil {
		add(before, -1)
	}
	add(w, 1)
	return t
}

// SetShare changes what a queue of KAI may have of a resource: its quota, its limit or its overQuotaWeight. Amounts are quantities, where
// none is no limit, and as a quota all that there is. The lists of the state must be the caller's own.
func SetShare(st *preemption.State, name, resource, field, value string) error {
	tree := st.FairShares.Clone()
	at := slices.IndexFunc(tree.Queues, func(q fairshare.Queue) bool { return q.Name == name })
	if at < 0 {
		return fmt.Errorf("there is no queue %q", name)
	}
	claims := tree.Queues[at].Claims
	of := slices.IndexFunc(claims, func(c fairshare.Claim) bool { return strings.EqualFold(c.Resource, resource) }) // in a Queue it is gpu
	if of < 0 {
		return fmt.Errorf("%q is unknown: want cpu, memory or gpu", resource)
	}
	var err error
	amountOfIt := func(value string) (quota.OptionalInt64, error) { return amountOf(claims[of].Resource, value) }
	switch claim := &claims[of]; field {
	case "quota":
		var amount quota.OptionalInt64
		if amount, err = raised(quota.Some(claim.Quota), value, amountOfIt); err == nil {
			claim.Quota = amount.Or(quota.Unlimited)
		}
	case "limit":
		claim.Limit, err = raised(claim.Limit, value, amountOfIt)
	case "overQuotaWeight":
		if claim.OverQuotaWeight, err = strconv.ParseFloat(value, 64); err != nil {
			err = fmt.Errorf("%q is no number", value)
		}
	default:
		err = fmt.Errorf("%q is unknown: want limit or overQuotaWeight", field)
	}
	if err != nil {
		return err
	}
	st.FairShares = tree
	for i := range st.Queues {
		if q := &st.Queues[i]; q.Name == name {
			q.Quotas = limited(q.Quotas, &claims[of])
		}
	}
	for i := range st.Cohorts {
		if c := &st.Cohorts[i]; c.Name == name {
			c.Quotas = limited(c.Quotas, &claims[of])
		}
	}
	return nil
}

// limited returns quotas by which a queue may hold what a claim allows.
func limited(quotas []quota.Quota, by *fairshare.Claim) []quota.Quota {
	quotas = slices.Clone(quotas)
	for i := range quotas {
		if quotas[i].Resource == by.Resource {
			quotas[i].BorrowingLimit = by.Limit
		}
	}
	return quotas
}

// amountOf reads an amount; none is not set.
func amountOf(resource, value string) (quota.OptionalInt64, error) {
	if value == none {
		return quota.OptionalInt64{}, nil
	}
	quantity, err := bridge.ParseQuantity(value)
	if err != nil {
		return quota.OptionalInt64{}, err
	}
	if n := quantity.Amount(resource); n >= 0 {
		return quota.Some(n), nil
	}
	return quota.OptionalInt64{}, fmt.Errorf("%q is negative: want a quantity, or none for no limit", value)
}
