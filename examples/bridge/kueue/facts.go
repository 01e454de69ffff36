package kueue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// workFacts are what becomes of a workload by the Configuration.
type workFacts struct {
	local     string // the LocalQueue that it names
	boost     int64  // of its priority
	gatedBy   string // who keeps it from being considered
	gates     bool   // it has preemption gates
	ready     bool
	reclaimed bool            // pods gave their quota back
	leaving   time.Time       // since when; zero: it is not, or it does not say
	queued    time.Time       // its queue-order timestamp
	checks    []string        // its admission checks, in the order of the status
	byTimeout bool            // that of an eviction because pods were not ready
	last      []PodSetRequest // what Kueue asked for last
}

func (w *Workload) inactive() bool { return w.Spec.Active != nil && !*w.Spec.Active }

func (w *Workload) facts() workFacts {
	f := workFacts{local: w.Spec.QueueName, gatedBy: w.Metadata.Annotations[gatedAnnotation], gates: len(w.Spec.PreemptionGates) > 0,
		queued: w.Metadata.CreationTimestamp, last: w.Status.ResourceRequests}
	f.boost, _ = w.check()
	_, f.ready = w.Status.condition("PodsReady")
	f.reclaimed = slices.ContainsFunc(w.Status.ReclaimablePods, func(r ReclaimablePod) bool { return r.Count > 0 })
	for _, c := range w.Status.AdmissionChecks {
		f.checks = append(f.checks, c.Name)
	}
	evicted, leaves := w.Status.condition("Evicted")
	if leaves {
		f.leaving = evicted.LastTransitionTime
	}
	if leaves && (evicted.Reason == "PodsReadyTimeout" || evicted.Reason == "AdmissionCheck") {
		f.queued, f.byTimeout = evicted.LastTransitionTime, evicted.Reason == "PodsReadyTimeout"
	}
	return f
}

// requeues are the reasons for which a workload is not back in its queue and that Kueue ends itself: by a time, or as soon as it
// sees that the workload is active, or its queues are not stopped. If they are stopped, they say so.
var requeues = []string{"PodsReadyTimeout", "AdmissionCheck", "Deactivated", "LocalQueueStopped", "ClusterQueueStopped"}

// backoff is when a workload is back in its queue.
func (w *Workload) backoff() time.Time {
	if w.outOfQueue() != "" {
		return time.Time{} // no time ends that
	}
	return w.Status.RequeueState.RequeueAt
}

// outOfQueue is why a workload is not back in its queue, if Kueue does not end that itself.
func (w *Workload) outOfQueue() string {
	c, _ := w.Status.condition("Requeued")
	if c.Status != "False" || slices.Contains(requeues, c.Reason) {
		return ""
	}
	return cmp.Or(c.Reason, "no reason")
}

// noteStops adds notes on what keeps a pending workload from being considered at all (Kueue 0.19.2: IsAdmissible,
// backoffWaitingTimeExpired, nominate, ValidateResources).
func (w *Workload) noteStops(n *noter) {
	if w.inactive() {
		n.stop("spec.active", "the workload is inactive (spec.active false)")
	}
	switch t := w.Metadata.DeletionTimestamp; {
	case t == nil:
	case len(w.Metadata.OwnerReferences) == 0:
		n.stop("metadata.deletionTimestamp", "the workload is being deleted, since %s, and nobody owns it: Kueue lets it go", t.UTC().Format(time.RFC3339))
	default:
		n.add("metadata.deletionTimestamp", "the workload is being deleted, since %s", t.UTC().Format(time.RFC3339))
	}
	if why := w.outOfQueue(); why != "" {
		n.stop("status.conditions[Requeued]", "the workload is not back in its queue yet (condition Requeued is False: %s)", why)
	}
	if c, _ := w.Status.condition("QuotaReserved"); c.Status == "False" && c.Reason == "OnHold" {
		n.stop("status.conditions[QuotaReserved]", "its job holds it back (condition QuotaReserved is False: OnHold)")
	}
	if c, is := w.Status.condition("WaitingForReplacementPods"); is {
		n.stop("status.conditions[WaitingForReplacementPods]", "it waits for pods that replace others (condition WaitingForReplacementPods: %s)", c.Reason)
	}
	for i, c := range w.Status.AdmissionChecks {
		if c.State == "Rejected" || c.State == "Retry" {
			n.stopInLine(fmt.Sprintf(checkState, i), "its admission check %s is %s", c.Name, c.State)
		}
	}
	for i := range w.Spec.PodSets {
		if at, resource := w.Spec.PodSets[i].Template.Spec.OverLimit(); at != "" {
			path := fmt.Sprintf("spec.podSets[%d].template.spec.%s", i, at)
			n.stopInLine(path, "Kueue refuses it: %s requests more %s than its limit", path, resource)
		}
	}
}

// The labels and owners by which Kueue finishes a workload whose job is gone.
const jobLabel = Group + "/job-uid"

