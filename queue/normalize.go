package queue

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/quota"
)

// Change says what Normalize changed. The zero value is none.
type Change struct {
	// Path is the field, under the path that was given: "queues[3].quotas[0].lendingLimit".
	Path string `json:"path"`
	// From and To are the values as text. An empty To: the field is not set any more.
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	// Why is a sentence without full stop.
	Why string `json:"why"`
}

// Normalize returns the queue as Kueue takes it, where [Validate] refuses what Kueue accepts and does not
// look at: limits of a queue without cohort are not set, a lending limit above the nominal quota is the
// nominal quota (Kueue's cache clamps it), and borrowWithinCohort is Never where reclaimWithinCohort is.
// The list says what was changed, with paths under the given one. The queue itself is not changed.
func (q *Queue) Normalize(path string) (Queue, []Change) {
	out, changes := *q, []Change(nil)
	out.Quotas, changes = limitsWithoutParent(q.Quotas, path, q.Cohort != "", changes)
	for i, e := range out.Quotas {
		if limit, ok := e.LendingLimit.Get(); ok && limit > e.Nominal && e.Nominal >= 0 {
			out.Quotas = own(out.Quotas, q.Quotas)
			out.Quotas[i].LendingLimit = quota.AtMost(e.Nominal)
			changes = append(changes, Change{fmt.Sprintf("%s.quotas[%d].lendingLimit", path, i), fmt.Sprint(limit), fmt.Sprint(e.Nominal),
				fmt.Sprintf("the limit of %v is more than its nominal quota", e.FlavorResource())})
		}
	}
	if b := &out.Preemption.BorrowWithinCohort; b.Policy != Never && out.Preemption.ReclaimWithinCohort == Never {
		changes = append(changes, Change{path + ".preemption.borrowWithinCohort", b.Policy.String(), "", "reclaimWithinCohort is Never"})
		*b = BorrowWithinCohort{}
	}
	return out, changes
}

// Normalize returns the cohort as Kueue takes it: limits of a cohort without parent are not set. The list
// says what was changed, with paths under the given one. The cohort itself is not changed.
func (c *Cohort) Normalize(path string) (Cohort, []Change) {
	out, changes := *c, []Change(nil)
	out.Quotas, changes = limitsWithoutParent(c.Quotas, path, c.Parent != "", changes)
	return out, changes
}

// limitsWithoutParent takes the limits from quotas that have nothing to borrow from or to lend to.
func limitsWithoutParent(quotas []quota.Quota, path string, hasParent bool, changes []Change) ([]quota.Quota, []Change) {
	out := quotas
	for i := range quotas {
		e := &quotas[i]
		for _, l := range [...]struct {
			name  string
			value quota.OptionalInt64
			unset func(*quota.Quota)
		}{
			{"borrowingLimit", e.BorrowingLimit, func(e *quota.Quota) { e.BorrowingLimit = quota.OptionalInt64{} }},
			{"lendingLimit", e.LendingLimit, func(e *quota.Quota) { e.LendingLimit = quota.OptionalInt64{} }},
		} {
			if limit, ok := l.value.Get(); ok && !hasParent {
				out = own(out, quotas)
				l.unset(&out[i])
				changes = append(changes, Change{fmt.Sprintf("%s.quotas[%d].%s", path, i, l.name), fmt.Sprint(limit), "", "it has no parent to borrow from or lend to"})
			}
		}
	}
	return out, changes
}

// own returns a copy of a list that is still that of the caller.
func own(list, callers []quota.Quota) []quota.Quota {
	if len(list) > 0 && &list[0] == &callers[0] {
		return slices.Clone(list)
	}
	return list
}
