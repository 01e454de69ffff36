package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/history"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// podsPast is a history of kube-scheduler.
type podsPast struct {
	*auditor
	history *history.Pods
	player  *history.PodPlayer
	reader  read.Kubernetes
	notes   []string // on what was left out
}

func (a *podsPast) Span() (first, last time.Time) { return a.history.First, a.history.Last }

func (a *podsPast) Evictions() []history.Eviction { return a.history.Evictions() }

func (a *podsPast) Notes() []string { return a.notes }

// podWorld is a cluster in which a preemption may have happened, as the objects say it.
type podWorld struct {
	snapshot *placement.Snapshot
	config   placement.Config
	request  placement.Request
	doubts   []bridge.Doubt
}

// podWorlds collects what is to be said in each of the clusters that the history leaves possible. What they differ in is unknown.
type podWorlds struct {
	found  *audit.PodFinding
	differ string // the verdicts that differ
	full   bool   // in one of them pods took more than the node has
}

// maxOthers is how many other versions of nodes are looked at.
const maxOthers = 16

// Judge judges a preemption.
func (a *podsPast) Judge(j *judged) error {
	m := a.player.At(&j.Eviction)
	for _, o := range m.Changes {
		_ = a.reader.Add(o) // the reader keeps what it cannot read
	}
	if j.Queue = answers.Namespace(j.Preemptor); j.Unknown != "" {
		return nil
	}
	switch j.Unknown = m.Unknown; {
	case j.Unknown != "":
		return nil
	case j.Node == "":
		j.Unknown = "the history does not say for which node"
		return nil
	case len(m.Others) > maxOthers:
		j.Unknown = fmt.Sprintf("%d nodes were otherwise at times that the history does not say", len(m.Unsure))
		return nil
	}
	if why := a.history.Unnamed(&j.Eviction); why != "" {
		j.Unknown = why
		return nil
	}
	all, err := a.judge(j, &m)
	if err != nil || j.Unknown != "" {
		return err
	}
	switch {
	case all.differ != "":
		j.Unknown = all.differ + ": it is not known what ran then"
	case all.full && (all.found == nil || !certainOnNodes(all.found)):
		j.Unknown = "pods take more than " + j.Node + " has: the history lacks an end of something"
	case all.found == nil:
		j.Unknown = "even without the victims it does not fit: something was there, or decided, that the history does not have"
	case a.history.Lacks != "" && !certainOnNodes(all.found):
		j.Unknown = fmt.Sprintf("%s, as far as the history goes: %s", wordsOf[all.found.Verdict], a.history.Lacks)
	default:
		j.PodFinding = all.found
		j.found = a.foundOnNodes(j)
	}
	return nil
}

// judge judges a preemption in each cluster: with each version of its node, with all that is in doubt elsewhere and full nodes, and
// without it and with each version of the other nodes. What fits in the first, or could stay there, does so in all.
func (a *podsPast) judge(j *judged, m *history.PodMoment) (all podWorlds, err error) {
	here, others := []*objects.Object{nil}, []*objects.Object{nil}
	for _, o := range m.Others {
		if o.Metadata.Name == j.Node {
			here = append(here, o)
		} else {
			others = append(others, o)
		}
	}
	defer func() {
		for _, o := range m.Shown {
			_ = a.reader.Add(o)
		}
	}()
	var w *podWorld
	for _, there := range here {
		for i, o := range slices.Concat(others[:1], others) { // the first with full nodes
			for _, shown := range m.Shown {
				_ = a.reader.Add(shown)
			}
			for _, version := range []*objects.Object{there, o} {
				if version != nil {
					_ = a.reader.Add(version)
				}
			}
			if i != 1 { // which is that of the first
				why := ""
				if w, why, err = a.world(j, m); err != nil || why != "" {
					j.Unknown = why
					return all, err
				}
			}
			if err := a.inWorld(j, m, w, i == 0, &all); err != nil || j.Unknown != "" {
				return all, err
			}
		}
	}
	return all, nil
}

// world is the cluster that the reader holds, or why it says nothing.
func (a *podsPast) world(j *judged, m *history.PodMoment) (w *podWorld, why string, err error) {
	c := a.reader.Cluster()
	i := slices.IndexFunc(c.Pending, func(p kubernetes.Pending) bool {
		return slices.ContainsFunc(p.Request.Pods, func(p workload.Pod) bool { return p.ID == j.Preemptor })
	})
	if i < 0 {
		return nil, "the preemptor cannot be read", nil
	}
	p := &c.Pending[i]
	switch {
	case p.Request.Group != "":
		return nil, "the preemptor is of " + p.Request.Group + ": for which of its pods room was made is not known", nil
	case p.Unresolved != nil:
		return nil, p.Unresolved.Error(), nil
	case p.Held() != "":
		return nil, p.Held(), nil
	}
	w = &podWorld{config: placement.Config{Mode: placement.ModeInPlace}, request: p.Request}
	filter, notes := a.reader.Filter()
	if filter != nil {
		w.config.Filters = []placement.Filter{filter}
	}
	if !m.Budgets {
		c.State.Budgets = nil
	}
	if w.snapshot, err = c.Snapshot(); err != nil {
		return nil, "", err
	}
	for _, d := range c.Doubts {
		if d.Workload == "" || d.Workload == p.ID {
			w.doubts = append(w.doubts, d)
		}
	}
	for _, n := range notes {
		w.doubts = append(w.doubts, bridge.Doubt{Note: n, OnlyYes: true})
	}
	w.request.Now = j.At
	return w, "", nil
}