// ownFaults are what is not known of a workload by several of its fields together.
func (w *Workload) ownFaults() (faults []bridge.FieldFault) {
	owners := w.Metadata.OwnerReferences
	if w.Metadata.Labels[jobLabel] != "" && len(owners) == 0 {
		faults = append(faults, bridge.FieldFault{Path: "metadata.ownerReferences", Text: "is empty, and the label " + jobLabel + " names a job: Kueue finishes it"})
	}
	if slices.ContainsFunc(owners, func(o bridge.OwnerReference) bool { return o.Kind == "Workload" }) {
		faults = append(faults, bridge.FieldFault{Path: "metadata.ownerReferences", Text: "names a Workload, whose variant it is: concurrent admission is not modelled"})
	}
	for _, c := range w.Status.Conditions {
		if known := reasons[c.Type+" "+c.Status]; known != nil && !slices.Contains(known, c.Reason) {
			faults = append(faults, bridge.FieldFault{Path: "status.conditions[" + c.Type + "].reason", Text: fmt.Sprintf("is %q, whose effect is not known", c.Reason)})
		}
	}
	return faults
}

// reasons are those that are known of conditions whose reason decides.
var reasons = map[string][]string{
	"QuotaReserved False": {"", "Pending", "Inadmissible", "Waiting", "OnHold", "Preempted", "PodsReadyTimeout", "AdmissionCheck", "ClusterQueueStopped", "LocalQueueStopped", "Deactivated",
		"NodeFailures", "FlavorMigration", "VariantEvicted", "PendingEvaluation", "WaitingForQuota", "WaitingForPreemptedWorkloads", "WaitingForPodsReady", "Misconfigured", "Suspended", "AdmissionGated",
		"NoMatchingFlavor", "TopologyPlacementFailed", "NoReservation", "MaximumExecutionTimeExceeded", "DeactivatedDueToAdmissionCheck", "DeactivatedDueToMaximumExecutionTimeExceeded", "DeactivatedDueToRequeuingLimitExceeded",
		"DeactivatedDueToEvictedOnManagerCluster", "EvictedOnManagerCluster", "ExceedsMaxQuota", "RequeuingLimitExceeded"},
	"Evicted True": {"", "Preempted", "PodsReadyTimeout", "AdmissionCheck", "ClusterQueueStopped", "LocalQueueStopped", "Deactivated", "InactiveWorkload", "NodeFailures", "FlavorMigration", "VariantEvicted",
		"DeactivatedDueToAdmissionCheck", "DeactivatedDueToMaximumExecutionTimeExceeded", "DeactivatedDueToRequeuingLimitExceeded", "DeactivatedDueToEvictedOnManagerCluster", "EvictedOnManagerCluster"},
}

// templateFaults are what is not known of the requests of a workload that waits.
func (w *Workload) templateFaults(p *bridge.Pending) (faults []bridge.FieldFault) {
	for i := range w.Spec.PodSets {
		if spec := &w.Spec.PodSets[i].Template.Spec; spec.RuntimeClassName != nil && len(spec.Overhead) == 0 {
			faults = append(faults, bridge.FieldFault{Path: fmt.Sprintf("spec.podSets[%d].template.spec.runtimeClassName", i), OnlyYes: true,
				Text: fmt.Sprintf("names the RuntimeClass %s, whose overhead counts and is not looked at", *spec.RuntimeClassName)})
		}
	}
	for _, n := range p.Notes {
		if strings.HasPrefix(n.Path, "spec.podSets[") && !n.Stops {
			faults = append(faults, bridge.FieldFault{Path: n.Path, Text: "is not read as it stands: " + n.Text})
		}
	}
	return faults
}

// ownFaults are what is not known of a queue by several of its fields together.
func (c *ClusterQueue) ownFaults() (faults []bridge.FieldFault) {
	for i, g := range c.Spec.ResourceGroups {
		for _, resource := range g.CoveredResources {
			has := func(f FlavorQuotas) bool {
				return slices.ContainsFunc(f.Resources, func(r ResourceQuota) bool { return r.Name == resource })
			}
			if slices.ContainsFunc(g.Flavors, func(f FlavorQuotas) bool { return !has(f) }) {
				faults = append(faults, bridge.FieldFault{Path: fmt.Sprintf("spec.resourceGroups[%d].coveredResources", i), Text: fmt.Sprintf("has %s, of which some flavor has no quota", resource)})
			}
		}
	}
	return faults
}

// counted is a workload that holds quota, by the Configuration.
func (b *builder) counted(w workload.Workload, e *entry) workload.Workload {
	b.place(&w, e)
	if !e.work.ready {
		b.notReady = append(b.notReady, w.ID)
	}
	if !e.work.leaving.IsZero() {
		b.c.LeavingSince[w.ID] = e.work.leaving
	}
	return w
}

