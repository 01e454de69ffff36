package quota

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// AtMost returns a limit of n, in the unit of the resource. A negative limit is refused
// where it is used.
func AtMost(n int64) OptionalInt64 { return Some(n) }

// Quota is the quota of a node for one resource of one flavor.
type Quota struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	// Nominal is the node's own amount. A queue may always use it; the members of a cohort
	// share the cohort's.
	Nominal int64 `json:"nominal"`
	// BorrowingLimit limits what the node (for a cohort: its whole subtree) takes from its
	// parent on top of its subtree quota. The zero value is no limit.
	BorrowingLimit OptionalInt64 `json:"borrowingLimit,omitzero"`
	// LendingLimit limits what the node (for a cohort: its whole subtree) lends to its
	// parent. The zero value is no limit: everything is lent.
	LendingLimit OptionalInt64 `json:"lendingLimit,omitzero"`
}

// FlavorResource returns the column of the quota.
func (q Quota) FlavorResource() FlavorResource { return FlavorResource{q.Flavor, q.Resource} }

// UnmarshalJSON reads the object form. It fails on unknown fields and on an entry without
// nominal: limits alone have no meaning.
func (q *Quota) UnmarshalJSON(data []byte) error {
	type plain Quota
	entry := struct {
		*plain
		Nominal *int64 `json:"nominal"`
	}{plain: (*plain)(q)}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&entry); err != nil {
		return err
	}
	if entry.Nominal == nil {
		return fmt.Errorf("quota of %v: no nominal", q.FlavorResource())
	}
	q.Nominal = *entry.Nominal
	return nil
}
