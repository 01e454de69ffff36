package history

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/input"
)

// ahead is how long before its first victim is told a scheduler may have decided, and binding how long the binding of a pod may take that
// needs volumes or claims, or waits for others: meanwhile its room is taken.
const (
	ahead   = 2 * time.Second
	binding = 10 * time.Minute
)

// Evictions lists the preemptions by time, preemptor and victims. Victims that were told for one preemptor on one node were chosen at
// once if no more than five seconds are between two of them. Where more are, those told first are not enough by themselves, and
// those told later are right beside them: nobody is accused of what was one preemption.
func (h *Pods) Evictions() (list []Eviction) {
	of := map[string][]*podLife{}
	for _, l := range h.sorted {
		if !l.preempted.IsZero() {
			by := cmp.Or(l.by.by, l.by.byID)
			if p, _ := h.preemptor(l); p != nil {
				by = p.uid
			} else if by == "" { // nothing says who was told with it
				by = "? " + l.uid
			}
			of[by+" "+l.by.on] = append(of[by+" "+l.by.on], l)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		told := of[name]
		slices.SortStableFunc(told, func(a, b *podLife) int { return a.preempted.Compare(b.preempted) })
		for i, l := range told {
			v := Victim{Workload: l.id, Reason: "Priority", Since: l.bound, Back: h.back(l)}
			if i > 0 && l.preempted.Sub(told[i-1].preempted) <= h.together {
				list[len(list)-1].Victims = append(list[len(list)-1].Victims, v)
				continue
			}
			e := Eviction{At: l.preempted, Node: l.by.on, Victims: []Victim{v}}
			p, why := h.preemptor(l)
			if e.Unknown = why; p != nil {
				e.by, e.Preemptor = p.uid, p.id
				if p.bound.After(e.At) {
					e.Started = p.bound
				}
			}
			list = append(list, e)
		}
	}
	for i := range list {
		slices.SortFunc(list[i].Victims, func(a, b Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	}
	slices.SortStableFunc(list, func(a, b Eviction) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Preemptor, b.Preemptor), cmp.Compare(a.Victims[0].Workload, b.Victims[0].Workload))
	})
	return list
}

// preemptor finds for whom a pod was told, or says why it cannot.
func (h *Pods) preemptor(l *podLife) (*podLife, string) {
	switch {
	case l.by.by+l.by.byID == "":
		return nil, "the history does not say for whom: it has no Event of that"
	case l.by.by != "":
		if p := h.lives[l.by.by]; p != nil {
			return p, ""
		}
		return nil, "the preemptor, a Pod with UID " + l.by.by + ", is not in the history"
	}
	var found *podLife
	for _, p := range h.byID[l.by.byID] {
		if skew := h.ahead - ahead; !p.created.After(l.preempted.Add(skew)) && (p.bound.IsZero() || !p.bound.Before(l.preempted.Add(-skew))) {
			if found != nil {
				return nil, "there are two Pods " + p.id + ", and the history does not say for which"
			}
			found = p
		}
	}
	if found == nil {
		return nil, "the preemptor, Pod " + l.by.byID + ", is not in the history"
	}
	return found, ""
}

// Unnamed says that others were told at the time of an eviction, perhaps for the same preemptor; empty: nobody was.
func (h *Pods) Unnamed(e *Eviction) string {
	for _, l := range h.sorted {
		if l.node == e.Node && !l.preempted.IsZero() && l.by.by+l.by.byID == "" && l.preempted.Sub(e.At).Abs() <= h.together {
			return l.id + " was told at the same time, and the history does not say for whom"
		}
	}
	return ""
}

// back is when a pod of that name ran again; zero: never.
func (h *Pods) back(l *podLife) time.Time {
	for _, next := range h.byID[l.id] {
		if next.bound.After(l.preempted) {
			return next.bound
		}
	}
	return time.Time{}
}

// PodMoment is the cluster just before an eviction, as changes to the moment that was asked for before.
type PodMoment struct {
	Changes []*input.Object
	// Doubtful are pods that run in it, and may have begun later or ended before; Promised those that are nominated in it, and may not
	// have been.
	Doubtful, Promised []string
	// Unsure are nodes that may have been otherwise, or not there, Shown their versions that are in it, and Others the others: the history
	// does not say which was when.
	Unsure        []string
	Shown, Others []*input.Object
	// Budgets: all budgets were as they are shown.
	Budgets bool
	Unknown string // why nothing can be said of it; empty: something can
}

