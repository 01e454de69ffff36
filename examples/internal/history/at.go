package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// together is how far apart victims may be told that were chosen at once: each is an object of its own, written by itself.
const together = 5 * time.Second

// Eviction is what the history tells of a preemption: at an instant workloads were told to leave so that another fits.
type Eviction struct {
	At        time.Time `json:"at"`
	Preemptor string    `json:"preemptor,omitempty"` // NAMESPACE/NAME; empty: see Unknown
	Victims   []Victim  `json:"victims"`             // by name
	// Unknown says why it cannot be judged; empty: it can.
	Unknown string `json:"unknown,omitempty"`
	// Started is when the preemptor got its quota; zero: never, as far as the history goes.
	Started time.Time `json:"started,omitzero"`
	// Node is where the preemptor was to go; empty: it is not said, or quota was what it needed.
	Node string `json:"node,omitempty"`
	// Apart: the clocks leave open whether the victims were chosen at once.
	Apart bool `json:"-"`

	by string // the UID of the preemptor
}

// Victim is a workload that was told to leave.
type Victim struct {
	Workload string `json:"workload"`
	// Reason is the right by which, as Kueue says it: InClusterQueue and the like; Priority on nodes. Empty: the history does not have it.
	Reason string `json:"reason,omitempty"`
	// Since is when it got the quota that it gave up; zero: it is not known.
	Since time.Time `json:"since,omitzero"`
	// Back is when it got quota again; zero: never, as far as the history goes.
	Back time.Time `json:"back,omitzero"`
}

// finish makes of all signs what the history says.
func (h *History) finish() {
	for _, s := range h.told {
		l := h.lives[s.uid]
		if l == nil {
			l = &life{uid: s.uid, id: s.id}
			h.lives[s.uid] = l
		}
		l.tell(told{at: s.at, cause: preempted, message: s.message}, max(together, h.Skew))
	}
	for _, l := range h.lives {
		l.finish()
		h.sorted = append(h.sorted, l)
	}
	slices.SortFunc(h.sorted, func(a, b *life) int { return cmp.Compare(a.uid, b.uid) })
	for _, l := range h.sorted {
		h.byID[l.id] = append(h.byID[l.id], l)
		for _, at := range l.instants() {
			if h.First.IsZero() || at.Before(h.First) {
				h.First = at
			}
			h.Last = later(h.Last, at)
		}
	}
	switch {
	case h.Lacks != "":
	case slices.ContainsFunc(h.sorted, func(l *life) bool { return l.lacks }):
		h.Lacks = "versions of workloads are missing"
	case !h.listed:
		h.Lacks = "an audit log does not have what stayed as it was: give what kubectl get workloads -A -o json prints, too"
	}
	for name := range h.config {
		h.named = append(h.named, name)
		slices.SortStableFunc(h.config[name], func(a, b setting) int { return a.from.Compare(b.from) })
	}
	slices.Sort(h.named)
}

// preempted is the cause of an eviction for another workload.
const preempted = "Preempted"

func (l *life) instants() (list []time.Time) {
	for _, s := range l.spans {
		list = append(list, s.at)
		if !s.to.IsZero() {
			list = append(list, s.to)
		}
	}
	for _, t := range l.told {
		list = append(list, t.at)
	}
	return list
}

