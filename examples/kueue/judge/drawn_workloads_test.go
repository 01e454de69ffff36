package judge_test

import (
	"fmt"
	"maps"
)

// workload draws a workload of a queue, without status; per is what a pod of each set asks for.
func (d *drawing) workload(q *drawnQueue, name string, sets int) (w object, per []map[string]int) {
	local := q.locals[d.IntN(len(q.locals))]
	version, old := d.version()
	priority := d.IntN(5) * 50
	spec := object{"queueName": local[1], "priority": priority, "active": true}
	if class := fmt.Sprint("prio-", d.IntN(3)); d.one(2) && old {
		spec["priorityClassName"], spec["priorityClassSource"] = class, kueueGroup+"workloadpriorityclass"
	} else if !old && d.one(2) {
		spec["priorityClassRef"] = object{"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": class}
	}
	var podSets []object
	for i := range sets {
		set, asks := d.podSet(q, []string{"main", "workers"}[i])
		podSets, per = append(podSets, set), append(per, asks)
	}
	spec["podSets"] = podSets
	uid := fmt.Sprintf("aa0c%04x-7b1e-4f0a-9c3d-%012x", len(d.items), d.Int64N(1<<48))
	metadata := object{"namespace": local[0], "name": d.named("job", name), "creationTimestamp": fmt.Sprintf("2026-11-27T%02d:%02d:%02dZ", d.IntN(11), d.IntN(60), d.IntN(60)),
		"labels": object{kueueGroup + "job-uid": uid}, "finalizers": []string{kueueGroup + "resource-in-use"},
		"ownerReferences": []object{{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid, "controller": true}}}
	return d.add(version, "Workload", metadata, object{"spec": spec, "status": object{}}), per
}

// podSet draws a pod set that asks for some of the resources of the queue.
func (d *drawing) podSet(q *drawnQueue, name string) (set object, asks map[string]int) {
	asks = map[string]int{"cpu": (1 + d.IntN(2)) * min(1, d.IntN(8))}
	requests := object{"cpu": fmt.Sprint(asks["cpu"])}
	for _, g := range q.groups {
		for _, r := range g.resources {
			if (r == "nvidia.com/gpu" && d.one(2)) || (r == "memory" && d.one(2)) {
				asks[r] = d.IntN(3)
				requests[r] = amounts(r, asks[r])
			}
			if r == "pods" {
				asks[r] = 1
			}
		}
	}
	container := object{"name": "trainer", "image": "registry.example.com/trainer:2.4", "resources": object{"requests": requests}}
	spec := object{"restartPolicy": "Never", "containers": []object{container}}
	return object{"name": name, "count": 1 + d.IntN(3), "template": object{"metadata": object{}, "spec": spec}}, asks
}

func condition(of, status, reason, since string) object {
	return object{"type": of, "status": status, "reason": reason, "message": "", "lastTransitionTime": since}
}

// queueOf draws a queue: some have more workloads than others.
func (d *drawing) queueOf() *drawnQueue {
	return d.queues[min(d.IntN(len(d.queues)), d.IntN(len(d.queues)), d.IntN(len(d.queues)))]
}

// drawRunning draws a workload that holds quota, or has held it.
func (d *drawing) drawRunning() {
	q := d.queueOf()
	sets := 1 + d.IntN(5)/4
	w, per := d.workload(q, d.pick("detector-pretrain", "churn-forecast", "tokenizer"), sets)
	since := fmt.Sprintf("2026-11-27T11:%02d:%02dZ", d.IntN(60), d.IntN(60))
	conditions := []object{condition("QuotaReserved", "True", "QuotaReserved", since)}
	if !d.one(8) {
		conditions = append(conditions, condition("Admitted", "True", "Admitted", since))
	}
	if !d.one(4) {
		conditions = append(conditions, condition("PodsReady", "True", "Started", since))
	}
	switch d.IntN(16) {
	case 0, 1:
		conditions = append(conditions, condition("Evicted", "True", d.pick("Preempted", "PodsReadyTimeout", "InactiveWorkload", "ClusterQueueStopped"), "2026-11-27T11:59:30Z"))
	case 2:
		conditions = append(conditions, condition("Finished", "True", d.pick("Succeeded", "Failed"), "2026-11-27T11:59:30Z"))
	case 3:
		w["metadata"].(object)["deletionTimestamp"] = "2026-11-27T11:59:00Z"
	}
	w["status"] = d.admission(q, w["spec"].(object)["podSets"].([]object), per, conditions)
	if d.one(60) {
		w["spec"].(object)["active"] = false
	}
}

