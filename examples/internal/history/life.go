package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/quota"
)

// life is what is known of one workload.
type life struct {
	uid, id, jobUID string
	object          *input.Object // its latest version
	starts          []start
	stops           []stop
	told            []told
	created         time.Time
	end             time.Time // when it finished or was deleted; zero: it did not
	vanished        bool      // it was deleted, and it is not known when
	latest          time.Time // the last instant that its versions tell of
	gates           json.RawMessage
	counts          []count
	spans           []span
	lacks           bool  // a version of it must be missing
	missed          int64 // preemptions that Kueue counted, and no version tells of
}

// start is an instant at which quota was reserved.
type start struct {
	at, admitted time.Time
	admission    json.RawMessage // nil: no version has it
	// reclaimed are pods that it gave back since then, as status.reclaimablePods says them; nil: none.
	reclaimed json.RawMessage
	vague     string // what changed while it ran, at an instant that is not known
}

// count is how often it had been preempted, as Kueue counts, when something happened to it last.
type count struct {
	at time.Time
	n  int64
}

// stop is an instant at which it held quota no more.
type stop struct {
	at   time.Time
	told time.Time // when it was told to leave before that; zero: it is not said that it had held any
}

// told is an instant at which it was told to leave.
type told struct {
	at      time.Time
	cause   string // Preempted: so that another fits
	by      string // the UID of the preemptor; empty: it is not said
	jobUID  string
	reason  string // by which right, as Kueue calls it
	message string
}

// status is what a version says of a workload.
type status struct {
	Conditions []struct {
		Type    string    `json:"type"`
		Status  string    `json:"status"`
		Reason  string    `json:"reason"`
		Message string    `json:"message"`
		Since   time.Time `json:"lastTransitionTime"`
	} `json:"conditions"`
	Admission json.RawMessage `json:"admission"`
	Reclaimed json.RawMessage `json:"reclaimablePods"`
	Gates     json.RawMessage `json:"preemptionGates"`
	Stats     struct {
		Evictions []struct {
			Reason string `json:"reason"`
			Count  int64  `json:"count"`
		} `json:"evictions"`
	} `json:"schedulingStats"`
}

// span is a time during which it held quota, for certain from From until To.
type span struct {
	start           // At: it held it for certain from then on
	from  time.Time // it may have held it since; zero: At is when it got it
	to    time.Time // the last instant at which it held it for certain; zero: it holds it still
	until time.Time // the instant after which it did not, for certain
}

// workload takes a version of a workload in. At is when it was written, if the input says it.
func (h *History) workload(o *input.Object, at time.Time) error {
	if o.Fault != nil {
		return o.Fault
	}
	uid := cmp.Or(o.Metadata.UID, o.ID())
	l := h.lives[uid]
	if l == nil {
		l = &life{uid: uid, id: o.ID()}
		h.lives[uid] = l
	}
	var s status
	if err := o.Read(nil, &s); err != nil {
		return err
	}
	l.jobUID = cmp.Or(o.Metadata.Labels["kueue.x-k8s.io/job-uid"], l.jobUID)
	var begin start
	var right string
	for _, c := range s.Conditions {
		l.latest = later(l.latest, c.Since)
		if is := c.Status == "True"; c.Since.IsZero() {
			return errors.New("status.conditions: " + c.Type + " has no lastTransitionTime")
		} else if c.Type == "QuotaReserved" && is {
			begin.at = c.Since
		} else if c.Type == "QuotaReserved" {
			l.stops = append(l.stops, stop{at: c.Since})
		} else if c.Type == "Admitted" && is {
			begin.admitted = c.Since
		} else if c.Type == "Finished" && is {
			l.end = c.Since
		} else if c.Type == "Preempted" && is {
			right = c.Reason
		}
	}
	for _, c := range s.Conditions {
		if c.Type == "Evicted" && c.Status == "True" {
			if n := len(l.stops); begin.at.IsZero() && n > 0 && !l.stops[n-1].at.Before(c.Since) {
				l.stops[n-1].told = c.Since
			}
			l.tell(told{at: c.Since, cause: c.Reason, reason: right, message: c.Message}, together)
		}
	}
	n := count{}
	for _, c := range s.Conditions {
		n.at = later(n.at, c.Since)
	}
	for _, e := range s.Stats.Evictions {
		if e.Reason == preempted {
			n.n += e.Count
		}
	}
	l.counts = append(l.counts, n)
	if !begin.at.IsZero() {
		begin.admission = s.Admission
		if pods(s.Reclaimed) > 0 {
			begin.reclaimed = s.Reclaimed
		}
		l.starts = append(l.starts, begin)
	}
	l.created = o.Metadata.CreationTimestamp
	l.latest = later(l.latest, l.created)
	switch gone := o.Metadata.DeletionTimestamp; {
	case !o.Deleted || !l.end.IsZero():
	case gone != nil:
		l.end = *gone
	case !at.IsZero():
		l.end = at
	default:
		l.vanished = true
	}
	if len(s.Gates) > 0 {
		l.gates = s.Gates
	}
	l.object = o
	return nil
}