// Evictions lists the preemptions by time, preemptor and victims. Victims that were told for one preemptor within five
// seconds were chosen at once.
func (h *History) Evictions() (list []Eviction) {
	byPreemptor := map[string][]Eviction{}
	var names []string
	for _, l := range h.sorted {
		for _, t := range l.told {
			if t.cause != preempted {
				continue
			}
			by := t.by
			if by == "" { // nothing says who was told with it
				by = fmt.Sprintf("? %s %s", l.uid, t.at)
			}
			if byPreemptor[by] == nil {
				names = append(names, by)
			}
			byPreemptor[by] = append(byPreemptor[by], Eviction{At: t.at, by: t.by, Victims: []Victim{l.victim(&t)}})
		}
	}
	slices.Sort(names)
	for _, name := range names {
		of := byPreemptor[name]
		slices.SortStableFunc(of, func(a, b Eviction) int { return a.At.Compare(b.At) })
		for i := range of {
			if n := len(list); i > 0 && of[i].At.Sub(of[i-1].At) <= max(together, h.Skew) {
				list[n-1].Apart = list[n-1].Apart || of[i].At.Sub(of[i-1].At) > together
				again := of[i].Victims[0].Workload
				if h.Skew > 0 && slices.ContainsFunc(list[n-1].Victims, func(v Victim) bool { return v.Workload == again }) {
					continue // told by two clocks
				}
				list[n-1].Victims = append(list[n-1].Victims, of[i].Victims...)
				continue
			}
			list = append(list, of[i])
		}
	}
	for i := range list {
		h.name(&list[i])
	}
	slices.SortStableFunc(list, func(a, b Eviction) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Preemptor, b.Preemptor), cmp.Compare(a.Victims[0].Workload, b.Victims[0].Workload))
	})
	return list
}

// victim is a workload that was told to leave.
func (l *life) victim(t *told) Victim {
	v := Victim{Workload: l.id, Reason: t.reason}
	for _, s := range l.spans {
		if s.at.Before(t.at) {
			v.Since = s.at
		} else if v.Back.IsZero() {
			v.Back = s.at
		}
	}
	return v
}

