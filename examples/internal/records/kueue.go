package records

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/input"
)

// history is what Kueue keeps of a workload: its last state, as kubectl prints it, or as an audit log has it.
type history struct {
	kueue.Workload
	item    int
	past    int64     // seconds that it ran before its last start
	deleted time.Time // when it was deleted, if that was seen
}

// kueueStatus is the status of a workload with what only its history has.
type kueueStatus struct {
	kueue.WorkloadStatus
	Past int64 `json:"accumulatedPastExecutionTimeSeconds"`
}

// kueueReader reads the histories of workloads.
type kueueReader struct {
	*collector
	all    []*history
	byID   map[string]*history
	latest time.Time // the last time in the file
}

// readKueue reads Workloads in any form in which kubectl prints them, and the events of an audit log of the API server
// that hold Workloads. Of a workload the last state counts.
func readKueue(in io.Reader, c *collector) error {
	r := &kueueReader{collector: c, byID: map[string]*history{}}
	c.Unranked = false
	options := input.Options{Nameless: []string{"Event"}}
	notes, err := input.Read([]input.Source{{Name: c.path, Reader: in}}, options, r.visit)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), c.path+": "))
	}
	for _, h := range r.all {
		r.record(h)
	}
	c.Notes = append(c.Notes, notes[:min(len(notes), maxFaults)]...)
	return nil
}

// visit takes an object. What is odd is a fault, and all else of another kind is left out.
func (r *kueueReader) visit(o *input.Object) error {
	r.line++
	switch {
	case o.Kind == "Event" && strings.HasPrefix(o.APIVersion, "audit.k8s.io/"):
		r.event(o)
	case o.Kind == "Workload" && o.Group() == kueue.Group:
		h := &history{item: r.line}
		h.Metadata = o.Metadata
		var status kueueStatus
		err := o.Fault
		if err == nil {
			err = o.Read(&h.Spec, &status)
		}
		if err != nil {
			r.faults.add("item %d (Workload %s): %v", r.line, o.ID(), err)
			return nil
		}
		h.Status, h.past = status.WorkloadStatus, status.Past
		if o.Deleted && o.Metadata.DeletionTimestamp != nil {
			h.deleted = *o.Metadata.DeletionTimestamp
		}
		r.keep(h)
	case !slices.Contains([]string{"ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology"}, o.Kind):
		r.counts[otherEvents]++
	}
	return nil
}

// event takes an event of an audit log: what the API server answered, or else what it was asked to write.
func (r *kueueReader) event(o *input.Object) {
	var ref struct {
		Group    string `json:"apiGroup"`
		Resource string `json:"resource"`
	}
	var verb, stage string
	var at time.Time
	err := errors.Join(o.Field("objectRef", &ref), o.Field("verb", &verb), o.Field("stage", &stage), o.Field("stageTimestamp", &at))
	if err != nil {
		r.faults.add("item %d: %v", r.line, err)
		return
	}
	if ref.Resource != "workloads" || ref.Group != kueue.Group || stage != "" && stage != "ResponseComplete" {
		r.counts[otherEvents]++
		return
	}
	for _, field := range []string{"responseObject", "requestObject"} {
		var kind struct {
			Kind string `json:"kind"`
		}
		data := o.Fields[field]
		if len(data) == 0 || input.Decode(field, data, &kind) != nil || kind.Kind != "Workload" {
			continue // a patch, or a Status
		}
		var w struct {
			Metadata bridge.Metadata    `json:"metadata"`
			Spec     kueue.WorkloadSpec `json:"spec"`
			Status   kueueStatus        `json:"status"`
		}
		if err := input.Decode(field, data, &w); err != nil {
			r.faults.add("item %d: %v", r.line, err)
			return
		}
		h := &history{item: r.line, past: w.Status.Past}
		h.Metadata, h.Spec, h.Status = w.Metadata, w.Spec, w.Status.WorkloadStatus
		if verb == "delete" {
			h.deleted = at
		}
		r.keep(h)
		return
	}
	r.counts[otherEvents]++ // without objects: the level of the audit policy is Metadata
}

// keep keeps the last state of a workload.
func (r *kueueReader) keep(h *history) {
	for _, c := range h.Status.Conditions {
		if c.LastTransitionTime.After(r.latest) {
			r.latest = c.LastTransitionTime
		}
	}
	for _, at := range []time.Time{h.Metadata.CreationTimestamp, h.deleted} {
		if at.After(r.latest) {
			r.latest = at
		}
	}
	silent := func(s kueue.PodSetAssignment) bool { return len(s.ResourceUsage) == 0 }
	if a := h.Status.Admission; a != nil && !slices.ContainsFunc(a.PodSetAssignments, silent) {
		h.Spec.PodSets = nil // they are most of its text
	}
	id := h.Metadata.UID
	if id == "" {
		id = h.Metadata.ID()
	}
	if had := r.byID[id]; had != nil {
		if h.Status.Admission == nil && len(h.Status.Conditions) == 0 { // a request to write the spec alone
			h.Status, h.past = had.Status, had.past
		}
		*had = *h
		return
	}
	r.byID[id] = h
	r.all = append(r.all, h)
}