// admission draws the status of a workload with its flavors. Most fit into the quota of the queue.
func (d *drawing) admission(q *drawnQueue, sets []object, per []map[string]int, conditions []object) object {
	var assignments, reclaimable []object
	flavors := make([]string, len(q.groups))
	for i, g := range q.groups {
		flavors[i] = d.pick(g.flavors...)
		for _, f := range g.flavors {
			if q.room[[2]string{f, g.resources[0]}] > q.room[[2]string{flavors[i], g.resources[0]}] && !d.one(8) {
				flavors[i] = f
			}
		}
	}
	for i, set := range sets {
		count := set["count"].(int)
		if i == 0 && d.one(20) {
			set["minCount"] = 1
		}
		in, usage := object{}, object{}
		for j, g := range q.groups {
			for _, r := range g.resources {
				if amount, asks := per[i][r]; asks {
					in[r], usage[r] = flavors[j], amounts(r, amount*count)
					q.room[[2]string{flavors[j], r}] -= amount * count
				}
			}
		}
		assignments = append(assignments, object{"name": set["name"], "count": count, "flavors": in, "resourceUsage": usage})
		if d.one(8) {
			reclaimable = append(reclaimable, object{"name": set["name"], "count": d.IntN(count + 1)})
		}
	}
	status := object{"conditions": conditions, "admission": object{"clusterQueue": q.name, "podSetAssignments": assignments}}
	if len(reclaimable) > 0 {
		status["reclaimablePods"] = reclaimable
	}
	return status
}

// drawWaiting draws a workload that waits.
func (d *drawing) drawWaiting() {
	q := d.queueOf()
	if d.one(4) { // one that is full, perhaps
		q = d.queues[0]
	}
	w, _ := d.workload(q, d.pick("reward-model-sweep", "segmentation", "demand-forecast"), 1+d.IntN(5)/4)
	metadata, spec, status := w["metadata"].(object), w["spec"].(object), w["status"].(object)
	d.waits = append(d.waits, fmt.Sprint(metadata["namespace"], "/", metadata["name"]))
	spec["priority"] = 100 + d.IntN(6)*50
	for _, set := range spec["podSets"].([]object) {
		d.constrain(set)
	}
	if first := spec["podSets"].([]object)[0]; d.one(8) {
		first["minCount"] = 1 + d.IntN(first["count"].(int))
	}
	if d.one(3) {
		status["conditions"] = []object{condition("QuotaReserved", "False", d.pick("Pending", "Pending", "Inadmissible", "WaitingForQuota"), "2026-11-27T10:00:00Z")}
	}
	d.past(status)
	switch d.IntN(60) {
	case 0:
		spec["active"] = false
	case 1:
		status["conditions"] = []object{condition("QuotaReserved", "False", "OnHold", "2026-11-27T10:00:00Z")}
	case 2:
		metadata["annotations"] = object{kueueGroup + "admission-gated-by": "example.com/gate"}
	case 3:
		spec["preemptionGates"] = []object{{"name": kueueGroup + "multikueue"}}
	case 4:
		metadata["deletionTimestamp"] = "2026-11-27T11:00:00Z"
		if d.one(2) {
			delete(metadata, "ownerReferences")
			delete(metadata, "labels")
		}
	case 5:
		metadata["annotations"] = object{kueueGroup + d.pick("priority-boost", "cannot-preempt", "elastic-job", "of-tomorrow"): d.pick("true", "10")}
	case 6:
		metadata["labels"].(object)[d.pick(kueueGroup+"of-tomorrow", "example.com/team", kueueGroup+"queue-name")] = "x"
	case 7:
		spec["queueName"] = d.named("gone")
	case 8:
		delete(metadata, "ownerReferences")
	}
	if len(q.checks) > 0 && d.one(3) {
		var states []object
		for _, name := range q.checks {
			states = append(states, object{"name": name, "state": d.pick("Pending", "Pending", "Ready", "Retry", "Rejected"), "message": "", "lastTransitionTime": "2026-11-27T10:00:00Z"})
		}
		status["admissionChecks"] = states
	}
}