// name finds the preemptor of an eviction.
func (h *History) name(e *Eviction) {
	slices.SortFunc(e.Victims, func(a, b Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	if e.by == "" {
		e.Unknown = "the history does not say for whom"
		return
	}
	l := h.lives[e.by]
	if l == nil || l.object == nil {
		e.Unknown = "the preemptor, a Workload with UID " + e.by + ", is not in the history"
		return
	}
	e.Preemptor = l.id
	for _, s := range l.spans {
		if s.at.After(e.At) || s.at.After(e.At.Add(-h.Skew)) && (s.to.IsZero() || s.to.After(e.At)) {
			e.Started = s.at
			break
		}
	}
}

// where is what a workload does at an instant.
type where int

const (
	away    where = iota // it is not there, or finished, or waits
	perhaps              // it holds quota, or it does not
	holds
)

// at says what a workload does just before an instant, and during which spans, if it holds quota: the second in which something
// happens is no order, and neither is a time within the skew.
func (l *life) at(t time.Time, skew time.Duration) (does where, during []*span) {
	first, last := t.Add(-skew), t.Add(skew)
	for i := range l.spans {
		s := &l.spans[i]
		switch {
		case s.at.After(last) && (s.from.IsZero() || s.from.After(last)):
		case !s.until.IsZero() && s.until.Before(first):
		case s.at.After(last), sameSecond(s.at, t), !s.at.Before(first), !s.to.IsZero() && !s.to.After(last):
			does, during = perhaps, append(during, s)
		default:
			return holds, []*span{s}
		}
	}
	return does, during
}

func sameSecond(a, b time.Time) bool { return a.Truncate(time.Second).Equal(b.Truncate(time.Second)) }

// condition is a condition of a workload, as it was written.
type condition struct {
	Type   string    `json:"type"`
	Status string    `json:"status"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"lastTransitionTime"`
}

// Doubtful is a workload that held quota at an instant, or did not.
type Doubtful struct {
	Workload string
	Queue    string // its ClusterQueue
	Text     []byte // the event of a watch that says that it holds it
}

// Moment is the cluster just before an eviction, as changes to the moment that was asked for before.
type Moment struct {
	Changes  []byte // events of a watch
	Doubtful []Doubtful
	// Reclaimed are those that may have given pods back by then, as they would be without these.
	Reclaimed []Doubtful
	Unknown   string // why nothing can be said of it; empty: something can
	// Unsure are objects of the configuration that may have been otherwise: KIND NAME.
	Unsure []string
	// Flavors are those that the preemptor got later, by pod set and resource. Nil: the history does not have them.
	Flavors map[string]map[string]string
}

// Player goes through a history.
type Player struct {
	h        *History
	settings map[string]*setting // what is shown, by name
	shown    map[*life]view
}

// view is how a workload is shown: during a span, or as one that waits; told to leave or not. Zero: it is not.
type view struct {
	during          *span
	waits, admitted bool
	told            int // how many of the times at which it was told to leave were before
}

// Play returns a player at the begin.
func (h *History) Play() *Player { return &Player{h, map[string]*setting{}, map[*life]view{}} }

// At returns the moment of an eviction. Evictions come in the order of time.
func (p *Player) At(e *Eviction) (m Moment) {
	var b strings.Builder
	for _, name := range p.h.named {
		p.configure(name, e.At, &b, &m)
	}
	for _, l := range p.h.sorted {
		p.show(l, e, &b, &m)
	}
	m.Changes = []byte(b.String())
	for _, v := range e.Victims {
		if v.Since.IsZero() && m.Unknown == "" {
			m.Unknown = "what " + v.Workload + " held is not in the history"
		}
	}
	return m
}

// configure shows an object of the configuration as it was.
func (p *Player) configure(name string, t time.Time, b *strings.Builder, m *Moment) {
	list := p.h.config[name]
	var is *setting
	unsure := false
	for i := range list {
		unsure = unsure || len(list) > 1 && list[i].from.IsZero()
		if i > 0 && p.h.Skew > 0 && list[i].from.Sub(t).Abs() <= p.h.Skew {
			unsure = true
		}
		if !list[i].from.After(t) {
			is = &list[i]
		}
	}
	if is == nil && !list[0].made { // it was otherwise, or not there
		is, unsure = &list[0], true
	}
	if unsure {
		m.Unsure = append(m.Unsure, name)
	}
	if was := p.settings[name]; is != was {
		p.settings[name] = is
		if is != nil {
			b.Write(is.text)
		}
	}
}

// show shows a workload as it was: if it held quota, or is the preemptor.
func (p *Player) show(l *life, e *Eviction, b *strings.Builder, m *Moment) {
	if l.object == nil {
		return
	}
	does, spans := l.at(e.At, p.h.Skew)
	victim := slices.IndexFunc(e.Victims, func(v Victim) bool { return v.Workload == l.id && !v.Since.IsZero() })
	if victim >= 0 {
		if i := slices.IndexFunc(spans, func(s *span) bool { return s.at.Equal(e.Victims[victim].Since) }); i >= 0 {
			spans = spans[i : i+1]
		}
	}
	var as view
	switch {
	case l.uid == e.by && does == holds:
		m.Unknown = cmp.Or(m.Unknown, "the preemptor held quota already, as its conditions say")
	case l.uid == e.by:
		as.waits, m.Flavors = true, flavorsOf(l, e.Started)
	case does == away:
	case slices.ContainsFunc(spans, func(s *span) bool { return s.admission == nil }):
		m.Unknown = cmp.Or(m.Unknown, "what "+l.id+" held is not in the history")
	case slices.ContainsFunc(spans, func(s *span) bool { return s.vague != "" }):
		m.Unknown = cmp.Or(m.Unknown, l.id+" "+spans[0].vague+", and the history does not say when")
	case does == perhaps && victim < 0:
	default:
		as.during = spans[0]
		if s := spans[0]; s.reclaimed != nil {
			m.Reclaimed = append(m.Reclaimed, Doubtful{l.id, queueOf(s.admission), document(l.object, "MODIFIED", l.status(l.as(as, e.At), s.reclaimed))})
		}
	}
	as = l.as(as, e.At)
	if victim < 0 && l.uid != e.by && does != away {
		p.doubt(l, spans, as, e.At, m)
	}
	if p.shown[l] == as {
		return
	}
	p.shown[l] = as
	if as == (view{}) {
		b.Write(document(l.object, "DELETED", nil))
		return
	}
	b.Write(document(l.object, "MODIFIED", l.status(as, nil)))
}

// doubt adds each other way in which a workload may have held quota: during another span, or told to leave by another clock.
func (p *Player) doubt(l *life, spans []*span, shown view, t time.Time, m *Moment) {
	for _, s := range spans {
		if s.admission == nil {
			continue
		}
		seen := []view{shown}
		for _, at := range []time.Time{t, t.Add(-p.h.Skew), t.Add(p.h.Skew + time.Second)} {
			v := l.as(view{during: s}, at)
			if v.admitted = l.as(view{during: s}, t).admitted; !slices.Contains(seen, v) {
				seen = append(seen, v)
				m.Doubtful = append(m.Doubtful, Doubtful{l.id, queueOf(s.admission), document(l.object, "MODIFIED", l.status(v, nil))})
			}
			if p.h.Skew == 0 {
				break
			}
		}
	}
}

// as completes a view at an instant.
func (l *life) as(v view, t time.Time) view {
	if v.during == nil && !v.waits {
		return v
	}
	v.admitted = v.during != nil && !v.during.admitted.IsZero() && !v.during.admitted.After(t)
	for v.told < len(l.told) && l.told[v.told].at.Before(t) && !sameSecond(l.told[v.told].at, t) {
		v.told++
	}
	return v
}

// status is the status of a workload in a view, with the pods that it has given back.
func (l *life) status(v view, reclaimed json.RawMessage) json.RawMessage {
	var list []condition
	var admission json.RawMessage
	var since time.Time
	if v.during != nil {
		since, admission = v.during.at, v.during.admission
		list = append(list, condition{"QuotaReserved", "True", "QuotaReserved", since})
	}
	if v.admitted {
		list = append(list, condition{"Admitted", "True", "Admitted", v.during.admitted})
	}
	if v.told > 0 && !l.told[v.told-1].at.Before(since) {
		last := l.told[v.told-1]
		list = append(list, condition{"Evicted", "True", last.cause, last.at})
	}
	text, _ := json.Marshal(struct { // of no part can it fail
		Conditions []condition     `json:"conditions"`
		Admission  json.RawMessage `json:"admission,omitempty"`
		Gates      json.RawMessage `json:"preemptionGates,omitempty"`
		Reclaimed  json.RawMessage `json:"reclaimablePods,omitempty"`
	}{list, admission, l.gates, reclaimed})
	return text
}

// admission is what a workload holds.
type admission struct {
	ClusterQueue      string `json:"clusterQueue"`
	PodSetAssignments []struct {
		Name    string            `json:"name"`
		Flavors map[string]string `json:"flavors"`
	} `json:"podSetAssignments"`
}

func queueOf(text json.RawMessage) string {
	var a admission
	_ = json.Unmarshal(text, &a) // what is no admission has no queue
	return a.ClusterQueue
}

// flavorsOf are the flavors that a workload got at an instant, by pod set and resource. Nil: it got none.
func flavorsOf(l *life, at time.Time) map[string]map[string]string {
	for _, s := range l.spans {
		if at.IsZero() || !s.at.Equal(at) {
			continue
		}
		var a admission
		if json.Unmarshal(s.admission, &a) != nil {
			return nil
		}
		of := map[string]map[string]string{}
		for _, set := range a.PodSetAssignments {
			of[set.Name] = set.Flavors
		}
		return of
	}
	return nil
}

// Gaps says what the history lacks: preemptions that Kueue counted and that are not in it.
func (h *History) Gaps() (notes []string) {
	var missed int64
	for _, l := range h.sorted {
		missed += l.missed
	}
	if missed > 0 {
		notes = append(notes, fmt.Sprintf("Kueue counted %d more preemptions of these workloads, of which the history has no version", missed))
	}
	return notes
}