// PodPlayer goes through a history.
type PodPlayer struct {
	h     *Pods
	shown map[string]podView // by ID
	nodes map[string]*input.Object
}

// podView is how a pod is shown. Zero: it is not.
type podView struct {
	life        *podLife
	node        string
	waits       bool // nominated to the node; without one: it is asked about
	terminating bool
}

// Play returns a player at the begin.
func (h *Pods) Play() *PodPlayer { return &PodPlayer{h: h, nodes: map[string]*input.Object{}} }

// At returns the moment of an eviction. Evictions come in the order of time.
func (p *PodPlayer) At(e *Eviction) (m PodMoment) {
	if p.shown == nil {
		p.shown = map[string]podView{}
		p.begin(&m)
	}
	m.Budgets = true
	for key, list := range p.h.rest {
		m.Budgets = m.Budgets && (len(list) == 1 || !strings.HasPrefix(key, "PodDisruptionBudget "))
	}
	p.showNodes(e.At, &m)
	now, doubts := map[string]podView{}, map[string]bool{}
	for _, l := range p.h.sorted {
		view, doubtful := p.h.view(l, e, &m)
		if view.life == nil {
			continue
		}
		if other := now[l.id].life; other != nil { // of that name
			switch {
			case p.h.takesPart(other, e):
				continue
			case p.h.takesPart(l, e):
			case p.h.ahead > ahead:
				m.Unknown = cmp.Or(m.Unknown, "there are two Pods "+l.id+", and it is not known which of them ran then")
			case other.created.After(l.created):
				continue
			}
		}
		now[l.id], doubts[l.id] = view, doubtful
	}
	for _, id := range slices.Sorted(maps.Keys(doubts)) {
		switch {
		case doubts[id] && now[id].waits:
			m.Promised = append(m.Promised, id)
		case doubts[id]:
			m.Doubtful = append(m.Doubtful, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.shown)) {
		if _, stays := now[id]; !stays {
			gone := *p.shown[id].life.object
			gone.Deleted = true
			m.Changes = append(m.Changes, &gone)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if p.shown[id] != now[id] {
			m.Changes = append(m.Changes, now[id].object())
		}
	}
	p.shown = now
	return m
}

// showNodes shows the nodes that may have been there.
func (p *PodPlayer) showNodes(t time.Time, m *PodMoment) {
	for _, name := range slices.Sorted(maps.Keys(p.h.nodes)) {
		var there []*input.Object
		unsure := false
		for _, v := range p.h.nodes[name] {
			if made := v.object.Metadata.CreationTimestamp; !made.After(t.Add(p.h.together)) {
				there = append(there, v.object)
				unsure = unsure || !made.Before(t.Add(-p.h.ahead))
			}
		}
		if len(there) == 0 {
			continue
		}
		if unsure || len(there) > 1 {
			m.Unsure, m.Shown, m.Others = append(m.Unsure, name), append(m.Shown, there[0]), append(m.Others, there[1:]...)
		}
		if p.nodes[name] != there[0] {
			p.nodes[name] = there[0]
			m.Changes = append(m.Changes, there[0])
		}
	}
}

// begin shows what is neither pod nor node.
func (p *PodPlayer) begin(m *PodMoment) {
	for _, key := range slices.Sorted(maps.Keys(p.h.rest)) {
		list := p.h.rest[key]
		latest := slices.MaxFunc(list, func(a, b restVersion) int {
			return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(string(a.what), string(b.what)))
		})
		if !latest.object.Deleted {
			m.Changes = append(m.Changes, latest.object)
		}
	}
}

// view says how a pod is shown before an eviction, and whether it may not have been so.
func (h *Pods) view(l *podLife, e *Eviction, m *PodMoment) (v podView, doubtful bool) {
	first, last := e.At.Add(-h.ahead), e.At.Add(h.together)
	isVictim := l.uid != e.by && h.takesPart(l, e)
	begins, certain := l.bound, l.bound
	if begins.IsZero() { // of a static pod, or where no version says it
		begins, certain = l.created, later(l.created, l.started)
	}
	from := begins
	if l.slow {
		from = begins.Add(-binding)
	}
	switch {
	case l.uid == e.by && l.resized:
		m.Unknown = cmp.Or(m.Unknown, "what the preemptor takes was changed, and the history does not say when")
		return v, false
	case l.uid == e.by && (l.node == "" || begins.After(first)):
		return podView{life: l, waits: true}, false
	case l.uid == e.by:
		m.Unknown = cmp.Or(m.Unknown, "the preemptor ran already, as its conditions say")
		return v, false
	case isVictim && l.node == "":
		m.Unknown = cmp.Or(m.Unknown, "where "+l.id+" ran is not in the history")
		return v, false
	case l.created.After(last), l.over(first):
		return v, false
	case l.node != "" && !from.After(last):
		if l.resized {
			m.Unknown = cmp.Or(m.Unknown, "what "+l.id+" takes was changed, and the history does not say when")
		}
		v = podView{life: l, node: l.node, terminating: !isVictim && !l.leaves.IsZero() && !l.leaves.After(last)}
		return v, !isVictim && (!certain.Before(first) || l.perhapsOver(e.At.Add(time.Second+h.ahead-ahead)))
	}
	for _, p := range l.promised {
		if !p.from.After(last) && (v.node == "" || p.node == e.Node) {
			v = podView{life: l, node: p.node, waits: true}
		}
	}
	return v, true
}

// takesPart reports whether a pod is a victim of an eviction, or the preemptor.
func (h *Pods) takesPart(l *podLife, e *Eviction) bool {
	isVictim := slices.ContainsFunc(e.Victims, func(v Victim) bool { return v.Workload == l.id })
	return l.uid == e.by || isVictim && l.preempted.Sub(e.At).Abs() <= time.Minute+h.ahead-ahead
}

// over reports whether a pod held no room any more at an instant, for certain.
func (l *podLife) over(at time.Time) bool {
	return !l.after.IsZero() && l.after.Before(at) || !l.gone.IsZero() && l.gone.Before(at)
}

// perhapsOver reports whether it may have held none.
func (l *podLife) perhapsOver(at time.Time) bool {
	switch {
	case !l.after.IsZero():
		return !l.done.After(at)
	case l.deleted && (l.gone.IsZero() || l.before):
		return !l.leaves.After(at)
	}
	return l.deleted && !l.gone.After(at)
}

// object is a pod as it is shown.
func (v podView) object() *input.Object {
	o := *v.life.object
	o.Deleted = false
	var spec, status, head map[string]json.RawMessage
	_ = json.Unmarshal(o.Spec, &spec) // each was read before
	_ = json.Unmarshal(o.Status, &status)
	_ = json.Unmarshal(o.Head, &head)
	if spec == nil {
		spec = map[string]json.RawMessage{}
	}
	if status == nil {
		status = map[string]json.RawMessage{}
	}
	for _, field := range []string{"phase", "nominatedNodeName", "conditions"} {
		delete(status, field)
	}
	delete(spec, "nodeName")
	o.Metadata.DeletionTimestamp = nil
	delete(head, "deletionTimestamp")
	delete(head, "deletionGracePeriodSeconds")
	switch {
	case v.waits && v.node != "":
		status["nominatedNodeName"] = quoted(v.node)
	case !v.waits:
		spec["nodeName"], status["phase"] = quoted(v.node), quoted("Running")
	}
	if _, says := status["startTime"]; !says && !v.waits && !v.life.bound.IsZero() {
		status["startTime"] = quoted(v.life.bound.UTC().Format(time.RFC3339))
	}
	if v.terminating {
		leaves := v.life.leaves
		o.Metadata.DeletionTimestamp = &leaves
		head["deletionTimestamp"] = quoted(leaves.UTC().Format(time.RFC3339))
		if !v.life.preempted.IsZero() {
			status["conditions"], _ = json.Marshal([]condition{{"DisruptionTarget", "True", "PreemptionByScheduler", v.life.preempted}})
		}
	}
	o.Spec, _ = json.Marshal(spec) // of no part can it fail
	o.Status, _ = json.Marshal(status)
	o.Head, _ = json.Marshal(head)
	return &o
}
