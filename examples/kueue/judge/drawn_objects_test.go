package judge_test

import (
	"fmt"
	"strings"
)

// drawConfiguration adds Kueue's Configuration, as an object or in its ConfigMap, or none.
func (d *drawing) drawConfiguration() {
	version, fair := "v1beta2", ""
	switch d.IntN(8) {
	case 0, 1:
		return
	case 2, 3:
		fair = "fairSharing: {preemptionStrategies: [" + d.pick("LessThanOrEqualToFinalShare", "LessThanInitialShare", "LessThanOrEqualToFinalShare, LessThanInitialShare") + "]}\n"
	case 4:
		version, fair = "v1beta1", "fairSharing: {enable: "+d.pick("true", "false")+"}\n"
	}
	more := ""
	switch d.IntN(16) {
	case 0:
		more = "resources: {excludeResourcePrefixes: [" + d.pick("example.com/", "memory", "ephemeral") + "]}\n"
	case 1:
		more = "resources: {transformations: [{input: nvidia.com/mig-1g.5gb, strategy: " + d.pick("Replace", "Retain") + ", outputs: {nvidia.com/gpu: 1}}]}\n"
	case 2:
		more = "waitForPodsReady: {" + map[string]string{"v1beta1": "enable: true, "}[version] + "timeout: 5m, blockAdmission: " + d.pick("true", "false") + "}\n"
	case 3:
		more = "featureGates: {" + d.pick("PartialAdmission", "ReclaimablePods", "FlavorFungibility", "PriorityBoost", "TopologyAwareScheduling", "MultiKueue") + ": " + d.pick("true", "false") + "}\n"
	case 4:
		more = "manageJobsWithoutQueueName: true\n"
	case 5:
		more = "fieldOfTomorrow: true\n"
	}
	d.configured = true
	text := "apiVersion: config.kueue.x-k8s.io/" + version + "\nkind: Configuration\nnamespace: kueue-system\n" + fair + more
	d.add("v1", "ConfigMap", object{"namespace": "kueue-system", "name": "kueue-manager-config"}, object{"data": object{"controller_manager_config.yaml": text}})
}

var drawnNamespaces = []string{"vision-research", "language-models", "team-forecast", "default"}

func (d *drawing) drawNamespaces() {
	for _, name := range drawnNamespaces {
		d.add("v1", "Namespace", object{"name": name, "labels": object{"kubernetes.io/metadata.name": name, "tier": d.pick("gold", "silver")}}, object{"status": object{"phase": "Active"}})
	}
	if d.one(30) {
		d.add("v1", "LimitRange", object{"namespace": d.pick(drawnNamespaces...), "name": "limits"},
			object{"spec": object{"limits": []object{{"type": "Container", "defaultRequest": object{"cpu": "500m"}}}}})
	}
	for i, value := range []int{0, 100, 1000} {
		version, _ := d.version()
		d.add(version, "WorkloadPriorityClass", object{"name": fmt.Sprint("prio-", i)}, object{"value": value})
	}
}

func (d *drawing) drawFlavors() {
	topology := ""
	if d.one(6) {
		topology = d.named("racks")
		version, _ := d.version()
		d.add(version, "Topology", object{"name": topology}, object{"spec": object{"levels": []object{{"nodeLabel": "cloud.provider.com/rack"}, {"nodeLabel": "kubernetes.io/hostname"}}}})
	}
	for i := range 2 + d.IntN(4) {
		kind := []string{"cpu", "gpu"}[i%2]
		name := d.named(kind, d.pick("on-demand", "spot", "reserved-eu-west-4"))
		spec := object{"nodeLabels": object{"example.com/pool": fmt.Sprint(kind, i), "zone": d.pick("a", "b")}}
		if d.one(4) {
			spec["nodeLabels"] = nil
		}
		if d.one(5) {
			spec["nodeTaints"] = []object{{"key": d.pick("spot", "team"), "value": d.pick("true", "x"), "effect": d.pick("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")}}
		}
		if d.one(6) {
			spec["tolerations"] = []object{{"key": "spot", "operator": "Exists", "effect": d.pick("", "NoSchedule")}}
		}
		if topology != "" && d.one(3) {
			spec["topologyName"], spec["nodeLabels"] = topology, object{"example.com/pool": name}
		}
		version, _ := d.version()
		d.flavors = append(d.flavors, name)
		d.add(version, "ResourceFlavor", object{"name": name}, object{"spec": spec})
	}
}