// inWorld judges a preemption with each set of the pods on its node that are in doubt. Elsewhere all of them are there, and nodes that may
// have been otherwise have no room; or none is.
func (a *podsPast) inWorld(j *judged, m *history.PodMoment, w *podWorld, full bool, all *podWorlds) error {
	var sure []placement.Edit
	var here []placement.Edit // each takes one pod away that is in doubt
	names := []string{}
	doubt := func(id, node string, without placement.Edit) {
		switch {
		case node == j.Node:
			here, names = append(here, without), append(names, id)
		case !full:
			sure = append(sure, without)
		}
	}
	for _, id := range m.Doubtful {
		if p, runs := w.snapshot.Find(id); runs {
			doubt(id, p.Node, placement.Remove(id))
		}
	}
	for _, id := range m.Promised {
		if p, promised := w.snapshot.Nominated(id); promised && p.Priority >= w.request.Priority {
			doubt(id, p.Node, placement.Withdraw(id))
		} else if promised {
			sure = append(sure, placement.Withdraw(id))
		}
	}
	for _, name := range m.Unsure {
		if n, known := w.snapshot.Node(name); full && known && name != j.Node {
			n.Unschedulable = true
			sure = append(sure, placement.SetNode(n))
		}
	}
	if len(here) > mostDoubtful {
		j.Unknown = fmt.Sprintf("it is not known whether %s ran then", some(names))
		return nil
	}
	for _, groups := range []bool{true, false} { // a feature of kube-scheduler of which no object tells
		s := w.snapshot
		if !groups {
			st := s.State()
			if len(st.Groups) == 0 {
				break
			}
			st.Groups = nil
			var err error
			if s, err = placement.NewSnapshot(st); err != nil {
				return err
			}
		}
		for set := range 1 << len(here) {
			edits := slices.Clone(sure)
			for i, without := range here {
				if set>>i&1 == 1 {
					edits = append(edits, without)
				}
			}
			one, err := s.With(edits...)
			if err != nil {
				return err
			}
			if err := a.inOne(j, w, one, all); err != nil || j.Unknown != "" {
				return err
			}
		}
	}
	return nil
}

// inOne judges a preemption in one cluster.
func (a *podsPast) inOne(j *judged, w *podWorld, s *placement.Snapshot, all *podWorlds) error {
	for name, free := range s.FreeOn(j.Node) {
		if free < 0 && (name == workload.PodsResource || w.request.Pods[0].Requests[name] > 0) {
			all.full = true
			return nil
		}
	}
	e := audit.PodEviction{Request: w.request, Placed: []placement.Nomination{{Pod: j.Preemptor, Node: j.Node}}, Cost: a.costOnNodes(s, j.At)}
	for _, v := range j.Victims {
		e.Victims = append(e.Victims, v.Workload)
	}
	f, err := audit.JudgePods(s, w.config, e)
	var faults preemption.Faults
	switch {
	case errors.As(err, &faults):
		j.Unknown = "the history contradicts itself: " + faults[0].Error()
		return nil
	case err != nil:
		return err
	case f.Verdict == audit.NotEnough: // in this one nobody would have preempted
		return nil
	}
	for _, d := range w.doubts {
		switch {
		case d.OnlyYes && (certainOnNodes(&f) || f.Verdict == audit.NotPermitted):
			f.Avoidable = 0
		case !d.OnlyYes && d.Node != "" && d.Node != j.Node && f.Verdict == audit.TooMany:
		default:
			j.Unknown = d.Text
			return nil
		}
	}
	all.add(&f)
	return nil
}

