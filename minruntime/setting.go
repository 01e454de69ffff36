// Package minruntime is guaranteed runtime: how long a workload may run before it can be
// preempted in its own queue, or its resources reclaimed by another; and how that is
// resolved through the hierarchy of queues.
//
// A setting stands on any node of the tree. Zero is a value: it protects nobody, and it
// ends the search for one. Unset inherits.
//
// Source of the rules: KAI's design "Guaranteed minimum runtime before preemptions and
// reclaims".
package minruntime

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cedesched/cede/internal/base/enum"
)

// Setting is an optional duration. The zero value is unset: it inherits.
type Setting struct {
	set      bool
	duration time.Duration
}

// For returns a setting. A negative one is refused where it is used.
func For(d time.Duration) Setting { return Setting{true, d} }

// Get returns the duration and whether it is set.
func (s Setting) Get() (d time.Duration, ok bool) { return s.duration, s.set }

// IsZero reports whether it is unset. A set zero is not.
func (s Setting) IsZero() bool { return !s.set }

// Equal reports whether two settings are the same, as == does.
func (s Setting) Equal(other Setting) bool { return s == other }

// MarshalJSON writes the duration as Go does ("30m0s"), or null.
func (s Setting) MarshalJSON() ([]byte, error) {
	if !s.set {
		return []byte("null"), nil
	}
	return json.Marshal(s.duration.String())
}

// UnmarshalJSON reads a duration as in "30m" or "0s", or null for unset. Anything else
// is an error.
func (s *Setting) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*s = Setting{}
	if text == nil {
		return nil
	}
	d, err := time.ParseDuration(*text)
	if err != nil {
		return fmt.Errorf("%q is not a duration (as in 30m or 0s)", *text)
	}
	*s = For(d)
	return nil
}

// Settings is what a node says. The zero value inherits both.
type Settings struct {
	// Preempt protects from workloads of the same queue.
	Preempt Setting `json:"preempt,omitzero"`
	// Reclaim protects from workloads of other queues.
	Reclaim Setting `json:"reclaim,omitzero"`
}

// Method is how a reclaim is resolved. The zero value is LCA.
type Method uint8

const (
	// LCA starts one step down from the lowest common ancestor of both queues, on the
	// victim's side, and goes up: what a subtree says holds among its siblings, and
	// what is said inside it holds inside. Queues of different roots are siblings
	// under an implied one.
	LCA Method = iota
	// Queue starts at the victim's own queue and goes up.
	Queue
)

var methodNames = enum.Names[Method]{Type: "Method", List: []string{"lca", "queue"}}

// String returns "lca" or "queue".
func (m Method) String() string { return methodNames.String(m) }

// UnmarshalText reads "lca" or "queue". It fails on any other text.
func (m *Method) UnmarshalText(text []byte) error { return methodNames.Unmarshal(text, m) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (m Method) MarshalText() ([]byte, error) { return methodNames.Marshal(m) }

// ProtectedUntil returns the last instant at which a workload is protected that started
// at the given one; ok is false when it never is: no minimum, or no start time. It may
// be preempted strictly later only.
func ProtectedUntil(startedAt time.Time, minimum time.Duration) (until time.Time, ok bool) {
	if minimum <= 0 || startedAt.IsZero() {
		return time.Time{}, false
	}
	return startedAt.Add(minimum), true
}

// MayLose reports whether a set of replicas may lose so many: the surplus over the
// minimum always, the minimum only when it is not protected. A replica that is
// terminating already does not run.
func MayLose(running, minimum, lost int64, protected bool) bool {
	return !protected || lost <= 0 || running-lost >= minimum
}
