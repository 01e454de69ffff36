package kueue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Pending returns a waiting workload for a request. The caller names its queue, the
// ClusterQueue of its LocalQueue (empty: not known); [Objects] finds it. It fails on a
// workload in another stage, on a count out of range, on an annotation priority-boost that is
// not an integer, on invalid gates, and on what [workload.ValidatePending] refuses.
func (w *Workload) Pending(clusterQueue string) (bridge.Pending, error) {
	if w.Stage() != StagePending {
		return bridge.Pending{}, fmt.Errorf("workload %s does not wait", w.Metadata.ID())
	}
	p, err := w.pending()
	if err == nil {
		err = validPending(&p.Workload)
	}
	if err != nil {
		return bridge.Pending{}, err
	}
	p.Workload.Queue = clusterQueue
	return p, nil
}

// validPending checks the workload. A missing queue is reported when it is asked about.
func validPending(w *workload.Workload) error {
	checked := *w
	if checked.Queue == "" {
		checked.Queue = "none"
	}
	return workload.ValidatePending("workload", &checked)
}

func (w *Workload) pending() (bridge.Pending, error) {
	boost, err := w.check()
	p := bridge.Pending{Workload: workload.Workload{
		ID: w.Metadata.ID(), UID: w.Metadata.UID,
		Priority: w.Spec.Priority, PriorityBoost: boost,
		Created: w.Metadata.CreationTimestamp, Queued: w.facts().queued,
		NeverPreempts: w.Metadata.Annotations[neverAnnotation] == "true",
	}}
	w.named(&p.Workload)
	if err != nil {
		return p, err
	}
	n := noter{object: "Workload " + w.Metadata.ID()}
	for i := range w.Spec.PodSets {
		spec := &w.Spec.PodSets[i]
		path := fmt.Sprintf("spec.podSets[%d]", i)
		s := spec.requested(&w.Status)
		before := len(n.notes)
		s.NodeConstraints = spec.constraints(&n, path, s.Name)
		p.NoRoom = cmp.Or(p.NoRoom, spec.noRoom(s.Name, len(n.notes) > before))
		p.Workload.PodSets = append(p.Workload.PodSets, s)
		if least, ok := spec.least(&n, path, &s); ok {
			p.MinCounts = append(p.MinCounts, preemption.Replicas{PodSet: s.Name, Count: least})
		}
	}
	w.noteStops(&n)
	p.BackoffUntil = w.backoff()
	if p.Workload.Gates = w.gates(); gate.Validate("", p.Workload.Gates) != nil {
		return p, gate.Validate("preemptionGates", p.Workload.Gates)
	}
	p.Replaces = w.Metadata.Annotations[replacesAnnotation] // replace looks whether it is there
	p.Notes = n.notes
	return p, nil
}

// least returns the fewest replicas with which a pod set may start, if that is fewer than all.
func (spec *PodSet) least(n *noter, path string, s *workload.PodSet) (replicas int64, ok bool) {
	switch {
	case spec.MinCount == nil || *spec.MinCount >= s.Count:
		return 0, false
	case s.Count > workload.MaxElasticCount:
		n.add(path+".minCount", "pod set %s may start with %d replicas (minCount); all %d are asked for", s.Name, *spec.MinCount, s.Count)
		return 0, false
	}
	return max(0, *spec.MinCount), true
}

// requested returns what a pending pod set requests by its template. Kueue takes a limit of the pod as a whole for a request
// that is missing, too.
func (spec *PodSet) requested(status *WorkloadStatus) workload.PodSet {
	s := workload.PodSet{Name: spec.Name, Count: 1}
	if s.Name == "" {
		s.Name = defaultPodSet
	}
	if spec.Count != nil {
		s.Count = *spec.Count
	}
	s.Count = max(0, s.Count-status.reclaimed(s.Name))
	pod := spec.Template.Spec.PodSpec
	if pod.Resources != nil {
		pod.Resources = &bridge.Resources{Requests: pod.Resources.Effective()}
	}
	s.Requests = pod.Requests(nil)
	return s
}

