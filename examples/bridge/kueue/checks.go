package kueue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// AdmissionCheck is Kueue's object: something beside quota that must agree before a workload starts.
type AdmissionCheck struct {
	Metadata bridge.Metadata    `json:"metadata"`
	Spec     AdmissionCheckSpec `json:"spec"`
	Status   QueueStatus        `json:"status"`
}

// AdmissionCheckSpec is that of an AdmissionCheck.
type AdmissionCheckSpec struct {
	ControllerName string          `json:"controllerName"`
	Parameters     CheckParameters `json:"parameters"`
}

// CheckParameters name the object with the parameters of a check: of MultiKueue a MultiKueueConfig.
type CheckParameters struct {
	Name string `json:"name"`
}

// The controllers of checks that Kueue has itself.
const (
	multiKueue   = Group + "/multikueue"
	provisioning = Group + "/provisioning-request"
)

// check is what queues ask of an AdmissionCheck.
type check struct {
	name, controller, config string
	active                   bool
}

func (c *AdmissionCheck) key() string { return "AdmissionCheck " + c.Metadata.Name }

func (c *AdmissionCheck) read() (*entry, error) {
	return &entry{value: check{c.Metadata.Name, c.Spec.ControllerName, c.Spec.Parameters.Name, c.Status.active()}}, nil
}

// queueFacts are what decides whether a queue is active, beside its policies.
type queueFacts struct {
	checks  []AdmissionCheckRule
	flavors []string
	said    string // its status says that it is inactive, and why
	stopped bool   // by its own spec
	scoped  bool   // usage of LocalQueues orders its workloads, if the Configuration says how
}

func (c *ClusterQueue) facts() queueFacts {
	f := queueFacts{checks: slices.Clone(c.Spec.AdmissionChecksStrategy.AdmissionChecks), said: c.Status.inactive(),
		stopped: isStopped(c.Spec.StopPolicy) || c.Metadata.DeletionTimestamp != nil,
		scoped:  c.Spec.AdmissionScope != nil && c.Spec.AdmissionScope.AdmissionMode != "NoAdmissionFairSharing"}
	for _, name := range c.Spec.AdmissionChecks {
		f.checks = append(f.checks, AdmissionCheckRule{Name: name})
	}
	for _, g := range c.Spec.ResourceGroups {
		for _, flavor := range g.Flavors {
			f.flavors = append(f.flavors, flavor.Name)
		}
	}
	return f
}

// stopInactive stops the queues that Kueue makes inactive: a flavor, topology or check that they name is missing, a check is
// not active, or the checks do not go together (Kueue 0.19.2, cache of the scheduler, updateQueueStatus). An object that is
// not in the input may be in the cluster: a doubt that names it, unless the caller says that it is missing there.
func (b *builder) stopInactive() {
	here := map[string]bool{}
	for _, f := range b.c.State.Flavors {
		here["ResourceFlavor "+f.Name] = true
	}
	for _, t := range b.topologies {
		here["Topology "+t.Name] = true
	}
	for name := range b.checks {
		here["AdmissionCheck "+name] = true
	}
	for i := range b.c.State.Queues {
		q := &b.c.State.Queues[i]
		s := stopper{b: b, queue: q, facts: b.queues[q.Name], here: here, object: "ClusterQueue " + q.Name}
		s.flavors()
		s.multiKueue()
		s.status()
		if s.facts.scoped && (!b.settings.known || b.settings.AdmissionFairSharing != nil) {
			s.doubt("spec.admissionScope", "the usage of LocalQueues orders its workloads and victims, which is not modelled")
		}
	}
}

// stopper looks at one queue.
type stopper struct {
	b      *builder
	queue  *queue.Queue
	facts  queueFacts
	here   map[string]bool
	object string
	why    bool // something stops the queue, or may
}

// stop stops the queue.
func (s *stopper) stop(path, format string, args ...any) {
	n := bridge.Note{Object: s.object, Path: path, Text: s.object + " is inactive and admits nothing: " + fmt.Sprintf(format, args...), Stops: true}
	s.why, s.queue.Inactive = true, true
	s.b.c.QueueNotes[s.queue.Name] = append(s.b.c.QueueNotes[s.queue.Name], n)
}

// forAll reports whether the check is for all of the flavors.
func (c *AdmissionCheckRule) forAll(flavors []string) bool {
	return len(c.OnFlavors) == 0 || !slices.ContainsFunc(flavors, func(f string) bool { return !slices.Contains(c.OnFlavors, f) })
}

// need says what follows from an object that the queue names, if it is not in the input.
func (s *stopper) need(kind, name, path string) {
	missing := kind + " " + name
	if s.here[missing] {
		return
	}
	if s.b.missing[missing] {
		s.stop(path, "the %s %s, which it names, is missing", kind, name)
		return
	}
	s.why = true
	n := bridge.Note{Object: missing, Path: path, Text: fmt.Sprintf("%s names the %s %s, which is not in the input: without it the queue is inactive", s.object, kind, name)}
	s.b.c.QueueNotes[s.queue.Name] = append(s.b.c.QueueNotes[s.queue.Name], n)
	queueName := s.queue.Name
	s.b.later = append(s.b.later, func() { s.b.doubt(reach{queue: queueName}, bridge.Doubt{Note: n, NotInInput: true}) })
}

