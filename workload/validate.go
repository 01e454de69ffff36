package workload

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
)

// MaxRequests limits the number of requests of a workload, over all its pod sets.
const MaxRequests = 1024

// MaxElasticCount limits the replicas of an elastic pod set: they are preempted one by one.
const MaxElasticCount = 1 << 20

// Validate returns everything that is wrong with the workload itself, as an error that lists
// each fault with its path under the given one: an empty ID or queue, a label with an empty
// key, a negative count or amount, an amount or sum over [quota.MaxUsage], a request without flavor or resource, two
// requests of a pod set for one column, two pod sets with the same name, a negative minimum,
// more leaving replicas than replicas, more than [MaxElasticCount] replicas of an elastic pod
// set, more than [MaxRequests] pod sets or requests, a time outside the years 1678 to 2262,
// what is wrong with a [Loss], and what [gate.Validate] and [NodeConstraints.Validate] find.
func Validate(path string, w *Workload) error { return validate(path, w, false) }

// ValidatePending does the same for a waiting workload: requests may be without flavor, and
// no replica may be leaving.
func ValidatePending(path string, w *Workload) error { return validate(path, w, true) }

func validate(path string, w *Workload, pending bool) error {
	var faults fault.List
	if w.ID == "" {
		faults.Add(path+".id", "is empty")
	}
	if w.Queue == "" {
		faults.Add(path+".queue", "is empty (workload %q)", w.ID)
	}
	if value, has := w.Labels[""]; has {
		faults.Add(path+".labels", "has an empty key, with value %q (workload %q)", value, w.ID)
	}
	if !instant.Valid(w.Created) || !instant.Valid(w.Queued) || !instant.Valid(w.ReservedAt) || !instant.Valid(w.AdmittedAt) {
		for _, t := range [...]struct {
			name string
			at   time.Time
		}{{"created", w.Created}, {"queued", w.Queued}, {"reservedAt", w.ReservedAt}, {"admittedAt", w.AdmittedAt}} {
			if !instant.Valid(t.at) {
				faults.Add(path+"."+t.name, "%v is not within %s (workload %q)", t.at, instant.Range, w.ID)
			}
		}
	}
	if !w.Gates.IsZero() {
		for _, f := range faultsOf(gate.Validate(path+".gates", w.Gates)) {
			faults.Add(f.Path, "%s (workload %q)", f.Problem, w.ID)
		}
	}
	if !w.Loss.IsZero() {
		before := len(faults)
		w.Loss.validate(path+".loss", &faults)
		for i := range faults[before:] {
			faults[before+i].Problem += fmt.Sprintf(" (workload %q)", w.ID)
		}
	}
	requests := 0
	for i := range w.PodSets {
		requests += len(w.PodSets[i].Requests)
	}
	if requests > MaxRequests || len(w.PodSets) > MaxRequests {
		faults.Add(path+".podSets", "%d pod sets with %d requests: more than %d (workload %q)",
			len(w.PodSets), requests, MaxRequests, w.ID)
		return faults.Err()
	}
	var largest int64
	for i := range w.PodSets {
		largest = max(largest, validatePodSet(&faults, path, w, i, pending))
	}
	if len(faults) == 0 && largest > quota.MaxUsage/MaxRequests { // else no sum is too large
		for _, u := range w.Usage() {
			if u.Amount > quota.MaxUsage {
				faults.Add(path+".podSets", "take more than %d of %s (workload %q)",
					quota.MaxUsage, strings.TrimPrefix(u.FlavorResource().String(), "/"), w.ID) // no flavor while it waits
			}
		}
	}
	return faults.Err()
}

func faultsOf(err error) fault.List {
	faults, _ := err.(fault.List)
	return faults
}

// validatePodSet returns the largest amount that the pod set takes. It builds paths only for
// faults: every decision calls it.
func validatePodSet(faults *fault.List, path string, w *Workload, i int, pending bool) (largest int64) {
	p := &w.PodSets[i]
	for j := range i {
		if w.PodSets[j].Name == p.Name {
			faults.Add(fmt.Sprintf("%s.podSets[%d].name", path, i),
				"%q is also the name of podSets[%d] (workload %q)", p.Name, j, w.ID)
			break
		}
	}
	if p.Count < 0 {
		faults.Add(fmt.Sprintf("%s.podSets[%d].count", path, i), "%d is negative (workload %q)", p.Count, w.ID)
	}
	if minimum, elastic := p.MinCount.Get(); elastic && minimum < 0 {
		faults.Add(fmt.Sprintf("%s.podSets[%d].minCount", path, i), "%d is negative (workload %q)", minimum, w.ID)
	} else if elastic && p.Count > MaxElasticCount {
		faults.Add(fmt.Sprintf("%s.podSets[%d].count", path, i),
			"%d is more than %d, the most of an elastic pod set (workload %q)", p.Count, MaxElasticCount, w.ID)
	}
	if _, elastic := p.MinCount.Get(); elastic && p.Totals {
		faults.Add(fmt.Sprintf("%s.podSets[%d].minCount", path, i), "is set, but totals do not say what a replica takes (workload %q)", w.ID)
	}
	if p.NodeConstraints != nil {
		path := fmt.Sprintf("%s.podSets[%d].nodeConstraints", path, i)
		for _, f := range faultsOf(p.NodeConstraints.Validate(path)) {
			faults.Add(f.Path, "%s (workload %q)", f.Problem, w.ID)
		}
	}
	if p.Terminating < 0 || p.Terminating > max(0, p.Count) {
		faults.Add(fmt.Sprintf("%s.podSets[%d].leaving", path, i), "%d of %d replicas (workload %q)", p.Terminating, p.Count, w.ID)
	} else if p.Totals && p.Terminating > 0 {
		faults.Add(fmt.Sprintf("%s.podSets[%d].leaving", path, i), "%d, but totals do not say what a replica takes (workload %q)", p.Terminating, w.ID)
	} else if pending && p.Terminating > 0 {
		faults.Add(fmt.Sprintf("%s.podSets[%d].leaving", path, i), "%d of a workload that waits (workload %q)", p.Terminating, w.ID)
	}
	for j := range p.Requests {
		r := &p.Requests[j]
		largest = max(largest, p.Total(r.Amount))
		at := func(field string) string {
			return fmt.Sprintf("%s.podSets[%d].requests[%d]%s", path, i, j, field)
		}
		if r.Flavor == "" && !pending {
			faults.Add(at(".flavor"), "is empty (workload %q)", w.ID)
		}
		if r.Resource == "" {
			faults.Add(at(".resource"), "is empty (workload %q)", w.ID)
		}
		if r.Amount < 0 {
			faults.Add(at(".amount"), "%d is negative (workload %q)", r.Amount, w.ID)
		}
		for k := range j {
			if p.Requests[k].FlavorResource() == r.FlavorResource() {
				faults.Add(at(""), "%v has an entry already, requests[%d] (workload %q)", r.FlavorResource(), k, w.ID)
				break
			}
		}
	}
	return largest
}
