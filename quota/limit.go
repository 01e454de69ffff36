package quota

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Limit is an optional bound on an amount. The zero value is no bound.
type Limit struct {
	set    bool
	amount int64
}

// AtMost returns a bound of n, in the unit of the resource. A negative bound is
// refused where it is used.
func AtMost(n int64) Limit { return Limit{set: true, amount: n} }

// Get returns the bound and whether there is one.
func (l Limit) Get() (amount int64, ok bool) { return l.amount, l.set }

// IsZero reports whether there is no bound.
func (l Limit) IsZero() bool { return !l.set }

// Equal reports whether two limits are the same, as == does.
func (l Limit) Equal(other Limit) bool { return l == other }

// String returns the bound, or "none".
func (l Limit) String() string {
	if !l.set {
		return "none"
	}
	return strconv.FormatInt(l.amount, 10)
}

// MarshalJSON writes the bound as a number, or null.
func (l Limit) MarshalJSON() ([]byte, error) {
	if !l.set {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, l.amount, 10), nil
}

// UnmarshalJSON reads a number, or null for no bound. Anything else is an error.
func (l *Limit) UnmarshalJSON(data []byte) error {
	var amount *int64
	if err := json.Unmarshal(data, &amount); err != nil {
		return err
	}
	*l = Limit{}
	if amount != nil {
		*l = AtMost(*amount)
	}
	return nil
}

// Quota is what one node of the tree has of one resource of one flavor.
type Quota struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	// Nominal is the node's own amount. A queue may always use it; a cohort's is
	// shared by its members.
	Nominal int64 `json:"nominal"`
	// BorrowingLimit bounds what the node (for a cohort: its whole subtree) takes
	// from its parent on top of its subtree quota. The zero value is no bound.
	BorrowingLimit Limit `json:"borrowingLimit,omitzero"`
	// LendingLimit bounds what the node (for a cohort: its whole subtree) leaves
	// to its parent. The zero value is no bound: everything is lent.
	LendingLimit Limit `json:"lendingLimit,omitzero"`
}

// FlavorResource returns the column that the quota is for.
func (q Quota) FlavorResource() FlavorResource { return FlavorResource{q.Flavor, q.Resource} }

// UnmarshalJSON reads the object form. It fails on unknown fields and on an entry
// without nominal: limits alone say nothing.
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
