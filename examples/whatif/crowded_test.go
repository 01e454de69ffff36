package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// crowded is a cluster as companies have them, with names as programs make them: 30 queues below a tree of cohorts, 200 workloads, two
// flavors, one of which is placed by a topology, six resources. One that waits needs many others to yield; of the others some fit,
// some do not, some are held, and of one the answer is unknown.
func crowded() string {
	var b strings.Builder
	for _, o := range append(append(crowdedQuotas(), crowdedRunning()...), crowdedWaiting()...) {
		text, _ := json.Marshal(o)
		b.Write(append(text, '\n'))
	}
	return b.String()
}

type fields = map[string]any

const (
	reserved = "h100-sxm5-80gb-reserved"
	spot     = "a100-sxm4-40gb-spot"
)

var crowdedCohorts = []string{"foundation-models", "vision-and-robotics", "recommendations", "data-platform", "shared-services"}

// crowdedQueue is the name of a queue: of each cohort there are six.
func crowdedQueue(i int) string {
	teams := []string{"pretraining", "finetuning", "evaluation", "batch-inference", "notebooks", "nightly"}
	return crowdedCohorts[i/6] + "-" + teams[i%6]
}

// crowdedName is a name as a program makes it of a job: kind, project, run, hash.
func crowdedName(kind string, i int) string {
	projects := []string{"llama-70b-longcontext-sft", "detr-panoptic-distill", "two-tower-retrieval-v3", "spark-feature-backfill", "whisper-large-multilingual", "diffusion-upscaler-ablation"}
	return fmt.Sprintf("%s-%s-run-%04d-%05x", kind, projects[i%len(projects)], 1000+i*37%9000, (int64(i)*2654435761+12345)%0xfffff)
}

// crowdedAmounts are amounts of all six resources for some GPUs.
func crowdedAmounts(gpus int) fields {
	return fields{
		"cpu": fmt.Sprintf("%dm", gpus*8500), "memory": fmt.Sprintf("%dGi", gpus*64), "ephemeral-storage": fmt.Sprintf("%dGi", gpus*100),
		"nvidia.com/gpu": gpus, "rdma/hca-shared-devices": gpus, "example.com/gpu-memory": fmt.Sprintf("%dGi", gpus*40),
	}
}

func ofCrowd(apiVersion, kind, namespace, name string, more fields) fields {
	o := fields{"apiVersion": apiVersion, "kind": kind, "metadata": fields{"name": name, "namespace": namespace, "uid": kind + namespace + name}}
	for k, v := range more {
		o[k] = v
	}
	return o
}