// place sets what of a workload depends on feature gates and on the Configuration.
func (b *builder) place(w *workload.Workload, e *entry) {
	w.PriorityBoost = 0
	on, known := b.settings.gate("PriorityBoost")
	if on {
		w.PriorityBoost = e.work.boost
	}
	if !known && e.work.boost != 0 {
		b.gateDoubt(e, "PriorityBoost", "metadata.annotations["+boostAnnotation+"]")
	}
	if on, _ := b.settings.gate("ReclaimablePods"); !on && e.work.reclaimed {
		b.gateDoubt(e, "ReclaimablePods", "status.reclaimablePods")
	}
	if wait := b.settings.WaitForPodsReady; e.work.byTimeout && wait != nil && wait.RequeuingStrategy.Timestamp == "Creation" {
		w.Queued = w.Created
	}
}

// gateDoubt says that a field counts or not by a feature gate.
func (b *builder) gateDoubt(e *entry, feature, path string) {
	n := bridge.Note{Object: e.object, Path: path, Text: fmt.Sprintf("%s: %s counts by the feature gate %s: what it makes of it is not known", e.object, path, feature)}
	if on, known := b.settings.gate(feature); !known {
		n.Text = fmt.Sprintf("%s: %s counts only with the feature gate %s, which is off by default; nothing in the input says whether it is on", e.object, path, feature)
	} else if !on {
		n.Text = fmt.Sprintf("%s: %s: without the feature gate %s it is not modelled", e.object, path, feature)
	}
	b.c.Notes = append(b.c.Notes, n)
	r := e.reach
	b.later = append(b.later, func() { b.doubtReach(r, n) })
}

// considered is a workload that waits, by the Configuration.
func (b *builder) considered(p bridge.Pending, e *entry) bridge.Pending {
	b.place(&p.Workload, e)
	n := noter{object: e.object, notes: slices.Clip(p.Notes)}
	if on, _ := b.settings.gate("AdmissionGatedBy"); on && e.work.gatedBy != "" {
		n.stop("metadata.annotations["+gatedAnnotation+"]", "%s keeps it back (annotation %s)", e.work.gatedBy, gatedAnnotation)
	}
	p.Notes = n.notes
	if on, _ := b.settings.gate("PartialAdmission"); !on {
		p.MinCounts = nil
	}
	if e.work.gates {
		b.preemptionGates(&p, e)
	}
	if e.unread != nil {
		return p
	}
	p.Workload = p.Workload.Clone()
	for i := range p.Workload.PodSets {
		s := &p.Workload.PodSets[i]
		s.Requests = b.settings.transform(s.Requests)
		if at := differs(s, e.work.last); at != "" {
			note := bridge.Note{Object: e.object, Path: "status.resourceRequests",
				Text: fmt.Sprintf("%s: status.resourceRequests has another amount of %s than its pods ask for: something that is not in the input changes its requests", e.object, at)}
			b.c.Notes = append(b.c.Notes, note)
			b.later = append(b.later, func() { b.doubtReach(e.reach, note) })
		}
	}
	return p
}

// preemptionGates leaves out the gates of a workload where no feature gate makes them count.
func (b *builder) preemptionGates(p *bridge.Pending, e *entry) {
	first, firstKnown := b.settings.gate("MultiKueueOrchestratedPreemption")
	second, secondKnown := b.settings.gate("ConcurrentAdmission")
	switch {
	case first || second:
	case firstKnown && secondKnown:
		p.Workload.Gates = gate.Gates{}
	default:
		b.gateDoubt(e, "MultiKueueOrchestratedPreemption", "spec.preemptionGates")
	}
}

// differs names a resource of which Kueue last asked for another amount for a pod set; empty: there is none.
func differs(s *workload.PodSet, last []PodSetRequest) string {
	for _, r := range last {
		if r.Name != s.Name {
			continue
		}
		for name, q := range r.Resources {
			asks := int64(0)
			for _, a := range s.Requests {
				if a.Resource == name {
					asks = quota.Mul(a.Amount, s.Count)
				}
			}
			if asks != q.Amount(name) && name != "pods" {
				return name
			}
		}
		for _, a := range s.Requests {
			if _, has := r.Resources[a.Resource]; !has && a.Amount != 0 && s.Count != 0 {
				return a.Resource
			}
		}
	}
	return ""
}

// block says why nothing is admitted for now.
func (b *builder) block() {
	if !b.settings.blocks() || len(b.notReady) == 0 {
		return
	}
	slices.Sort(b.notReady)
	names := strings.Join(b.notReady[:min(3, len(b.notReady))], ", ")
	if more := len(b.notReady) - 3; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	b.c.Blocked = "nothing is admitted until all that is admitted is ready (waitForPodsReady.blockAdmission); not ready: " + names
}

// read of a LimitRange is a doubt about what waits in its namespace, if it bears on pods.
func (l *LimitRange) read() (*entry, error) {
	e := new(entry)
	for i, limit := range l.Spec.Limits {
		if limit.Type == "Container" || limit.Type == "Pod" {
			e.faults = append(e.faults, bridge.FieldFault{Path: fmt.Sprintf("spec.limits[%d]", i), Text: "adds to requests or refuses them: it is not looked at"})
		}
	}
	return e, nil
}