// doubt says what is not known of the queue.
func (s *stopper) doubt(path, format string, args ...any) {
	n := bridge.Note{Object: s.object, Path: path, Text: s.object + ": " + path + ": " + fmt.Sprintf(format, args...)}
	s.b.c.Notes = append(s.b.c.Notes, n)
	queueName := s.queue.Name
	s.b.later = append(s.b.later, func() { s.b.doubtReach(reach{queue: queueName}, n) })
}

func (s *stopper) flavors() {
	known := map[string]string{}
	for flavor, topology := range s.b.c.Topologies {
		known[flavor] = topology
	}
	var seen []string
	for _, flavor := range slices.Concat(s.facts.flavors, flavorsOf(s.queue.Quotas)) {
		if slices.Contains(seen, flavor) {
			continue
		}
		seen = append(seen, flavor)
		s.need("ResourceFlavor", flavor, "spec.resourceGroups")
		if topology := known[flavor]; topology != "" && len(s.of(multiKueue)) == 0 { // pods are placed in the worker cluster then
			s.need("Topology", topology, "spec.resourceGroups")
		}
	}
}

func flavorsOf(quotas []quota.Quota) (names []string) {
	for _, q := range quotas {
		if !slices.Contains(names, q.Flavor) {
			names = append(names, q.Flavor)
		}
	}
	return names
}

// of lists the checks of a controller.
func (s *stopper) of(controller string) (names []string) {
	for _, c := range s.facts.checks {
		if s.b.checks[c.Name].controller == controller {
			names = append(names, c.Name)
		}
	}
	return names
}

const checksPath = "spec.admissionChecksStrategy"

// multiKueue looks at the checks: each must be there and active, and those of MultiKueue go with few others.
func (s *stopper) multiKueue() {
	for _, c := range s.facts.checks {
		s.need("AdmissionCheck", c.Name, checksPath)
		if is := s.b.checks[c.Name]; s.here["AdmissionCheck "+c.Name] && !is.active {
			s.stop(checksPath, "the AdmissionCheck %s is not active", c.Name)
		}
		all := c.forAll(s.facts.flavors) && !slices.ContainsFunc(c.OnFlavors, func(f string) bool { return !slices.Contains(s.facts.flavors, f) })
		if s.b.checks[c.Name].controller == multiKueue && !all {
			s.stop(checksPath, "the AdmissionCheck %s is one of MultiKueue, and is for some flavors only", c.Name)
		}
	}
	manager, provisions := s.of(multiKueue), s.of(provisioning)
	switch {
	case len(manager) > 1:
		s.stop(checksPath, "it has several AdmissionChecks of MultiKueue: %s", strings.Join(manager, ", "))
	case len(manager) == 1 && len(provisions) > 0:
		s.stop(checksPath, "it has AdmissionChecks of MultiKueue and of provisioning: %s, %s", manager[0], strings.Join(provisions, ", "))
	}
}

// status compares what the status says with what the input shows: Kueue finds out anew whether a queue is active.
func (s *stopper) status() {
	switch {
	case s.facts.said == "":
		return
	case s.facts.stopped || s.why:
		s.b.c.QueueNotes[s.queue.Name] = append(s.b.c.QueueNotes[s.queue.Name], bridge.Note{Object: s.object, Path: "status.conditions", Stops: true,
			Text: s.object + " is inactive and admits nothing: " + s.facts.said})
		s.queue.Inactive = true
		return
	}
	s.doubt("status.conditions[Active]", "it is inactive by its status, and nothing in the input shows why: %s", s.facts.said)
}

// checkState is the path of the state of an admission check.
const checkState = "status.admissionChecks[%d].state"

// leaveOutChecks leaves out what checks say that Kueue takes out of the status of a workload without flavors: those that its queue
// does not have, and those that are for some flavors of it only (Kueue 0.19.2, AdmissionChecksForWorkload).
func (f *workFacts) leaveOutChecks(p *bridge.Pending, q queueFacts) {
	p.Notes = slices.DeleteFunc(slices.Clone(p.Notes), func(n bridge.Note) bool {
		at := -1
		for i := range f.checks {
			if n.Path == fmt.Sprintf(checkState, i) {
				at = i
			}
		}
		return at >= 0 && !slices.ContainsFunc(q.checks, func(c AdmissionCheckRule) bool { return c.Name == f.checks[at] && c.forAll(q.flavors) })
	})
}

// checked says for which admission checks a workload that holds quota waits: it starts when all are Ready. Empty: for none.
func (w *Workload) checked() string {
	_, admitted := w.Status.condition("Admitted")
	_, evicted := w.Status.condition("Evicted")
	if admitted || evicted {
		return ""
	}
	var parts []string
	for _, c := range w.Status.AdmissionChecks {
		if c.State == "Ready" {
			continue
		}
		part := fmt.Sprintf("%s (%s", c.Name, cmp.Or(c.State, "Pending"))
		if c.Message != "" {
			part += ": " + strings.TrimSuffix(c.Message, ".")
		}
		parts = append(parts, part+")")
	}
	if len(parts) == 0 {
		return ""
	}
	return "it has quota and waits for " + map[bool]string{true: "its admission check ", false: "its admission checks "}[len(parts) == 1] + strings.Join(parts, ", ")
}
