package fields

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/api"
	"github.com/cedesched/cede/preemption"
)

var kindsOfKAI = []Kind{
	{Section: "Queue", Type: reflect.TypeFor[kai.Queue](), Base: `{"metadata":{"name":"a"},"spec":{"parentQueue":"dept","resources":{"gpu":{"quota":8}}}}`, Samples: Samples(
		"spec.parentQueue", `"other"`, "spec.preemptMinRuntime", `"5m"`, "spec.reclaimMinRuntime", `"5m"`,
		"spec.resources.cpu.quota", `1000`, "spec.resources.cpu.limit", `2000`, "spec.resources.memory.quota", `5`, "spec.resources.memory.limit", `6`,
		"spec.resources.gpu.quota", `6.5`, "spec.resources.gpu.limit", `9`)},
	{Section: "PodGroup that waits", Type: reflect.TypeFor[kai.PodGroup](), Base: `{"metadata":{"name":"waits","namespace":"n","creationTimestamp":"2026-05-04T08:00:00Z"},
		"spec":{"queue":"a","priorityClassName":"own","preemptionDelay":"1m"},"status":{"resourcesStatus":{"requested":{"nvidia.com/gpu":"2"}}}}`, Samples: Samples(
		"metadata.annotations", `{"kai.scheduler/last-eviction-timestamp":"2026-05-04T09:00:00Z"}`, "spec.queue", `"dept"`, "spec.priorityClassName", `"train"`,
		"spec.preemptibility", `"non-preemptible"`, "spec.minMember", `2`, "spec.preemptionDelay", `"5m"`, "spec.topologyConstraint", `{}`,
		"status.resourcesStatus.requested", `{"nvidia.com/gpu":"3"}`, "status.resourcesStatus.allocated", `{"nvidia.com/gpu":"2"}`)},
	{Section: "PodGroup that runs", Type: reflect.TypeFor[kai.PodGroup](), Base: `{"metadata":{"name":"runs","namespace":"n","creationTimestamp":"2026-05-04T08:00:00Z"},
		"spec":{"queue":"a"},"status":{"resourcesStatus":{"allocated":{"nvidia.com/gpu":"4"}}}}`, Samples: Samples(
		"metadata.annotations", `{"kai.scheduler/last-start-timestamp":"2026-05-04T09:00:00Z"}`, "spec.queue", `"dept"`, "spec.priorityClassName", `"build-preemptible"`,
		"spec.preemptibility", `"non-preemptible"`, "spec.minMember", `2`, "spec.preemptionDelay", `"5m"`, "spec.topologyConstraint", `{}`,
		"status.resourcesStatus.requested", `{"nvidia.com/gpu":"3"}`, "status.resourcesStatus.allocated", `{"nvidia.com/gpu":"2"}`)},
	{Section: "Pod", Type: reflect.TypeFor[kai.Pod](), Base: `{"metadata":{"name":"p","namespace":"n","annotations":{"pod-group-name":"runs"}},"status":{"phase":"Running"}}`,
		Samples: Samples("status.phase", `"Pending"`)},
	{Section: "PriorityClass", Type: reflect.TypeFor[kai.PriorityClass](), Base: `{"metadata":{"name":"own"},"value":60}`, Samples: Samples("value", `70`)},
}

// emptyOf is a new object of a section.
func emptyOfKAI(section string) kai.Object {
	switch kind, _, _ := strings.Cut(section, " "); kind {
	case "Queue":
		return new(kai.Queue)
	case "PodGroup":
		return new(kai.PodGroup)
	case "Pod":
		return new(kai.Pod)
	}
	return new(kai.PriorityClass)
}

// FIELDS.md has each field that is read, and each row of it is true.
func TestFieldsOfKAI(t *testing.T) {
	Check(t, "../../kai/FIELDS.md", nil, kindsOfKAI, func(section string, object []byte) map[string]string {
		var o kai.Objects
		o.Add(&kai.Queue{Metadata: bridge.Metadata{Name: "dept"}})
		o.Add(&kai.Queue{Metadata: bridge.Metadata{Name: "other"}})
		o.Add(&kai.Queue{Metadata: bridge.Metadata{Name: "below"}, Spec: kai.QueueSpec{ParentQueue: "other"}})
		for _, name := range []string{"p2", "p3", "p4"} {
			o.Add(&kai.Pod{Metadata: bridge.Metadata{Name: name, Namespace: "n", Annotations: map[string]string{kai.GroupAnnotation: "runs"}}, Status: kai.PodStatus{Phase: "Running"}})
		}
		for _, kind := range kindsOfKAI {
			text := kind.Base
			if kind.Section == section {
				text = string(object)
			}
			one := emptyOfKAI(kind.Section)
			if err := json.Unmarshal([]byte(text), one); err != nil {
				t.Fatal(err)
			}
			o.Add(one)
		}
		c := o.Cluster()
		if _, err := preemption.NewSnapshot(c.State); err != nil {
			t.Error(err)
		}
		notes := fmt.Sprint(c.Notes, c.QueueNotes)
		for i := range c.Pending {
			notes += strings.Join(bridge.Texts(c.Pending[i].Notes), "")
			c.Pending[i].Notes = nil
		}
		return map[string]string{"state": text(c.State), "pending": text(c.Pending), "notes": notes}
	})
}

func text(of any) string {
	data, err := json.Marshal(of)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// FIELDS.md has each field of the API, read or not.
func TestFieldsOfKAIAPI(t *testing.T) {
	CheckAPI(t, "../../kai/FIELDS.md", map[string][]string{"Queue": api.Paths("kai.Queue"), "PodGroup": api.Paths("kai.PodGroup")})
}
