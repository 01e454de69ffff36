package judge_test

import "fmt"

// drawQueue draws a ClusterQueue, with its LocalQueues.
func (d *drawing) drawQueue(i int) {
	q := &drawnQueue{name: d.named("cluster-queue", d.pick("vision-training", "language", "batch-analytics"), fmt.Sprint(i)), groups: d.drawGroups(), room: map[[2]string]int{}}
	if len(d.cohorts) > 0 && !d.one(6) {
		q.cohort = d.pick(d.cohorts...)
	}
	version, old := d.version()
	spec := object{"namespaceSelector": object{}, "queueingStrategy": d.pick("BestEffortFIFO", "BestEffortFIFO", "BestEffortFIFO", "StrictFIFO")}
	if q.cohort != "" {
		spec[map[bool]string{true: "cohort", false: "cohortName"}[old]] = q.cohort
	}
	spec["resourceGroups"] = d.quotas(q.groups, func(amount int, quota object) int {
		if q.cohort == "" {
			return amount
		}
		if d.one(4) {
			quota["borrowingLimit"] = fmt.Sprint(d.IntN(10))
		}
		if d.one(4) {
			quota["lendingLimit"] = fmt.Sprint(d.IntN(amount + 1))
		}
		return amount
	})
	for _, g := range spec["resourceGroups"].([]object) {
		for _, f := range g["flavors"].([]object) {
			for _, r := range f["resources"].([]object) {
				amount := 0
				_, _ = fmt.Sscan(r["nominalQuota"].(string), &amount)
				q.room[[2]string{f["name"].(string), r["name"].(string)}] = amount
			}
		}
	}
	d.policies(spec, old)
	switch d.IntN(30) {
	case 0:
		spec["namespaceSelector"] = object{"matchLabels": object{"tier": "gold"}}
	case 1:
		spec["namespaceSelector"] = object{"matchExpressions": []object{{"key": "kubernetes.io/metadata.name", "operator": d.pick("In", "NotIn"), "values": []string{"default"}}}}
	case 2:
		delete(spec, "namespaceSelector")
	}
	if d.one(30) {
		spec["stopPolicy"] = d.pick("Hold", "HoldAndDrain")
	} else if d.one(2) {
		spec["stopPolicy"] = "None"
	}
	if d.weights() {
		spec["fairSharing"] = object{"weight": d.pick("2", "0", "250m", "1")}
	}
	if d.one(40) {
		spec["admissionScope"] = object{"admissionMode": d.pick("UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing")}
	}
	if d.one(6) {
		d.checks(q, spec, old)
	}
	metadata := object{"name": q.name, "finalizers": []string{kueueGroup + "resource-in-use"}}
	if d.one(40) {
		metadata["deletionTimestamp"] = "2026-11-27T11:00:00Z"
	}
	d.add(version, "ClusterQueue", metadata, object{"spec": spec})
	d.queues = append(d.queues, q)
	d.localQueues(q)
}

// policies draws how the queue preempts, and how flavors are chosen.
func (d *drawing) policies(spec object, old bool) {
	if !d.one(8) {
		p := object{"withinClusterQueue": d.pick("Never", "LowerPriority", "LowerPriority", "LowerPriority", "LowerPriority", "LowerOrNewerEqualPriority"), "reclaimWithinCohort": d.pick("Never", "LowerPriority", "LowerPriority", "Any", "Any")}
		if p["reclaimWithinCohort"] != "Never" && d.one(3) {
			b := object{"policy": d.pick("LowerPriority", "LowerPriority", "Never")}
			if d.one(2) {
				b["maxPriorityThreshold"] = d.IntN(4) * 50
			}
			p["borrowWithinCohort"] = b
		}
		spec["preemption"] = p
	}
	if d.one(3) {
		return
	}
	borrow, preempt := "MayStopSearch", "MayStopSearch"
	if old {
		borrow, preempt = "Borrow", "Preempt"
	}
	f := object{"whenCanBorrow": d.pick(borrow, "TryNextFlavor"), "whenCanPreempt": d.pick(preempt, "TryNextFlavor")}
	if f["whenCanBorrow"] == "TryNextFlavor" && f["whenCanPreempt"] == "TryNextFlavor" && d.one(2) {
		f["preference"] = d.pick("BorrowingOverPreemption", "PreemptionOverBorrowing")
	}
	spec["flavorFungibility"] = f
}

// checks draws admission checks of the queue: of provisioning, of MultiKueue, or of another controller.
func (d *drawing) checks(q *drawnQueue, spec object, old bool) {
	var rules []object
	for range 1 + d.IntN(4)/3 {
		name := d.named("check", d.pick("capacity", "budget"))
		status := object{"conditions": []object{{"type": "Active", "status": "True", "reason": "Active", "message": "", "lastTransitionTime": "2026-11-20T08:00:05Z"}}}
		switch d.IntN(20) {
		case 0:
			status = object{}
		case 1:
			status["conditions"].([]object)[0]["status"] = "False"
		}
		version, _ := d.version()
		d.add(version, "AdmissionCheck", object{"name": name}, object{"spec": object{"controllerName": d.pick(kueueGroup+"provisioning-request", kueueGroup+"provisioning-request", kueueGroup+"multikueue", "example.com/budget")}, "status": status})
		q.checks = append(q.checks, name)
		rule := object{"name": name}
		if d.one(4) {
			rule["onFlavors"] = q.groups[0].flavors[:1]
		}
		rules = append(rules, rule)
	}
	if old && d.one(2) {
		spec["admissionChecks"] = q.checks
		return
	}
	spec["admissionChecksStrategy"] = object{"admissionChecks": rules}
}

func (d *drawing) localQueues(q *drawnQueue) {
	for range 1 + d.IntN(2) {
		namespace, name := d.pick(drawnNamespaces...), d.named("user-queue")
		version, _ := d.version()
		spec := object{"clusterQueue": q.name}
		if d.one(30) {
			spec["stopPolicy"] = d.pick("Hold", "HoldAndDrain")
		}
		if d.one(20) {
			spec["fairSharing"] = object{"weight": "3"}
		}
		d.add(version, "LocalQueue", object{"namespace": namespace, "name": name}, object{"spec": spec})
		q.locals = append(q.locals, [2]string{namespace, name})
	}
}