// preemptorText finds the preemptor in what Kueue says of an eviction, in each of its versions.
var preemptorText = regexp.MustCompile(`workload \(UID: ([^,)]+)(?:, JobUID: ([^)]+))?\)`)

// tell takes in that it was told to leave. What is told again within a while is the same.
func (l *life) tell(t told, within time.Duration) {
	if m := preemptorText.FindStringSubmatch(t.message); m != nil && m[1] != "UNKNOWN" {
		t.by, t.jobUID = m[1], m[2]
	}
	if i := slices.IndexFunc(l.told, func(old told) bool {
		return old.cause == t.cause && old.at.Sub(t.at).Abs() <= within && (old.by == t.by || t.by == "" || old.by == "")
	}); i >= 0 {
		l.told[i].by, l.told[i].reason = cmp.Or(l.told[i].by, t.by), cmp.Or(l.told[i].reason, t.reason)
		return
	}
	l.told = append(l.told, t)
}

// finish makes spans of what all versions said.
func (l *life) finish() {
	slices.SortFunc(l.told, func(a, b told) int { return a.at.Compare(b.at) })
	slices.SortFunc(l.stops, func(a, b stop) int { return cmp.Or(a.at.Compare(b.at), b.told.Compare(a.told)) })
	l.stops = slices.CompactFunc(l.stops, func(a, b stop) bool { return a.at.Equal(b.at) })
	slices.SortStableFunc(l.starts, func(a, b start) int { return a.at.Compare(b.at) })
	var starts []start
	for _, s := range l.starts {
		if n := len(starts); n > 0 && starts[n-1].at.Equal(s.at) {
			starts[n-1].merge(s)
			continue
		}
		starts = append(starts, s)
	}
	used := map[time.Time]bool{}
	for i, s := range starts {
		sp := span{start: s}
		next, last := time.Time{}, i+1 == len(starts)
		if !last {
			next = starts[i+1].at
		} else if !l.end.IsZero() {
			next = l.end
		}
		stop := slices.IndexFunc(l.stops, func(of stop) bool { return of.at.After(s.at) && (next.IsZero() || !of.at.After(next)) })
		switch {
		case stop >= 0:
			sp.to, sp.until = l.stops[stop].at, l.stops[stop].at
			used[sp.to] = true
		case last && !l.end.IsZero():
			sp.to, sp.until = l.end, l.end
		case !last: // it started again: it stopped in between
			l.lacks = true
			sp.to, sp.until = s.at, next
			for _, t := range l.told {
				if t.at.After(s.at) && t.at.Before(next) {
					sp.to = t.at
				}
			}
		case l.vanished:
			sp.to, sp.until = later(l.latest, s.at), endOfTime
		}
		l.spans = append(l.spans, sp)
	}
	l.hidden(used)
	l.uncounted()
	slices.SortFunc(l.spans, func(a, b span) int { return a.at.Compare(b.at) })
}

// hidden adds the spans of which no version is left but the last: that it was told to leave, and held nothing then.
func (l *life) hidden(used map[time.Time]bool) {
	before := l.created
	for _, s := range l.stops {
		if !used[s.at] && !s.told.IsZero() {
			for _, sp := range l.spans {
				if sp.until.Before(s.told) {
					before = later(before, sp.until)
				}
			}
			l.lacks = true
			l.spans = append(l.spans, span{start: start{at: s.told}, from: before, to: s.at, until: s.at})
		}
		before = later(before, s.at)
	}
}

// uncounted adds the times in which Kueue counted a preemption that no version tells of: it held quota then, some of the time.
func (l *life) uncounted() {
	slices.SortFunc(l.counts, func(a, b count) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.n, b.n)) })
	for i, n := range l.counts {
		if i == 0 {
			continue
		}
		before := l.counts[i-1]
		more := n.n - before.n
		for _, t := range l.told {
			if t.cause == preempted && t.at.After(before.at) && !t.at.After(n.at) {
				more--
			}
		}
		if more > 0 {
			l.missed, l.lacks = l.missed+more, true
			l.spans = append(l.spans, span{start: start{at: n.at}, from: before.at, to: n.at, until: n.at})
		}
	}
}

// endOfTime is after every instant of a history.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// merge takes in what another version says of the same start.
func (s *start) merge(other start) {
	s.admitted = later(s.admitted, other.admitted)
	s.vague = cmp.Or(s.vague, other.vague)
	if pods(other.reclaimed) > pods(s.reclaimed) { // it never takes one back
		s.reclaimed = other.reclaimed
	}
	switch {
	case s.admission == nil:
		s.admission = other.admission
	case other.admission != nil && !bytes.Equal(s.admission, other.admission):
		s.admission, s.vague = other.admission, cmp.Or(s.vague, "held something else before")
	}
}

// pods is how many status.reclaimablePods counts.
func pods(reclaimed json.RawMessage) (n int64) {
	var sets []struct {
		Count int64 `json:"count"`
	}
	if json.Unmarshal(reclaimed, &sets) == nil {
		for _, s := range sets {
			n = quota.Add(n, s.Count)
		}
	}
	return n
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