// past draws what the status says of an earlier time: it was evicted, or waits to be queued again.
func (d *drawing) past(status object) {
	if !d.one(8) {
		return
	}
	reason := d.pick("Preempted", "PodsReadyTimeout", "AdmissionCheck", "ClusterQueueStopped")
	conditions := []object{condition("QuotaReserved", "False", "Pending", "2026-11-27T10:00:00Z"), condition("Evicted", "True", reason, "2026-11-27T10:00:00Z")}
	switch d.IntN(4) {
	case 0:
		conditions = append(conditions, condition("Requeued", "True", reason, "2026-11-27T10:00:00Z"))
	case 1:
		conditions = append(conditions, condition("Requeued", "False", reason, "2026-11-27T10:00:00Z"))
	}
	status["conditions"] = conditions
	if d.one(2) {
		status["requeueState"] = object{"count": 1, "requeueAt": d.pick("2026-11-27T11:59:00Z", "2026-11-27T12:30:00Z")}
	}
}

// constrain draws on which nodes the pods of a set may run, and what else they have.
func (d *drawing) constrain(set object) {
	spec := set["template"].(object)["spec"].(object)
	container := spec["containers"].([]object)[0]
	if d.one(12) {
		spec["nodeSelector"] = object{d.pick("zone", "zone", "example.com/pool", "other"): d.pick("a", "b")}
	}
	if d.one(3) {
		spec["tolerations"] = []object{{"key": d.pick("spot", "team"), "operator": "Exists"}, {"key": "team", "operator": d.pick("Equal", ""), "value": d.pick("x", "true"), "effect": "NoSchedule"}}
	}
	if d.one(12) {
		spec["affinity"] = object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": []object{
			{"matchExpressions": []object{{"key": "zone", "operator": d.pick("In", "NotIn"), "values": []string{d.pick("a", "b")}}}}}}}}
	}
	switch d.IntN(40) {
	case 0:
		set["topologyRequest"] = object{d.pick("required", "preferred"): "cloud.provider.com/rack"}
	case 1:
		spec["runtimeClassName"] = "gvisor"
	case 2:
		spec["overhead"] = object{"cpu": "250m"}
	case 3:
		spec["initContainers"] = []object{{"name": "init", "restartPolicy": d.pick("Always", "Always"), "resources": object{"requests": object{"cpu": "500m"}}}}
	case 4:
		resources := container["resources"].(object)
		resources["limits"] = maps.Clone(resources["requests"].(object))
		resources["limits"].(object)["cpu"] = d.pick("1", "5")
	case 5:
		spec["resources"] = object{"requests": object{"cpu": "3"}}
	case 6:
		container["resources"].(object)["requests"].(object)["example.com/unknown"] = d.pick("0", "1")
	case 7:
		spec["resourceClaims"] = []object{{"name": "r", "resourceClaimTemplateName": "gpu"}}
	case 8:
		container["resources"].(object)["requests"].(object)["nvidia.com/mig-1g.5gb"] = "1"
	}
}