// add keeps what is to be said in all clusters: of two findings that both say that it was wrong what both say.
func (all *podWorlds) add(f *audit.PodFinding) {
	was := all.found
	if was == nil {
		all.found = f
		return
	}
	weak, other := f, was
	if was.Verdict == audit.TooMany || was.Verdict == audit.NotPermitted {
		weak, other = was, f
	}
	switch right, never := other.Verdict == audit.Right, other.Verdict == audit.NotPermitted; {
	case weak.Verdict == other.Verdict && (right || never), isKept(weak) && isKept(other):
	case right || never || weak.Verdict == audit.Right || weak.Verdict == audit.NotPermitted || len(weak.Victims) != len(other.Victims):
		all.differ = cmp.Or(all.differ, wordsOf[min(was.Verdict, f.Verdict)]+", or "+wordsOf[max(was.Verdict, f.Verdict)])
	default: // by each of them somebody could stay
		weak.Victims = slices.Clone(weak.Victims)
		for i := range weak.Victims {
			weak.Victims[i].CouldStay = weak.Victims[i].CouldStay && other.Victims[i].CouldStay
		}
		if !slices.ContainsFunc(weak.Victims, func(v audit.PodVictim) bool { return v.CouldStay }) {
			all.differ = cmp.Or(all.differ, "one could stay, or another one")
		}
	}
	weak.Avoidable = min(weak.Avoidable, other.Avoidable)
	all.found = weak
}

// isKept reports whether the priority of a victim keeps it.
func isKept(f *audit.PodFinding) bool {
	return slices.ContainsFunc(f.Victims, func(v audit.PodVictim) bool { return v.Kept != nil && v.Kept.Rule == placement.RulePriority })
}

// certainOnNodes reports whether a finding does not depend on who else ran: it is right, or the priority of a victim keeps it.
func certainOnNodes(f *audit.PodFinding) bool { return f.Verdict == audit.Right || isKept(f) }

// costOnNodes is what a unit loses: what it takes of some resources × the seconds since its last checkpoint.
func (a *podsPast) costOnNodes(s *placement.Snapshot, now time.Time) func(placement.Unit) int64 {
	var resources []string
	for n := range s.Nodes() {
		for name := range n.Capacity {
			resources = append(resources, name)
		}
	}
	slices.Sort(resources)
	cost := a.cost(slices.Compact(resources))
	return func(u placement.Unit) (lost int64) {
		for _, p := range u.Pods {
			w := workload.Workload{ReservedAt: p.Started, PodSets: []workload.PodSet{{Count: 1}}}
			for name, amount := range p.Requests {
				w.PodSets[0].Requests = append(w.PodSets[0].Requests, quota.Amount{Flavor: "node", Resource: name, Amount: amount})
			}
			lost = quota.Add(lost, cost.Lost(w, "", now))
		}
		return lost
	}
}

// foundOnNodes is a finding as it is printed, and says why in words.
func (a *podsPast) foundOnNodes(j *judged) *found {
	f := j.PodFinding
	of := &found{verdict: f.Verdict, lost: f.Lost, avoidable: f.Avoidable}
	unit := func(id string) *audit.PodVictim {
		i := slices.IndexFunc(f.Victims, func(v audit.PodVictim) bool { return slices.Contains(v.Pods, id) })
		return &f.Victims[i] // each victim of the eviction is of a unit
	}
	first := map[*audit.PodVictim]bool{}
	for _, v := range j.Victims {
		u := unit(v.Workload)
		one := foundVictim{stays: u.CouldStay}
		if !first[u] { // what a group loses is said of its first pod
			one.lost, first[u] = u.Lost, true
		}
		if one.right = "its priority is lower"; u.Kept != nil {
			one.right = ""
			j.Why = append(j.Why, fmt.Sprintf("%s: its priority of %d is not lower than %d", v.Workload, u.Priority, a.priority(j)))
		}
		of.victims = append(of.victims, one)
	}
	if f.Verdict == audit.NotPermitted && len(j.Why) == 0 {
		j.Why = append(j.Why, "anybody: its preemption policy is Never")
	}
	if f.Verdict == audit.Fitted && len(f.Instead.Nominations) > 0 {
		j.Notes = append(j.Notes, "there was room on "+f.Instead.Nominations[0].Node)
	}
	names := func(p *placement.Placement) string {
		var list []string
		for _, v := range p.Victims {
			list = append(list, v.Pods...)
		}
		return some(list) + " on " + p.Domain
	}
	if f.Better && f.Instead.Domain != j.Node {
		j.Notes = append(j.Notes, "by kube-scheduler's order "+names(&f.Instead.Placement)+" come first; it may have looked at some of the nodes only")
	}
	if of.instead = "nobody had to leave for it"; len(f.Least.Victims) > 0 {
		of.cheaper = names(&f.Least)
	}
	return of
}

// priority is that of the preemptor.
func (a *podsPast) priority(j *judged) int32 {
	for _, p := range j.PodFinding.Instead.Pods {
		return p.Priority
	}
	return 0
}

// podsUnread says which flags are of no use for histories of kube-scheduler.
func podsUnread(o *options) error {
	if !o.changes() {
		return nil
	}
	return errors.New("-policy, -quota and -apply: not for histories of kube-scheduler, and this one has preemptions of pods")
}
