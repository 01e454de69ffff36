package explain

import (
	"strings"

	"github.com/cedesched/cede/preemption"
)

// MaxMessage is the most bytes of a message. A condition of Kubernetes may have 32 KiB, an
// event 1 KiB; a list of conditions stays readable with less.
const MaxMessage = 512

// Message returns one sentence for a condition or an event, of at most [MaxMessage] bytes: what
// is short, which victims it takes, and when to ask again.
func Message(e Explanation) string { return Printer{}.Message(e) }

// Message is [Message] with other amounts.
func (pr Printer) Message(e Explanation) string {
	d, q := &e.Decision, &e.Question
	var text string
	switch outcome := d.Outcome; {
	case d.Leaving:
		text = "Fits in queue " + q.Queue + " once " + awaited(d)
	case outcome == preemption.Fits:
		text = "Fits in queue " + q.Queue
	case outcome == preemption.Preempt || outcome == preemption.Gated:
		text = "Fits in queue " + q.Queue + " once " + victims(d)
		if d.Outcome == preemption.Gated {
			text += "; a closed gate holds it back"
		}
	default:
		text = "Does not fit in queue " + q.Queue
		if missing := pr.short(q.Needs); missing != "" {
			text += ": " + missing + " more needed"
		} else if d.NoRoom {
			text += ": no room on nodes"
		}
		if k, policy := most(&e); k != nil {
			text += "; " + count(k.Count, "workload") + " " + rule(k, policy, q.Now)
		}
		if !d.RetryAt.IsZero() {
			text += "; retry at " + d.RetryAt.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
		}
	}
	return cut(text)
}

// cut shortens a text at a character.
func cut(text string) string {
	const dots = "..."
	if len(text) <= MaxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:MaxMessage-len(dots)], "") + dots
}

// most returns the rule that keeps most workloads that use what is short; nil if there is
// none; and the policy of its level.
func most(e *Explanation) (k *Kept[preemption.Rule], policy string) {
	for i := range e.Levels {
		for j := range e.Levels[i].Kept {
			if kept := &e.Levels[i].Kept[j]; kept.Rule != 0 && (k == nil || kept.Count > k.Count) {
				k, policy = kept, e.Levels[i].Policy
			}
		}
	}
	return k, policy
}
