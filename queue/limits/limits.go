// Package limits has limits on how many preemptions there may be in a sliding window, and the
// history of those that were confirmed: at most ten preemptions of queue team-b in an hour, say.
//
//	history, err := limits.NewHistory(events) // what was told to stop, and when
//	preemptor, err := preemption.New(preemption.Config{Limits: list})
//	decision, err := preemptor.Decide(snapshot, preemption.Request{Workload: w, Now: now, History: history})
//	history, err = history.With(decision.Events(snapshot, request, now)...)
//
// A decision whose victims would exceed a limit looks for others, and if there are none it waits
// until the window has room: RetryAt is that instant. A [History] is immutable; nil and the zero
// value are empty. The zero value of a [Limit] is not valid: it has no name and no window.
//
// [Validate], [NewHistory] and [History.With] return all faults as preemption.Faults: a window shorter
// than [MinWindow], a negative limit, a name that another limit has, an event without time or
// names.
//
// Source of the rules: KEP-13396, PreemptionLimit (planned upstream).
package limits

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Scope says what a limit counts together. The zero value is invalid.
type Scope uint8

const (
	// Global: all preemptions.
	Global Scope = 1 + iota
	// PreemptingClusterQueue: those for workloads of one queue.
	PreemptingClusterQueue
	// PreemptedClusterQueue: those of workloads of one queue.
	PreemptedClusterQueue
	// PreemptedWorkload: those of one workload.
	PreemptedWorkload
)

// Limit permits a number of preemptions in a sliding window. A victim must be within each limit
// that it falls under. The zero value is invalid.
type Limit struct {
	// Name is unique among the limits.
	Name string `json:"name"`
	// Scope says what is counted together.
	Scope Scope `json:"scope"`
	// Configs are names of configurations of package rules, and Rules of rules in them: only
	// preemptions by one of these fall under the limit. If both are empty, all do, also those by
	// the policies of queues.
	Configs []string `json:"configs,omitempty"`
	Rules   []string `json:"rules,omitempty"`
	// PreemptingQueues and PreemptedQueues select by the labels of the preemptor's and of the
	// victim's queue which preemptions fall under the limit. Nil: all.
	PreemptingQueues *workload.LabelSelector `json:"preemptingClusterQueueSelector,omitempty"`
	PreemptedQueues  *workload.LabelSelector `json:"preemptedClusterQueueSelector,omitempty"`
	// Limit is the largest number of confirmed pairs of preemptor and victim in the window. Zero
	// forbids.
	Limit int64 `json:"limit"`
	// Window is the length of the window, at least a second. A preemption leaves it at exactly
	// that time after it was confirmed.
	Window quota.OptionalDuration `json:"window"`
}

// MinWindow is the shortest window.
const MinWindow = time.Second

// Validate returns everything that is wrong with limits, as preemption.Faults with paths that begin
// with path ("limits[0].window"): an empty name, or one that another has; an unknown scope; an
// empty name of a configuration or rule; what [workload.LabelSelector.Validate] finds; a negative
// limit; a window that is not set, or shorter than [MinWindow].
func Validate(path string, list []Limit) error {
	var faults fault.List
	firsts := make(map[string]int, len(list))
	for i := range list {
		l, at := &list[i], fmt.Sprintf("%s[%d]", path, i)
		if first, known := firsts[l.Name]; l.Name == "" {
			faults.Add(at+".name", "is empty")
		} else if known {
			faults.Add(at+".name", "%q is also the name of %s[%d]", l.Name, path, first)
		} else {
			firsts[l.Name] = i
		}
		if !scopeNames.Valid(l.Scope) {
			faults.Add(at+".scope", "%v is unknown", l.Scope)
		}
		for j, name := range l.Configs {
			if name == "" {
				faults.Add(fmt.Sprintf("%s.configs[%d]", at, j), "is empty")
			}
		}
		for j, name := range l.Rules {
			if name == "" {
				faults.Add(fmt.Sprintf("%s.rules[%d]", at, j), "is empty")
			}
		}
		faults = append(faults, selectorFaults(at+".preemptingClusterQueueSelector", l.PreemptingQueues)...)
		faults = append(faults, selectorFaults(at+".preemptedClusterQueueSelector", l.PreemptedQueues)...)
		if l.Limit < 0 {
			faults.Add(at+".limit", "%d is negative", l.Limit)
		}
		if d, set := l.Window.Get(); !set {
			faults.Add(at+".window", "is not set")
		} else if d < MinWindow {
			faults.Add(at+".window", "%v is shorter than %v", d, MinWindow)
		}
	}
	return faults.Err()
}

func selectorFaults(path string, s *workload.LabelSelector) fault.List {
	if s == nil {
		return nil
	}
	faults, _ := s.Validate(path).(fault.List)
	return faults
}

// Clone returns a copy that shares nothing with l.
func (l *Limit) Clone() Limit {
	c := *l
	c.Configs, c.Rules = slices.Clone(l.Configs), slices.Clone(l.Rules)
	c.PreemptingQueues, c.PreemptedQueues = l.PreemptingQueues.Clone(), l.PreemptedQueues.Clone()
	return c
}

// Covers reports whether a preemption falls under the limit. labels returns the labels of a
// queue; nil for one that is not known.
func (l *Limit) Covers(c *Class, labels func(queue string) map[string]string) bool {
	return l.ofRules(c) && selects(l.PreemptingQueues, labels, c.PreemptingQueue) && selects(l.PreemptedQueues, labels, c.PreemptedQueue)
}

// ofRules reports whether the configurations and rules of the limit name those of a preemption.
func (l *Limit) ofRules(c *Class) bool {
	if len(l.Configs) > 0 && !slices.Contains(l.Configs, c.Config) {
		return false
	}
	return len(l.Rules) == 0 || slices.ContainsFunc(c.Rules, func(name string) bool { return slices.Contains(l.Rules, name) })
}

func selects(s *workload.LabelSelector, labels func(queue string) map[string]string, queue string) bool {
	return s == nil || s.Matches(labels(queue))
}

// Longest returns the longest window; zero without limits. What is older than that counts no
// more.
func Longest(list []Limit) (longest time.Duration) {
	for i := range list {
		longest = max(longest, list[i].Window.Or(0))
	}
	return longest
}
