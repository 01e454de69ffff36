package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Answer says a decision about a request as the end of a sentence that begins with the workload, without
// full stop: "fits now", or "fits once ns/a, ns/b yield".
func Answer(d *preemption.Decision, r *preemption.Request) string {
	at := d.RetryAt.UTC().Format(time.RFC3339Nano) + ", in " + d.RetryAt.Sub(r.Now).Round(time.Second).String()
	return answer(d, Partial(d, &r.Workload), at)
}

// Partial says with how many replicas a workload starts, as in " with 2 of 8 replicas of main". Empty: with all.
func Partial(d *preemption.Decision, w *workload.Workload) string {
	var parts []string
	for _, c := range d.Counts {
		for _, p := range w.PodSets {
			if p.Name == c.PodSet && p.Count > c.Count {
				parts = append(parts, fmt.Sprintf("%d of %d replicas of %s", c.Count, p.Count, c.PodSet))
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " with " + strings.Join(parts, ", ")
}

// answer is the end of the sentence; with says what Partial does, at when time alone helps.
func answer(d *preemption.Decision, with, at string) string {
	switch d.Outcome {
	case preemption.Fits:
		return "fits now" + with
	case preemption.Preempt:
		return "fits" + with + " once " + victims(d)
	case preemption.Gated:
		return "would fit" + with + " once " + victims(d) + ", but a closed gate holds it back"
	case preemption.Wait:
		switch {
		case d.Leaving && len(d.Victims) == 0:
			return "waits: it fits" + with + " once what terminates on the nodes is gone"
		case d.Leaving:
			return "waits: it fits" + with + " once " + victims(d)
		case d.RetryAt.IsZero():
			return "waits: time may help"
		}
		return "waits: time alone helps at " + at
	}
	if d.NoRoom {
		return "does not fit " + untilChanged + ": there is quota, but no room on nodes"
	}
	return "does not fit " + untilChanged
}

func victims(d *preemption.Decision) string {
	var list tally
	for _, v := range d.Victims {
		list.add(v.Workload + leaving(v.Leaving))
	}
	return list.yield()
}

// Tried says what became of a flavor that was tried: a sentence without full stop.
func Tried(t *preemption.TriedFlavor) string {
	if t.Mismatch != nil {
		return mismatch(t.Mismatch)
	}
	return map[preemption.SkipReason]string{ // why the search for a flavor went on
		0:                          "taken",
		preemption.NoQuota:         "the queue has no quota there",
		preemption.ExceedsMaxQuota: "more than the queue could ever use",
		preemption.NotReclaimable:  "the queue would borrow, and may not preempt for that",
		preemption.NeverPreempts:   "others would have to yield, and the workload never preempts",
		preemption.NoCandidates:    "no workload may yield for it now",
		preemption.WouldPreempt:    "others would have to yield (whenCanPreempt)",
		preemption.WouldBorrow:     "the queue would borrow (whenCanBorrow)",
		preemption.NotEligible:     "its nodes are not for these pods",
	}[t.Skipped]
}

// mismatch says why pods may not run on a flavor.
func mismatch(m *preemption.Mismatch) string {
	if t := m.Taint; t != nil {
		taint := t.Key
		if t.Value != "" {
			taint += "=" + t.Value
		}
		return fmt.Sprintf("its taint %s:%v is not tolerated", taint, t.Effect)
	}
	switch m.Topology {
	case preemption.NoTopology:
		return "the pods ask for a topology, and the flavor does not support topology-aware scheduling"
	case preemption.NoTopologyLevel:
		return fmt.Sprintf("its topology does not have the level %s that the pods ask for", m.Level)
	case preemption.OnlyTopology:
		return "it supports only topology-aware scheduling, and the pods ask for no topology"
	}
	r := m.Requirement
	want := fmt.Sprintf("%s %v", r.Key, r.Operator)
	if len(r.Values) > 0 {
		want += " " + strings.Join(r.Values, ", ")
	}
	if r.Operator == workload.In && len(r.Values) == 1 {
		want = r.Key + "=" + r.Values[0]
	}
	if m.Label == "" {
		return fmt.Sprintf("the pods want nodes with %s", want)
	}
	return fmt.Sprintf("the pods want nodes with %s; its nodes have %s=%s", want, r.Key, m.Label)
}