// drawCohorts draws a forest; some cohorts have no object.
func (d *drawing) drawCohorts() {
	for i := range d.IntN(5) {
		name := d.named("cohort", d.pick("research", "platform", "eu"))
		spec := object{}
		if i > 0 && d.one(2) {
			spec["parentName"] = d.cohorts[d.IntN(i)]
		}
		if d.one(3) {
			g := d.drawGroups()
			spec["resourceGroups"] = d.quotas(g, func(amount int, quota object) int {
				if spec["parentName"] == nil {
					return amount
				}
				if d.one(4) {
					quota["borrowingLimit"] = fmt.Sprint(d.IntN(12))
				}
				if d.one(4) {
					quota["lendingLimit"] = fmt.Sprint(d.IntN(12))
				}
				return amount
			})
		}
		if d.weights() {
			spec["fairSharing"] = object{"weight": d.pick("2", "0", "500m", "1")}
		}
		d.cohorts = append(d.cohorts, name)
		if len(spec) == 0 && d.one(2) {
			continue // implicit
		}
		version, _ := d.version()
		d.add(version, "Cohort", object{"name": name}, object{"spec": spec})
	}
}

// drawGroups draws which resources are covered together, in which flavors.
func (d *drawing) drawGroups() []drawnGroup {
	var cpus, gpus []string
	for _, f := range d.flavors {
		if strings.HasPrefix(f, "gpu") {
			gpus = append(gpus, f)
		} else {
			cpus = append(cpus, f)
		}
	}
	some := func(list []string) []string {
		list = append([]string(nil), list...)
		d.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list[:1+d.IntN(len(list))]
	}
	switch d.IntN(12) {
	case 0, 3:
		return []drawnGroup{{[]string{"cpu", "memory"}, some(cpus)}, {[]string{"nvidia.com/gpu"}, some(gpus)}}
	case 1, 4:
		return []drawnGroup{{[]string{"cpu"}, some(d.flavors)}}
	case 2:
		return []drawnGroup{{[]string{"cpu", "nvidia.com/gpu", "pods"}, some(d.flavors)}}
	}
	return []drawnGroup{{[]string{"cpu", "nvidia.com/gpu"}, some(d.flavors)}}
}

// quotas draws quotas of groups; more adds limits to one.
func (d *drawing) quotas(groups []drawnGroup, more func(amount int, quota object) int) (list []object) {
	for _, g := range groups {
		var flavors []object
		for _, f := range g.flavors {
			var resources []object
			for _, r := range g.resources {
				amount := d.IntN(13)
				if d.one(5) {
					amount = 0
				}
				quota := object{"name": r}
				amount = more(amount, quota)
				quota["nominalQuota"] = amounts(r, amount)
				for _, limit := range []string{"borrowingLimit", "lendingLimit"} {
					if text, has := quota[limit].(string); has {
						quota[limit] = text + units(r)
					}
				}
				resources = append(resources, quota)
			}
			flavors = append(flavors, object{"name": f, "resources": resources})
		}
		list = append(list, object{"coveredResources": g.resources, "flavors": flavors})
	}
	return list
}

// weights: without a Configuration weights may count or not, and Kueue does not say either.
func (d *drawing) weights() bool { return d.one(5) && (d.configured || d.one(20)) }

// amounts writes an amount of a resource; one of memory is in GiB.
func amounts(resource string, amount int) string { return fmt.Sprint(amount, units(resource)) }

func units(resource string) string {
	if resource == "memory" {
		return "Gi"
	}
	return ""
}
