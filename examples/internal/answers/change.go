package answers

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// none is the value of a limit that is not set.
const none = "none"

// SetQuota returns the quotas of a queue or cohort with another nominal, borrowingLimit or
// lendingLimit. The value is a quantity; with a plus before it, so much more than before; none is no limit.
func SetQuota(quotas []quota.Quota, of string, column quota.FlavorResource, field, value string) ([]quota.Quota, error) {
	i := slices.IndexFunc(quotas, func(e quota.Quota) bool { return e.FlavorResource() == column })
	if i < 0 {
		var has []string
		for _, e := range quotas {
			has = append(has, e.Flavor+":"+e.Resource)
		}
		return quotas, fmt.Errorf("%s has no quota for %s:%s; it has: %s", of, column.Flavor, column.Resource, OrNothing(has))
	}
	if value == none && field != "nominal" {
		value = ""
	}
	changed := slices.Clone(quotas)
	before := map[string]quota.OptionalInt64{"nominal": quota.Some(changed[i].Nominal), "borrowingLimit": changed[i].BorrowingLimit, "lendingLimit": changed[i].LendingLimit}
	limit := quota.OptionalInt64{}
	if value != "" {
		var err error
		if limit, err = raised(before[field], value, func(value string) (quota.OptionalInt64, error) {
			quantity, err := bridge.ParseQuantity(value)
			if err != nil {
				return limit, err
			}
			return quota.Some(quantity.Amount(column.Resource)), nil
		}); err != nil {
			return quotas, err
		}
	}
	switch e := &changed[i]; field {
	case "nominal":
		if value == "" {
			return quotas, fmt.Errorf("want a quantity")
		}
		e.Nominal = limit.Or(0)
	case "borrowingLimit":
		e.BorrowingLimit = limit
	case "lendingLimit":
		e.LendingLimit = limit
	default:
		return quotas, fmt.Errorf("%q is unknown: want borrowingLimit or lendingLimit", field)
	}
	return changed, nil
}

// raised is what a value says: with a plus before it, so much more than before.
func raised(before quota.OptionalInt64, value string, read func(string) (quota.OptionalInt64, error)) (quota.OptionalInt64, error) {
	more, is := strings.CutPrefix(value, "+")
	if !is {
		return read(value)
	}
	if strings.HasPrefix(more, "+") {
		return before, fmt.Errorf("%q is not a quantity (as in +8, +500m, +64Gi)", value)
	}
	by, err := read(more)
	if err != nil {
		return by, err
	}
	n, limited := by.Get()
	if was, has := before.Get(); has && limited && was != quota.Unlimited {
		return quota.Some(quota.Add(was, n)), nil
	}
	return by, fmt.Errorf("%q: there is no limit that could be raised", value)
}

// Priority reads a priority.
func Priority(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no priority: want an integer within %d and %d", text, int64(math.MinInt64), int64(math.MaxInt64))
	}
	return n, nil
}

// OrNothing lists names; an empty list is nothing.
func OrNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// SetPolicy sets a policy of a queue by its name in a ClusterQueue. A threshold or duration of
// none is not set.
func SetPolicy(q *queue.Queue, field, value string) error {
	set := policyFields[field]
	if set == nil {
		return fmt.Errorf("%q is unknown: want one of %s", field, strings.Join(slices.Sorted(maps.Keys(policyFields)), ", "))
	}
	return set(q, value)
}

// StopPolicy is the name of the policy by which a queue admits nothing.
const StopPolicy = "stopPolicy"

// policyFields set a policy of a queue by name.
var policyFields = map[string]func(*queue.Queue, string) error{
	"withinClusterQueue": func(q *queue.Queue, v string) error {
		return q.Preemption.WithinClusterQueue.UnmarshalText([]byte(v))
	},
	"reclaimWithinCohort": func(q *queue.Queue, v string) error {
		return q.Preemption.ReclaimWithinCohort.UnmarshalText([]byte(v))
	},
	"borrowWithinCohort": func(q *queue.Queue, v string) error {
		return q.Preemption.BorrowWithinCohort.Policy.UnmarshalText([]byte(v))
	},
	"maxPriorityThreshold": func(q *queue.Queue, v string) error {
		if v == none {
			q.Preemption.BorrowWithinCohort.MaxPriorityThreshold = quota.OptionalInt64{}
			return nil
		}
		n, err := Priority(v)
		q.Preemption.BorrowWithinCohort.MaxPriorityThreshold = quota.Some(n)
		return err
	},
	"minAdmitDuration": func(q *queue.Queue, v string) error {
		if v == none {
			q.Preemption.MinAdmitDuration = quota.OptionalDuration{}
			return nil
		}
		d, err := time.ParseDuration(v)
		if err != nil {
			return fmt.Errorf("%q is not a duration (as in 30m or 0s)", v)
		}
		q.Preemption.MinAdmitDuration = quota.Some(d)
		return nil
	},
	StopPolicy: func(q *queue.Queue, v string) error {
		if v != "None" && v != "Hold" {
			return fmt.Errorf("%q is unknown: want None or Hold", v)
		}
		q.Inactive = v == "Hold"
		return nil
	},
	"whenCanBorrow": func(q *queue.Queue, v string) error {
		return q.FlavorFungibility.WhenCanBorrow.UnmarshalText([]byte(v))
	},
	"whenCanPreempt": func(q *queue.Queue, v string) error {
		return q.FlavorFungibility.WhenCanPreempt.UnmarshalText([]byte(v))
	},
}