// record makes a job of what is known at the end.
func (r *kueueReader) record(h *history) {
	conditions := map[string]kueue.Condition{}
	for _, c := range h.Status.Conditions {
		conditions[c.Type] = c
	}
	isTrue := func(kind string) (time.Time, bool) {
		c, ok := conditions[kind]
		return c.LastTransitionTime, ok && c.Status == "True" && !c.LastTransitionTime.IsZero()
	}
	fault := func(format string, args ...any) {
		r.faults.add("item %d (Workload %s): %s", h.item, h.Metadata.ID(), fmt.Sprintf(format, args...))
	}
	end, finished := isTrue("Finished")
	if !finished && !h.deleted.IsZero() {
		end, finished = h.deleted, true
	}
	start, started := isTrue("Admitted")
	if !started {
		start, started = isTrue("QuotaReserved")
	}
	started = started && h.Status.Admission != nil
	switch {
	case h.Metadata.CreationTimestamp.IsZero():
		fault("metadata.creationTimestamp: is missing")
		return
	case h.past < 0 || h.past > maxSeconds:
		fault("status.accumulatedPastExecutionTimeSeconds: %d: want 0 to %d", h.past, int64(maxSeconds))
		return
	case !started && finished:
		r.counts[neverRan]++
		return
	case !started:
		r.counts[unfinished]++
		return
	case finished && end.Before(start):
		fault("status.conditions: Finished at %s is before the start at %s", end.UTC().Format(time.RFC3339), start.UTC().Format(time.RFC3339))
		return
	case !finished:
		end = r.latest
		r.counts[stillRuns]++
	}
	if h.past > 0 {
		r.counts[wasEvicted]++
	}
	j := Job{ID: h.Metadata.ID(), Queue: h.Status.Admission.ClusterQueue, Priority: h.Spec.Priority,
		Submit: h.Metadata.CreationTimestamp.Unix(), Work: int64(end.Sub(start)/time.Second) + h.past}
	if _, twice := r.seen[j.ID]; twice { // a name that was used again
		j.ID += "/" + h.Metadata.UID
	}
	r.dates = true
	switch {
	case j.Submit < 0 || j.Submit > maxInstant || j.Work > maxSeconds:
		fault("its times are out of range")
		return
	case j.Queue == "":
		fault("status.admission.clusterQueue: is missing")
		return
	}
	if !h.amounts(&j) {
		r.counts[manyFlavors]++
	}
	if j.GPU > maxGPUs*1000 || j.CPU > maxCPUs*1000 || j.GPU < 0 || j.CPU < 0 {
		fault("status.admission.podSetAssignments: want 0 to %d GPUs and 0 to %d CPUs", maxGPUs, maxCPUs)
		return
	}
	if _, err := r.add(j, h.item); err != nil {
		fault("%v", err)
	}
}

// IsGPU reports whether a resource counts GPUs.
func IsGPU(resource string) bool {
	return resource == "gpu" || strings.HasSuffix(resource, "/gpu") || strings.HasSuffix(resource, "/gpu.shared")
}

// amounts sets what a workload held. single is false if its GPUs are of several flavors.
func (h *history) amounts(j *Job) (single bool) {
	by := map[string]int64{}
	for _, a := range h.Status.Admission.PodSetAssignments {
		usage := map[string]int64{}
		for resource, q := range a.ResourceUsage {
			usage[resource] = q.Amount(resource)
		}
		if len(usage) == 0 {
			h.template(a, usage)
		}
		for _, resource := range slices.Sorted(maps.Keys(usage)) {
			switch n := min(usage[resource], maxCPUs*1000); {
			case IsGPU(resource):
				j.GPU += n * 1000
				by[a.Flavors[resource]] += n
			case resource == "cpu":
				j.CPU += n
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if j.Flavor == "" || by[name] > by[j.Flavor] {
			j.Flavor = name
		}
	}
	return len(by) <= 1
}

// template adds what the pods of a set ask for, where the assignment does not say.
func (h *history) template(a kueue.PodSetAssignment, usage map[string]int64) {
	for i := range h.Spec.PodSets {
		set := &h.Spec.PodSets[i]
		if set.Name != a.Name {
			continue
		}
		count := int64(1)
		if a.Count != nil {
			count = *a.Count
		} else if set.Count != nil {
			count = *set.Count
		}
		for _, q := range set.Template.Spec.Requests(nil) {
			usage[q.Resource] = q.Amount * max(0, min(count, maxGPUs))
		}
	}
}