func crowdedQuotas() (list []fields) {
	add := func(kind, namespace, name string, spec fields) {
		list = append(list, ofCrowd("kueue.x-k8s.io/v1beta2", kind, namespace, name, fields{"spec": spec}))
	}
	add("Topology", "", "gpu-fabric", fields{"levels": []fields{{"nodeLabel": "topology.example.com/rack"}, {"nodeLabel": "kubernetes.io/hostname"}}})
	add("ResourceFlavor", "", reserved, fields{"nodeLabels": fields{"pool": "h100"}, "topologyName": "gpu-fabric"})
	add("ResourceFlavor", "", spot, fields{"nodeLabels": fields{"pool": "a100"}})
	add("Cohort", "", "ml-platform", fields{})
	for _, name := range crowdedCohorts {
		add("Cohort", "", name, fields{"parentName": "ml-platform"})
	}
	for i := range 30 {
		policy := fields{"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
		if i%6 == 5 {
			policy = fields{"withinClusterQueue": "LowerOrNewerEqualPriority", "withinClusterQueueConfig": fields{"minAdmitDuration": "12h"}, "reclaimWithinCohort": "LowerPriority"}
		}
		stop := "None"
		if i == 28 {
			stop = "Hold"
		}
		var flavors []fields
		covered := []string{"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "rdma/hca-shared-devices", "example.com/gpu-memory"}
		of := map[string]int{reserved: 32, spot: 11}
		if i == 0 {
			of[spot] = 144
		}
		for _, flavor := range []string{reserved, spot} {
			gpus := of[flavor]
			var resources []fields
			for _, name := range covered {
				resources = append(resources, fields{"name": name, "nominalQuota": crowdedAmounts(gpus)[name]})
			}
			flavors = append(flavors, fields{"name": flavor, "resources": resources})
		}
		add("ClusterQueue", "", crowdedQueue(i), fields{"cohortName": crowdedCohorts[i/6], "namespaceSelector": fields{}, "preemption": policy, "stopPolicy": stop,
			"resourceGroups": []fields{{"coveredResources": covered, "flavors": flavors}}})
		add("LocalQueue", "team-"+crowdedQueue(i), "user-queue", fields{"clusterQueue": crowdedQueue(i)})
	}
	for i := range 16 {
		host := fmt.Sprintf("ip-10-42-%d-%d.eu-central-1.compute.internal", i/4, i%4)
		has := crowdedAmounts(24)
		has["nvidia.com/gpu"], has["pods"] = 8, 110
		node := ofCrowd("v1", "Node", "", host, fields{"status": fields{"allocatable": has, "conditions": []fields{{"type": "Ready", "status": "True"}}}})
		node["metadata"].(fields)["labels"] = fields{"pool": "h100", "topology.example.com/rack": fmt.Sprintf("rack-%d", i/4), "kubernetes.io/hostname": host}
		list = append(list, node)
	}
	return append(list, ofCrowd("v1", "Pod", "monitoring", "node-exporter-x7k2p", fields{"spec": fields{"nodeName": "ip-10-42-0-0.eu-central-1.compute.internal",
		"containers": []fields{{"name": "c", "resources": fields{"requests": fields{"cpu": "100m"}}}}}, "status": fields{"phase": "Running"}}))
}

// crowdedRunning are 150 workloads that run: half of them small ones of one queue, which borrow.
func crowdedRunning() (list []fields) {
	for i := range 150 {
		queue, gpus, kind, priority := i%30, 2, "pytorchjob", 100*(i%5)
		switch {
		case i < 75: // they hold what others lend
			queue, gpus, kind, priority = 3, 4, "job", 50
		case i%3 == 0:
			kind = "rayjob"
		}
		flavors := fields{}
		for name := range crowdedAmounts(gpus) {
			flavors[name] = spot
		}
		since := time.Date(2026, 11, 20, i%12, i*7%60, 0, 0, time.UTC)
		w := ofCrowd("kueue.x-k8s.io/v1beta2", "Workload", "team-"+crowdedQueue(queue), crowdedName(kind, i), fields{
			"spec": fields{"queueName": "user-queue", "priority": priority, "podSets": []fields{{"name": "main", "count": 1}}},
			"status": fields{"conditions": []fields{{"type": "QuotaReserved", "status": "True", "lastTransitionTime": since}},
				"admission": fields{"clusterQueue": crowdedQueue(queue), "podSetAssignments": []fields{{"name": "main", "count": 1, "flavors": flavors, "resourceUsage": crowdedAmounts(gpus)}}}},
		})
		list = append(list, ownedInCrowd(w, "Job", i, since))
	}
	return list
}

// ownedInCrowd gives a workload an owner and a time.
func ownedInCrowd(w fields, kind string, i int, since time.Time) fields {
	head := w["metadata"].(fields)
	head["creationTimestamp"] = since
	head["ownerReferences"] = []fields{{"apiVersion": "example.com/v1", "kind": kind, "name": fmt.Sprintf("%s-%d", strings.ToLower(kind), i), "controller": true}}
	return w
}

// crowdedWaiting are 50 that wait.
func crowdedWaiting() (list []fields) {
	for i := range 50 {
		queue, gpus, count, priority := i*7%30, 2+i%7, 1, 100*(i%5)
		set := fields{"name": "main"}
		pod := fields{"nodeSelector": fields{"pool": "a100"}}
		switch i {
		case 0: // many yield for it
			queue, gpus, count, priority = 0, 8, 16, 1000
		case 1: // it is placed in a rack
			queue, gpus, count, pod = 6, 8, 4, fields{"nodeSelector": fields{"pool": "h100"}}
			set["topologyRequest"] = fields{"required": "topology.example.com/rack"}
		case 2:
			queue, gpus, count = 12, 8, 400
		case 3:
			queue, pod = 13, fields{"resourceClaims": []fields{{"name": "mig", "resourceClaimTemplateName": "mig-1g"}}}
		case 4:
			queue = 28
		case 6:
			queue, gpus, count, priority = 5, 8, 9, 50
		}
		pod["containers"] = []fields{{"name": "c", "resources": fields{"requests": crowdedAmounts(gpus)}}}
		set["count"], set["template"] = count, fields{"spec": pod}
		w := ofCrowd("kueue.x-k8s.io/v1beta2", "Workload", "team-"+crowdedQueue(queue), crowdedName("pytorchjob", 200+i), fields{
			"spec": fields{"active": i%17 != 5, "queueName": "user-queue", "priority": priority, "podSets": []fields{set}},
		})
		list = append(list, ownedInCrowd(w, "PyTorchJob", i, time.Date(2026, 11, 20, 11, i, 0, 0, time.UTC)))
	}
	return list
}