// constraints returns the node constraints of a pod set that a flavor depends on: preferred
// affinities and fields of nodes are left to the scheduler of pods. Nil: none.
func (spec *PodSet) constraints(n *noter, path, podSet string) *workload.NodeConstraints {
	t := &spec.Template
	c := &workload.NodeConstraints{NodeSelector: t.Spec.NodeSelector, Topology: spec.TopologyRequest.asked()}
	path += ".template.spec"
	drop := func(field, format string, args ...any) {
		n.add(path+field, "pod set %s: "+format, append([]any{podSet}, args...)...)
	}
	for i, toleration := range t.Spec.Tolerations {
		one, err := tolerationOf(toleration)
		if err != nil {
			drop(fmt.Sprintf(".tolerations[%d]", i), "%v", err)
			continue
		}
		c.Tolerations = append(c.Tolerations, one)
	}
	if a := t.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.Required != nil {
		for i, term := range a.NodeAffinity.Required.Terms {
			var out workload.NodeSelectorTerm
			for j, e := range term.MatchExpressions {
				if err := validRequirement(e); err != nil {
					drop(fmt.Sprintf(".affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[%d].matchExpressions[%d]", i, j),
						"a requirement of its node affinity about %q is not looked at: %v", e.Key, err)
					continue
				}
				out.MatchExpressions = append(out.MatchExpressions, e)
			}
			c.NodeAffinity = append(c.NodeAffinity, out)
		}
	}
	if len(c.NodeSelector)+len(c.NodeAffinity)+len(c.Tolerations) == 0 && c.Topology.IsZero() {
		return nil
	}
	if err := c.Validate("template"); err != nil {
		drop("", "its node selector, affinity and tolerations are not looked at: %v", err)
		return nil
	}
	return c.Clone()
}

func tolerationOf(t bridge.Toleration) (workload.Toleration, error) {
	out := workload.Toleration{Key: t.Key, Value: t.Value}
	if err := out.Operator.UnmarshalText([]byte(t.Operator)); err != nil {
		return out, fmt.Errorf("a toleration of %q is not looked at: operator %q", t.Key, t.Operator)
	}
	if err := out.Effect.UnmarshalText([]byte(t.Effect)); err != nil {
		return out, fmt.Errorf("a toleration of %q is not looked at: effect %q", t.Key, t.Effect)
	}
	return out, nil
}

// validRequirement fails on a requirement whose values its operator does not take.
func validRequirement(r workload.LabelRequirement) error {
	one := workload.NodeConstraints{NodeAffinity: []workload.NodeSelectorTerm{{MatchExpressions: []workload.LabelRequirement{r}}}}
	return one.Validate("affinity")
}

// resolve finds the queue of a pending workload from its LocalQueue.
func resolve(p *bridge.Pending, name string, local map[string]bridge.LocalQueue, has func(queue string) bool) {
	namespace, _, _ := strings.Cut(p.Workload.ID, "/")
	l, ok := local[namespace+"/"+name]
	switch {
	case p.Unresolved != "": // it cannot be read
	case name == "":
		p.Unresolved = "it names no queue (spec.queueName), and Kueue does not consider it"
		p.LocalNotes = []bridge.Note{{Object: "Workload " + p.Workload.ID, Path: "spec.queueName", Text: p.Unresolved, Stops: true}}
	case !ok:
		p.Unresolved = fmt.Sprintf("LocalQueue %s/%s is not in the input", namespace, name)
	case !has(l.ClusterQueue):
		p.Unresolved = fmt.Sprintf("ClusterQueue %s of LocalQueue %s/%s is not in the input", l.ClusterQueue, namespace, name)
	default:
		p.Workload.Queue, p.LocalNotes = l.ClusterQueue, l.Notes
	}
}

// replace resolves what a workload replaces, a slice of an elastic job: what holds no quota is not replaced
// any more. Kueue gives the new slice the flavors of the old one.
func replace(p *bridge.Pending, admitted map[string]*workload.Workload) {
	if p.Replaces == "" {
		return
	}
	old, n := admitted[p.Replaces], noter{object: "Workload " + p.Workload.ID}
	path := "metadata.annotations[" + replacesAnnotation + "]"
	if old == nil || old.Evicted {
		n.add(path, "the workload replaces %s, which holds no quota", p.Replaces)
		p.Replaces, p.Notes = "", append(p.Notes, n.notes...)
		return
	}
	n.add(path, "the workload replaces %s: what that one holds does not count, and it is no victim", p.Replaces)
	p.Notes = append(p.Notes, n.notes...)
	p.Workload = p.Workload.Clone()
	for i := range p.Workload.PodSets {
		s := &p.Workload.PodSets[i]
		at := slices.IndexFunc(old.PodSets, func(o workload.PodSet) bool { return o.Name == s.Name })
		if at < 0 {
			continue
		}
		flavors := map[string]string{}
		for _, r := range old.PodSets[at].Requests {
			flavors[r.Resource] = r.Flavor
		}
		if slices.ContainsFunc(s.Requests, func(r quota.Amount) bool { return flavors[r.Resource] == "" }) {
			continue // something new: the flavors are to be assigned
		}
		for j := range s.Requests {
			s.Requests[j].Flavor = flavors[s.Requests[j].Resource]
		}
	}
}
