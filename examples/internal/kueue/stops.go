package kueue

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cedesched/cede/examples/internal/input"
)

// What keeps Kueue from admitting though there is quota. None of it changes a decision;
// each is a note.

type admissionChecks struct {
	AdmissionChecks         []string `json:"admissionChecks"`
	AdmissionChecksStrategy struct {
		AdmissionChecks []struct {
			Name string `json:"name"`
		} `json:"admissionChecks"`
	} `json:"admissionChecksStrategy"`
}

// noteStops notes what keeps a queue from admitting anything, and what comes after quota.
func (b *Builder) noteStops(o *input.Object, spec *clusterQueueSpec, status *queueStatus) {
	name := o.Metadata.Name
	if isStopped(spec.StopPolicy) {
		b.note(name, "is stopped (stopPolicy %s) and admits nothing for now", spec.StopPolicy)
	}
	if o.Metadata.DeletionTimestamp != nil {
		b.note(name, "is being deleted and admits nothing")
	}
	if why := status.inactive(); why != "" {
		b.note(name, "is inactive and admits nothing: %s", why)
	}
	checks := slices.Clone(spec.AdmissionChecks)
	for _, c := range spec.AdmissionChecksStrategy.AdmissionChecks {
		checks = append(checks, c.Name)
	}
	if len(checks) > 0 {
		b.note(name, "admits a workload with quota only when its admission checks are ready: %s", strings.Join(checks, ", "))
	}
	b.c.Selectors[name] = spec.NamespaceSelector
}

// queueStatus is that of a ClusterQueue or a LocalQueue.
type queueStatus struct {
	Conditions []struct {
		Type, Status, Reason, Message string
	} `json:"conditions"`
	FairSharing *struct{} `json:"fairSharing"`
}

// inactive says why the queue is not active; empty when it is, or nothing says so.
func (s *queueStatus) inactive() string {
	for _, c := range s.Conditions {
		if c.Type == "Active" && c.Status == "False" {
			return strings.TrimSuffix(strings.TrimPrefix(c.Reason+": "+c.Message, ": "), ": ")
		}
	}
	return ""
}

// noteWorkload notes what keeps a pending workload from being asked about at all.
func noteWorkload(p *Pending, o *input.Object, spec *workloadSpec, status *workloadStatus) {
	if spec.Active != nil && !*spec.Active {
		p.note("the workload is inactive (spec.active false)")
	}
	if t := o.Metadata.DeletionTimestamp; t != nil {
		p.note("the workload is being deleted, since %s", t.UTC().Format(time.RFC3339))
	}
	for _, c := range status.Conditions {
		if c.Type == "Requeued" && c.Status == "False" {
			p.note("the workload is not back in its queue yet (condition Requeued is False: %s)", c.Reason)
		}
	}
	p.BackoffUntil = status.RequeueState.RequeueAt
	for _, c := range status.AdmissionChecks {
		if c.State == "Rejected" || c.State == "Retry" {
			p.note("its admission check %s is %s", c.Name, c.State)
		}
	}
}

// Notes are what an answer about a workload of a namespace in a queue must tell its reader;
// the namespace may be empty: not known.
func (c *Cluster) Notes(queueName, namespace string) []string {
	notes := slices.Clone(c.QueueNotes[queueName])
	selector, isOfKueue := c.Selectors[queueName]
	add := func(format string, args ...any) {
		notes = append(notes, "ClusterQueue "+queueName+" "+fmt.Sprintf(format, args...))
	}
	switch {
	case !isOfKueue:
		return notes
	case selector == nil:
		add("has no namespaceSelector: it admits workloads of no namespace")
		return notes
	case len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 0:
		return notes // all namespaces
	}
	text := metav1.FormatLabelSelector(selector)
	matches, err := metav1.LabelSelectorAsSelector(selector)
	known, there := c.Namespaces[namespace]
	if !there && onlyByName(selector) { // a label that every namespace has
		known, there = map[string]string{corev1.LabelMetadataName: namespace}, true
	}
	switch {
	case err != nil:
		add("has a namespaceSelector that cannot be read: %v", err)
	case namespace == "":
		add("admits workloads of namespaces with %s only", text)
	case !there:
		add("admits workloads of namespaces with %s only; whether %s is one is not known: it is not in the input", text, namespace)
	case !matches.Matches(labels.Set(known)):
		add("admits workloads of namespaces with %s only, and %s is none", text, namespace)
	}
	return notes
}

// onlyByName reports whether a selector is about the name of namespaces alone.
func onlyByName(s *metav1.LabelSelector) bool {
	for key := range s.MatchLabels {
		if key != corev1.LabelMetadataName {
			return false
		}
	}
	return !slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key != corev1.LabelMetadataName })
}

// addNamespace keeps the labels of a namespace, which have its name as one.
func (b *Builder) addNamespace(o *input.Object) {
	all := map[string]string{corev1.LabelMetadataName: o.Metadata.Name}
	for k, v := range o.Metadata.Labels {
		all[k] = v
	}
	b.c.Namespaces[o.Metadata.Name] = all
}
