package kueue_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
)

// What is in no namespace has its name alone as key: one with a namespace is the same object.
func TestNoNamespace(t *testing.T) {
	rules := `"spec":{"rules":[]}`
	limit := `"spec":{"scope":"Global","limit":3,"window":"1h"}`
	of := func(id string) []string {
		return []string{item("ClusterQueue", id, ""), item("Cohort", id, ""), item("ResourceFlavor", id, ""),
			itemOf("kueue.x-k8s.io/v1alpha1", "PreemptionConfig", id, rules), itemOf("kueue.x-k8s.io/v1alpha1", "PreemptionLimit", id, limit)}
	}
	c := mustRead(t, list(append(of("a"), of("n/a")...)...))
	if len(c.Warnings) != 1 || c.Warnings[0] != "ClusterQueue n/a and 4 more: is in the input more than once: the last one counts" || len(c.State.Queues) != 1 || len(c.State.Cohorts) != 1 || len(c.State.Flavors) != 1 || len(c.State.Rules) != 1 || len(c.Limits) != 1 {
		t.Errorf("%q, %+v", c.Warnings, c.State)
	}
	if _, err := preemption.NewSnapshot(c.State); err != nil {
		t.Error(err)
	}
}
