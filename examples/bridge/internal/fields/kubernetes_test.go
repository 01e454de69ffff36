package fields

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/internal/api"
	"github.com/cedesched/cede/workload"
)

const (
	term = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[]."
	anti = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[]."
	// spec is what the pod that waits and the one that runs have in common: they keep each other
	// away by a port, and others by their labels.
	spec = `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]}]}},
		"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","namespaceSelector":{"matchLabels":{"team":"x"}},"labelSelector":{"matchLabels":{"app":"db"}}}]}},
		"tolerations":[{"key":"k","operator":"Exists"}],"resourceClaims":[{"resourceClaimName":"k"}],
		"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}},"ports":[{"hostPort":80,"hostIP":"10.0.0.2"}]}],"initContainers":[{"name":"i","resources":{"requests":{"cpu":"1"}}}]`
)

// ofPods is a sample of each field that a spec and a status of a pod have.
func ofPods(more ...string) map[string]string {
	return Samples(append([]string{
		"spec.priority", `7`, "spec.priorityClassName", `"gone"`, "spec.preemptionPolicy", `"Never"`, "spec.nodeSelector", `{"zone":"b"}`,
		term + "matchExpressions[].values[]", `"b"`, "spec.affinity.podAffinity", `{}`, anti + "labelSelector", `{"matchLabels":{"app":"web"}}`,
		anti + "namespaces[]", `"m"`, anti + "topologyKey", `"rack"`, anti + "namespaceSelector", `{}`, "spec.tolerations[].key", `"x"`,
		"spec.containers[].name", `"x"`, "spec.containers[].restartPolicy", `"Always"`, "spec.containers[].resources.requests", `{"cpu":"2"}`,
		"spec.containers[].resources.limits", `{"memory":"1Gi"}`, "spec.initContainers[].resources.requests", `{"cpu":"3"}`, "spec.initContainers[].restartPolicy", `"Always"`,
		"spec.initContainers[].name", `"x"`, "spec.containers[].ports[].hostPort", `81`, "spec.containers[].ports[].hostIP", `"10.0.0.1"`,
		"spec.containers[].ports[].protocol", `"UDP"`, "spec.initContainers[].ports[].hostPort", `82`, "spec.overhead", `{"cpu":"1"}`,
		"spec.resources.requests", `{"cpu":"9"}`, "spec.resources.limits", `{"cpu":"9"}`, "spec.schedulingGates[].name", `"g"`,
		"spec.volumes[].persistentVolumeClaim", `{}`, "spec.topologySpreadConstraints[]", `{}`, "spec.resourceClaims[].resourceClaimName", `"other"`, "spec.resourceClaims[].name", `"made"`, "spec.workloadRef", `{}`,
		"status.resourceClaimStatuses[].name", `"made"`, "status.resourceClaimStatuses[].resourceClaimName", `"made"`,
		"status.phase", `"Succeeded"`, "status.startTime", `"2026-05-04T07:00:00Z"`,
	}, more...)...)
}

