package fields

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/api"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

const (
	groups    = `"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"4"}]}]}]`
	group     = "spec.resourceGroups[].flavors[]."
	pod       = "spec.podSets[].template.spec."
	asks      = "spec.podSets[].topologyRequest."
	kueueTerm = pod + "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[]."
	held      = "status.admission.podSetAssignments[]."
)

var kindsOfKueue = []Kind{
	{Section: "ClusterQueue", Type: reflect.TypeFor[kueue.ClusterQueue](), Base: `{"metadata":{"name":"q","annotations":{"kueue.x-k8s.io/preemption-config":"hero"}},
		"spec":{"cohortName":"","cohort":"c","namespaceSelector":{"matchLabels":{"team":"a"}},` + groups + `,
			"flavorFungibility":{"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor"},
			"preemption":{"withinClusterQueue":"LowerOrNewerEqualPriority","reclaimWithinCohort":"Any","borrowWithinCohort":{"policy":"LowerPriority"}}},
		"status":{"conditions":[{"type":"Active","status":"False","reason":"r","message":"m"}]}}`, Samples: Samples(
		"metadata.annotations", `{}`, "spec.cohortName", `"d"`, "spec.cohort", `"d"`, group+"name", `"g"`, group+"resources[].name", `"gpu"`, group+"resources[].nominalQuota", `"5"`,
		group+"resources[].borrowingLimit", `"1"`, group+"resources[].lendingLimit", `"1"`, "spec.preemption.withinClusterQueue", `"LowerPriority"`,
		"spec.preemption.reclaimWithinCohort", `"LowerPriority"`, "spec.preemption.withinClusterQueueConfig.minAdmitDuration", `"5m"`,
		"spec.preemption.borrowWithinCohort.policy", `"Never"`, "spec.preemption.borrowWithinCohort.maxPriorityThreshold", `7`,
		"spec.flavorFungibility.whenCanBorrow", `"Borrow"`, "spec.flavorFungibility.whenCanPreempt", `"Preempt"`,
		"spec.flavorFungibility.preference", `"PreemptionOverBorrowing"`, "spec.fairSharing.weight", `"2"`, "spec.stopPolicy", `"Hold"`,
		"spec.queueingStrategy", `"StrictFIFO"`, "spec.namespaceSelector", `{"matchLabels":{"team":"b"}}`, "spec.admissionChecks[]", `"check"`,
		"spec.admissionChecksStrategy.admissionChecks[].name", `"check"`, "status.conditions[].type", `"Ready"`, "status.conditions[].status", `"True"`,
		"status.conditions[].reason", `"x"`, "status.conditions[].message", `"x"`, "status.fairSharing", `{"weightedShare":1}`)},
	{Section: "Cohort", Type: reflect.TypeFor[kueue.Cohort](), Base: `{"metadata":{"name":"c"},"spec":{"parent":"p",` + groups + `},"status":{}}`, Samples: Samples(
		"spec.parentName", `"x"`, "spec.parent", `"x"`, group+"name", `"g"`, group+"resources[].name", `"gpu"`, group+"resources[].nominalQuota", `"5"`,
		group+"resources[].borrowingLimit", `"1"`, group+"resources[].lendingLimit", `"1"`, "spec.fairSharing.weight", `"2"`,
		"status.conditions[].type", `"Active"`, "status.fairSharing", `{}`)},
	{Section: "LocalQueue", Type: reflect.TypeFor[kueue.LocalQueue](), Base: `{"metadata":{"name":"lq","namespace":"n"},"spec":{"clusterQueue":"q"},
		"status":{"conditions":[{"type":"Active","status":"False","reason":"r","message":"m"}]}}`, Samples: Samples(
		"spec.clusterQueue", `"gone"`, "spec.stopPolicy", `"Hold"`, "status.conditions[].type", `"Ready"`, "status.conditions[].status", `"True"`,
		"status.conditions[].reason", `"x"`, "status.conditions[].message", `"x"`, "status.fairSharing", `{}`)},
	{Section: "ResourceFlavor", Type: reflect.TypeFor[kueue.ResourceFlavor](), Base: `{"metadata":{"name":"f"},
		"spec":{"topologyName":"t","nodeTaints":[{"key":"k","value":"v","effect":"NoSchedule"}],"tolerations":[{"key":"k","operator":"Equal"}]}}`, Samples: Samples(
		"spec.nodeLabels", `{"a":"b"}`, "spec.nodeTaints[].key", `"x"`, "spec.nodeTaints[].value", `"x"`, "spec.nodeTaints[].effect", `"NoExecute"`,
		"spec.tolerations[].key", `"x"`, "spec.tolerations[].operator", `"Gt"`, "spec.tolerations[].value", `"x"`, "spec.tolerations[].effect", `"NoSchedule"`,
		"spec.topologyName", `"x"`)},
	{Section: "Topology", Type: reflect.TypeFor[kueue.Topology](), Base: `{"metadata":{"name":"t"},"spec":{"levels":[{"nodeLabel":"rack"}]}}`, Samples: Samples(
		"spec.levels[].nodeLabel", `"x"`)},
	{Section: "Workload that waits", Type: reflect.TypeFor[kueue.Workload](), Base: `{"metadata":{"name":"waits","namespace":"n","creationTimestamp":"2026-05-04T08:00:00Z"},
		"spec":{"queueName":"lq","preemptionGates":[{"name":"g"}],"podSets":[{"name":"main","count":4,"minCount":1,"template":{"spec":{
			"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}]}}},
			"tolerations":[{"key":"k"}],
			"containers":[{"resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"resources":{"requests":{"cpu":"2"}}}]}}}]},
		"status":{"conditions":[{"type":"Evicted","status":"True","reason":"PodsReadyTimeout","lastTransitionTime":"2026-05-04T08:30:00Z"}],
			"reclaimablePods":[{"name":"main","count":1}],"resourceRequests":[{"name":"none","resources":{"cpu":"9"}}],
			"preemptionGates":[{"name":"g","lastTransitionTime":"2026-05-04T08:10:00Z"}],"admissionChecks":[{"name":"c","state":"Retry"}]}}`, Samples: Samples(
		"metadata.annotations", `{"kueue.x-k8s.io/priority-boost":"5","kueue.x-k8s.io/workload-slice-replacement-for":"n/old"}`,
		"spec.queueName", `"gone"`, "spec.active", `false`, "spec.priority", `7`, "spec.preemptionGates[].name", `"h"`, "spec.podSets[].name", `"x"`,
		"spec.priorityClassRef.name", `"prod"`, "spec.priorityClassName", `"prod"`,
		"spec.podSets[].count", `5`, "spec.podSets[].minCount", `2`, asks+"required", `"host"`, asks+"preferred", `"host"`, asks+"unconstrained", `true`,
		asks+"podSetSliceRequiredTopology", `"host"`, asks+"podSetGroupName", `"g"`, asks+"podsetSliceRequiredTopologyConstraints[]", `{}`, pod+"nodeSelector", `{"a":"b"}`, kueueTerm+"matchExpressions[].key", `"x"`,
		kueueTerm+"matchExpressions[].operator", `"NotIn"`, kueueTerm+"matchExpressions[].values[]", `"x"`, kueueTerm+"matchFields[].key", `"metadata.name"`,
		pod+"affinity.podAffinity", `{}`, pod+"affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].topologyKey", `"zone"`,
		pod+"tolerations[].key", `"x"`, pod+"tolerations[].operator", `"Exists"`, pod+"containers[].resources.requests", `{"cpu":"3"}`,
		pod+"containers[].resources.limits", `{"memory":"1Gi"}`, pod+"initContainers[].resources.requests", `{"cpu":"3"}`,
		pod+"initContainers[].resources.limits", `{"memory":"1Gi"}`, pod+"initContainers[].restartPolicy", `"Always"`, pod+"overhead", `{"cpu":"1"}`,
		pod+"resources.requests", `{"cpu":"9"}`, pod+"resources.limits", `{"cpu":"9"}`, pod+"containers[].name", `"x"`, pod+"containers[].restartPolicy", `"Always"`,
		pod+"containers[].ports[].hostPort", `80`, pod+"initContainers[].name", `"x"`, pod+"initContainers[].ports[].hostPort", `80`, pod+"nodeName", `"x"`,
		pod+"priority", `7`, pod+"priorityClassName", `"x"`, pod+"preemptionPolicy", `"Never"`, pod+"schedulingGroup.podGroupName", `"x"`, pod+"workloadRef", `{}`,
		pod+"schedulingGates[].name", `"x"`, pod+"volumes[].persistentVolumeClaim", `{}`, pod+"topologySpreadConstraints[]", `{}`, pod+"resourceClaims[].name", `"x"`, pod+"resourceClaims[].resourceClaimName", `"x"`,
		"status.conditions[].type", `"Requeued"`, "status.conditions[].status", `"False"`, "status.conditions[].reason", `"Preempted"`,
		"status.conditions[].lastTransitionTime", `"2026-05-04T08:40:00Z"`, "status.admission.clusterQueue", `"q"`, "status.reclaimablePods[].name", `"x"`,
		"status.reclaimablePods[].count", `2`, "status.resourceRequests[].name", `"main"`, "status.preemptionGates[].state", `"Open"`,
		"status.preemptionGates[].position", `"Open"`,
		"status.requeueState.requeueAt", `"2026-05-04T08:50:00Z"`, "status.admissionChecks[].name", `"x"`, "status.admissionChecks[].state", `"Rejected"`)},
	{Section: "Workload that holds quota", Type: reflect.TypeFor[kueue.Workload](), Base: `{"metadata":{"name":"runs","namespace":"n","creationTimestamp":"2026-05-04T08:00:00Z"},
		"spec":{"queueName":"lq","podSets":[{"name":"main","count":4}]},
		"status":{"conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-05-04T08:30:00Z"}],
			"reclaimablePods":[{"name":"main","count":3}],
			"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","count":2,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"2"}}]}}}`, Samples: Samples(
		"metadata.annotations", `{"kueue.x-k8s.io/priority-boost":"5"}`, "spec.queueName", `"gone"`, "spec.active", `false`, "spec.priority", `7`,
		"spec.priorityClassRef.name", `"prod"`, "spec.priorityClassName", `"prod"`,
		"spec.preemptionGates[].name", `"h"`, "spec.podSets[].name", `"x"`, "spec.podSets[].count", `3`, "spec.podSets[].minCount", `2`,
		asks+"required", `"host"`,
		pod+"containers[].resources.requests", `{"cpu":"3"}`, "status.conditions[].type", `"Finished"`, "status.conditions[].status", `"False"`,
		"status.conditions[].reason", `"x"`, "status.conditions[].lastTransitionTime", `"2026-05-04T08:40:00Z"`, "status.admission.clusterQueue", `"gone"`,
		held+"name", `"x"`, held+"count", `4`, held+"flavors", `{"cpu":"g"}`, held+"resourceUsage", `{"cpu":"6"}`, held+"topologyAssignment[]", `{"levels":["host"]}`, "status.reclaimablePods[].name", `"x"`,
		"status.reclaimablePods[].count", `2`, "status.resourceRequests[].name", `"main"`, "status.preemptionGates[].name", `"x"`,
		"status.requeueState.requeueAt", `"2026-05-04T08:50:00Z"`, "status.admissionChecks[].state", `"Rejected"`)},
	{Section: "Namespace", Type: reflect.TypeFor[kueue.Namespace](), Base: `{"metadata":{"name":"n","labels":{"team":"a"}}}`, Samples: Metadata},
	{Section: "PreemptionConfig", Type: reflect.TypeFor[plainConfig](), Base: `{"metadata":{"name":"hero"},"spec":{"rules":[{"name":"r",
		"activationPolicy":{"trigger":"Always"},"candidateSelectors":[{"scope":"WithinClusterQueue","numericLabels":[{"key":"size"}],"priority":{"mode":"Base","comparison":"LessThan"}}]}]}}`, Samples: Samples(
		"spec.rules[].name", `"s"`, "spec.rules[].activationPolicy.trigger", `"InsufficientQuota"`, "spec.rules[].preemptorSelector", `{"matchLabels":{"a":"b"}}`,
		"spec.rules[].preemptorPriorityClassSelector.matchNames[]", `"prod"`, "spec.rules[].candidateSelectors[].scope", `"AnyClusterQueue"`,
		"spec.rules[].candidateSelectors[].numericLabels[].fallbackValue", `3`, "spec.rules[].candidateSelectors[].priority.mode", `"Boosted"`,
		"spec.rules[].candidateSelectors[].priority.notMatchNames[]", `"prod"`, "spec.rules[].candidateSelectors[].time.minExecutionDuration", `"5m"`,
		"spec.rules[].activationPolicy.minTriggerRequiredDuration", `"2h"`, "spec.ordering[].key", `"Priority"`)},
	{Section: "PreemptionLimit", Type: reflect.TypeFor[plainLimit](), Base: `{"metadata":{"name":"few"},"spec":{"scope":"Global","limit":3,"window":"1h"}}`, Samples: Samples(
		"spec.scope", `"PreemptedWorkload"`, "spec.limit", `0`, "spec.window", `"2h"`, "spec.configs[]", `"hero"`, "spec.rules[]", `"r"`,
		"spec.preemptingClusterQueueSelector", `{"matchLabels":{"a":"b"}}`, "spec.preemptedClusterQueueSelector", `{}`)},
	{Section: "Configuration", Type: reflect.TypeFor[kueue.Configuration](), Base: `{"apiVersion":"config.kueue.x-k8s.io/v1beta2","fairSharing":{}}`, Samples: map[string]string{
		"apiVersion": `"config.kueue.x-k8s.io/v1beta1"`, "fairSharing.enable": `false`, "fairSharing.preemptionStrategies[]": `"LessThanInitialShare"`, "admissionFairSharing": `{}`,
		"resources.excludeResourcePrefixes[]": `"cp"`, "resources.transformations[]": `{}`}},
}