var kindsOfKubernetes = []Kind{
	{Section: "Node", Type: reflect.TypeFor[kubernetes.Node](), Base: `{"metadata":{"name":"n0","labels":{"zone":"a"}},
		"spec":{"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"4","pods":"10"}}}`, Samples: Samples(
		"spec.unschedulable", `true`, "spec.taints[].key", `"x"`, "status.allocatable", `{"cpu":"5"}`, "status.capacity", `{"cpu":"6"}`)},
	{Section: "Pod that waits", Type: reflect.TypeFor[kubernetes.Pod](), Base: `{"metadata":{"name":"waits","namespace":"n","labels":{"app":"db"}},
		"spec":{"priorityClassName":"own",` + spec + `},"status":{"containerStatuses":[{"name":"c"}],"initContainerStatuses":[{"name":"i"}]}}`, Samples: ofPods(
		"spec.nodeName", `"gone"`, "spec.schedulingGroup.podGroupName", `"gone"`, "status.nominatedNodeName", `"n0"`, "status.conditions[].type", `"Ready"`,
		"status.containerStatuses[].allocatedResources", `{"cpu":"9"}`, "status.initContainerStatuses[].allocatedResources", `{"cpu":"9"}`)},
	{Section: "Pod that runs", Type: reflect.TypeFor[kubernetes.Pod](), Base: `{"metadata":{"name":"runs","namespace":"n","labels":{"app":"db"},"deletionTimestamp":"2026-05-04T09:00:00Z",
			"ownerReferences":[{"kind":"Job","controller":true}]},
		"spec":{"nodeName":"n0",` + spec + `},"status":{"phase":"Running","startTime":"2026-05-04T08:00:00Z",
			"conditions":[{"status":"True","reason":"PreemptionByScheduler"}],"containerStatuses":[{"name":"c"}],"initContainerStatuses":[{"name":"i"}]}}`, Samples: ofPods(
		"spec.nodeName", `"gone"`, "metadata.deletionTimestamp", `null`, "metadata.ownerReferences[].controller", `false`, "spec.schedulingGroup.podGroupName", `"g"`, "status.nominatedNodeName", `"n0"`, "status.conditions[].type", `"DisruptionTarget"`,
		"status.containerStatuses[].allocatedResources", `{"cpu":"9"}`, "status.initContainerStatuses[].allocatedResources", `{"cpu":"9"}`)},
	{Section: "PodDisruptionBudget", Type: reflect.TypeFor[kubernetes.PodDisruptionBudget](), Base: `{"metadata":{"name":"b","namespace":"n"}}`, Samples: Samples(
		"spec.selector", `{"matchLabels":{"app":"db"}}`, "status.disruptionsAllowed", `2`, "status.disruptedPods", `{"x":"2026-05-04T07:00:00Z"}`)},
	{Section: "PriorityClass", Type: reflect.TypeFor[kubernetes.PriorityClass](), Base: `{"metadata":{"name":"own"},"value":5}`, Samples: Samples(
		"value", `6`, "globalDefault", `true`, "preemptionPolicy", `"Never"`)},
	{Section: "PodGroup", Type: reflect.TypeFor[kubernetes.PodGroup](), Base: `{"metadata":{"name":"g","namespace":"n"},"spec":{"priority":3,"schedulingPolicy":{"gang":{"minCount":1}}}}`, Samples: Samples(
		"spec.priority", `4`, "spec.priorityClassName", `"own"`, "spec.preemptionPolicy", `"Never"`, "spec.disruptionMode", `"PodGroup"`,
		"spec.schedulingPolicy.disruptionMode", `{"all":{}}`, "spec.schedulingPolicy.gang.disruptionMode", `"All"`, "spec.schedulingPolicy.gang.minCount", `2`,
		"spec.schedulingConstraints.topology[].key", `"zone"`, "spec.parentCompositePodGroupName", `"top"`)},
	{Section: "CompositePodGroup", Type: reflect.TypeFor[kubernetes.CompositePodGroup](), Base: `{"metadata":{"name":"top","namespace":"n"},"spec":{"priority":3,"schedulingPolicy":{"gang":{"minGroupCount":1}}}}`, Samples: Samples(
		"spec.priority", `4`, "spec.priorityClassName", `"own"`, "spec.preemptionPolicy", `"Never"`, "spec.disruptionMode", `{"all":{}}`,
		"spec.schedulingPolicy.gang.minGroupCount", `2`, "spec.schedulingConstraints.topology[].key", `"zone"`, "spec.parentCompositePodGroupName", `"p"`)},
	{Section: "ResourceClaim", Type: reflect.TypeFor[kubernetes.ResourceClaim](), Base: `{"metadata":{"name":"k","namespace":"n"},
		"spec":{"devices":{"requests":[{"exactly":{"deviceClassName":"gpus","count":2}}]}}}`, Samples: Samples(
		"spec.devices.requests[].exactly.deviceClassName", `"gone"`, "spec.devices.requests[].exactly.selectors[]", `{}`,
		"spec.devices.requests[].exactly.allocationMode", `"All"`, "spec.devices.requests[].exactly.count", `3`,
		"spec.devices.requests[].exactly.adminAccess", `true`, "spec.devices.requests[].firstAvailable[]", `{}`, "spec.devices.constraints[]", `{}`, "spec.devices.requests[].exactly.capacity", `{}`,
		"status.allocation.devices.results[].driver", `"d"`, "status.allocation.devices.results[].adminAccess", `true`)},
	{Section: "ResourceSlice", Type: reflect.TypeFor[kubernetes.ResourceSlice](), Base: `{"metadata":{"name":"s"},
		"spec":{"driver":"d","nodeName":"n0","pool":{"name":"n0","generation":2},"devices":[{},{}]}}`, Samples: Samples(
		"spec.driver", `"e"`, "spec.nodeName", `"gone"`, "spec.pool.name", `"p"`, "spec.pool.generation", `1`,
		"spec.devices[].consumesCounters[]", `{}`, "spec.devices[].allowMultipleAllocations", `true`, "spec.devices[].taints[]", `{}`)},
	{Section: "DeviceClass", Type: reflect.TypeFor[kubernetes.DeviceClass](), Base: `{"metadata":{"name":"gpus"},
		"spec":{"selectors":[{"cel":{"expression":"device.driver == 'd'"}}]}}`, Samples: Samples(
		"spec.selectors[].cel.expression", `"device.driver == 'e'"`, "spec.extendedResourceName", `"x.io/gpu"`)},
	{Section: "Namespace", Type: reflect.TypeFor[kubernetes.Namespace](), Base: `{"metadata":{"name":"n","labels":{"team":"x"}}}`, Samples: Metadata},
}