// The fields of objects that list what is not known of them.
type (
	plainConfig struct {
		Metadata bridge.Metadata `json:"metadata"`
		Spec     rules.Config    `json:"spec"`
	}
	plainLimit struct {
		Metadata bridge.Metadata `json:"metadata"`
		Spec     limits.Limit    `json:"spec"`
	}
)

// emptyOf is a new object of a section.
func emptyOfKueue(section string) kueue.Object {
	switch kind, _, _ := strings.Cut(section, " "); kind {
	case "ClusterQueue":
		return new(kueue.ClusterQueue)
	case "Cohort":
		return new(kueue.Cohort)
	case "LocalQueue":
		return new(kueue.LocalQueue)
	case "ResourceFlavor":
		return new(kueue.ResourceFlavor)
	case "Topology":
		return new(kueue.Topology)
	case "Workload":
		return new(kueue.Workload)
	case "Namespace":
		return new(kueue.Namespace)
	case "PreemptionConfig":
		return new(kueue.PreemptionConfig)
	case "PreemptionLimit":
		return new(kueue.PreemptionLimit)
	}
	return new(kueue.Configuration)
}

// FIELDS.md has each field that is read, and each row of it is true.
func TestFieldsOfKueue(t *testing.T) {
	Check(t, "../../kueue/FIELDS.md", []reflect.Type{reflect.TypeFor[bridge.LabelSelector](), reflect.TypeFor[workload.LabelSelector]()}, kindsOfKueue, func(section string, object []byte) map[string]string {
		var o kueue.Objects
		for _, kind := range kindsOfKueue {
			text := kind.Base
			switch {
			case kind.Section == section:
				text = string(object)
			case kind.Section == "Configuration": // it hides what the others say
				continue
			}
			one := emptyOfKueue(kind.Section)
			if err := json.Unmarshal([]byte(text), one); err != nil {
				t.Fatal(err)
			}
			if _, err := o.Add(one); err != nil {
				return map[string]string{"refused": err.Error()}
			}
		}
		c := o.Cluster()
		if _, err := preemption.NewSnapshot(c.State); err != nil {
			t.Error(err)
		}
		isDoubt := func(n bridge.Note) bool {
			return slices.ContainsFunc(c.Doubts, func(d bridge.Doubt) bool { return d.Note == n })
		}
		c.Notes = slices.DeleteFunc(c.Notes, isDoubt)
		notes := fmt.Sprint(c.Notes, c.QueueNotes, bridge.Texts(c.NotesOn("q", "n")))
		for i := range c.Pending {
			notes += strings.Join(bridge.Texts(slices.DeleteFunc(c.Pending[i].Notes, isDoubt)), "")
			c.Pending[i].Notes, c.Pending[i].LocalNotes = nil, nil
		}
		for i := range c.LocalQueues {
			notes += strings.Join(bridge.Texts(c.LocalQueues[i].Notes), "")
			c.LocalQueues[i].Notes = nil
		}
		return map[string]string{
			"doubts": text(c.Doubts), "state": text(c.State), "pending": text(c.Pending), "notes": notes,
			"facts": text([]any{c.Finished, c.LocalQueues, c.Topologies, c.Sharing, c.Selectors, c.Namespaces, c.Limits, c.Places}),
		}
	})
}

// FIELDS.md has each field of the API, read or not.
func TestFieldsOfKueueAPI(t *testing.T) {
	apis := map[string][]string{}
	for _, kind := range []string{"ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology", "Workload", "Namespace", "Configuration"} {
		apis[kind] = api.Paths(kind)
	}
	CheckAPI(t, "../../kueue/FIELDS.md", apis)
}