// emptyOf is a new object of a section.
func emptyOfKubernetes(section string) kubernetes.Object {
	switch kind, _, _ := strings.Cut(section, " "); kind {
	case "Node":
		return new(kubernetes.Node)
	case "Pod":
		return new(kubernetes.Pod)
	case "PodDisruptionBudget":
		return new(kubernetes.PodDisruptionBudget)
	case "PriorityClass":
		return new(kubernetes.PriorityClass)
	case "PodGroup":
		return new(kubernetes.PodGroup)
	case "CompositePodGroup":
		return new(kubernetes.CompositePodGroup)
	case "ResourceClaim":
		return new(kubernetes.ResourceClaim)
	case "ResourceSlice":
		return new(kubernetes.ResourceSlice)
	case "DeviceClass":
		return new(kubernetes.DeviceClass)
	}
	return new(kubernetes.Namespace)
}

// FIELDS.md has each field that is read, and each row of it is true.
func TestFieldsOfKubernetes(t *testing.T) {
	Check(t, "../../kubernetes/FIELDS.md", []reflect.Type{reflect.TypeFor[bridge.LabelSelector]()}, kindsOfKubernetes, func(section string, object []byte) map[string]string {
		var o kubernetes.Objects
		for _, kind := range kindsOfKubernetes {
			text := kind.Base
			if kind.Section == section {
				text = string(object)
			}
			one := emptyOfKubernetes(kind.Section)
			if err := json.Unmarshal([]byte(text), one); err != nil {
				t.Fatal(err)
			}
			o.Add(one)
		}
		member := &kubernetes.Pod{Metadata: bridge.Metadata{Name: "member", Namespace: "n"}}
		member.Spec.Tolerations = []bridge.Toleration{{Key: "k", Operator: "Exists"}}
		member.Spec.SchedulingGroup.PodGroupName = "g"
		o.Add(member)
		part := &kubernetes.Pod{Metadata: bridge.Metadata{Name: "part", Namespace: "n"}}
		part.Spec.Tolerations, part.Spec.SchedulingGroup.PodGroupName = member.Spec.Tolerations, "below"
		o.Add(part)
		below := &kubernetes.PodGroup{Metadata: bridge.Metadata{Name: "below", Namespace: "n"}}
		below.Spec.Parent = "top"
		o.Add(below)
		c := o.Cluster()
		filter, notes := o.Filter()
		all := fmt.Sprint(c.Notes, notes)
		for i := range c.Pending {
			all += strings.Join(bridge.Texts(c.Pending[i].Notes), "")
			c.Pending[i].Notes = nil
		}
		before := text(c.State)
		if _, err := c.Snapshot(); err != nil || text(c.State) != before {
			t.Errorf("%s is refused: %v, %v", before, err, c.Notes)
		}
		for _, d := range c.Doubts { // about slices there are no notes
			if d.Object == "ResourceSlice s" {
				all += d.Text
			}
		}
		return map[string]string{"state": before, "pending": fmt.Sprintf("%+v", c.Pending), "notes": all, "filter": conflicts(filter)}
	})
}

// conflicts lists which pods keep each other away, by labels and without: then by ports alone.
func conflicts(f *kubernetes.Filter) string {
	if f == nil {
		return "no filter"
	}
	var list []string
	for _, labels := range []map[string]string{{"app": "db"}, nil} {
		var all []workload.Pod
		for _, id := range []string{"n/waits", "n/runs", "n/new", "m/new"} {
			namespace, _, _ := strings.Cut(id, "/")
			all = append(all, workload.Pod{ID: id, Namespace: namespace, Labels: labels, Node: "n0"})
		}
		for i, a := range all {
			for _, b := range all[i+1:] {
				list = append(list, fmt.Sprint(a.ID, b.ID, f.Conflict(a, b), f.Conflict(b, a)))
			}
		}
	}
	return fmt.Sprint(list, f.Reach())
}

// FIELDS.md has each field of the API, read or not.
func TestFieldsOfKubernetesAPI(t *testing.T) {
	apis := map[string][]string{"PodGroup": api.Paths("scheduling.PodGroup"), "CompositePodGroup": api.Paths("CompositePodGroup"), "ResourceClaim": api.Paths("resource.ResourceClaim")}
	for _, kind := range []string{"Node", "Pod", "PodDisruptionBudget", "PriorityClass", "Namespace", "ResourceSlice", "DeviceClass"} {
		apis[kind] = api.Paths(kind)
	}
	CheckAPI(t, "../../kubernetes/FIELDS.md", apis)
}
