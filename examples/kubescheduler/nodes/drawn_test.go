package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/kubescheduler/offline"
)

var (
	drawnClusters = flag.Int("drawn", 250, "how many drawn clusters kube-scheduler judges")
	drawnSeed     = flag.Uint64("drawn-seed", 1, "the first of their seeds")
)

// In drawn clusters with odd objects the program says what kube-scheduler says, or that it does not know.
func TestDrawnClusters(t *testing.T) {
	var found judged
	file := filepath.Join(t.TempDir(), "cluster.json")
	outcomes := map[string]int{}
	for seed := *drawnSeed; seed < *drawnSeed+uint64(*drawnClusters); seed++ {
		text := drawCluster(rand.New(rand.NewPCG(seed, 51)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args, q := []string{"-pod", "ml/asks"}, offline.Question{Pod: "ml/asks"}
		if strings.Contains(text, `"podGroupName":"gang"`) {
			args, q = []string{"-group", "ml/gang"}, offline.Question{Group: "ml/gang"}
		}
		a := sayInPlace(t, file, args...)
		outcomes[strings.Fields(a.String())[0]]++
		found.judge(t, fmt.Sprint("seed ", seed), readObjects(t, input.Source{Name: file, Reader: strings.NewReader(text)}), q, a)
	}
	t.Log(outcomes)
	found.log(t)
	if *drawnClusters >= 250 && (found.right < found.unknown || outcomes["preempts"] == 0 || outcomes["fits"] == 0 || outcomes["no"] == 0) {
		t.Errorf("too little is judged: %d right, %d unknown, %v", found.right, found.unknown, outcomes)
	}
}

// object is a part of an object of Kubernetes.
type object = map[string]any

// drawing is a cluster that is drawn.
type drawing struct {
	*rand.Rand
	items []object
	nodes []string
}

func drawCluster(r *rand.Rand) string {
	d := &drawing{Rand: r}
	for i := range 2 + d.IntN(4) {
		d.node(i)
	}
	for i := range d.IntN(14) {
		d.running(i)
	}
	for i := range d.IntN(3) {
		p := d.pod(fmt.Sprint("waits-", i), d.IntN(8)*100)
		p["status"].(object)["nominatedNodeName"] = d.pick(d.nodes...)
		d.items = append(d.items, p)
	}
	d.budgets()
	d.devices()
	d.volumes()
	d.asks()
	d.odd()
	text, _ := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": d.items}) // maps and strings
	return string(text)
}

func (d *drawing) pick(list ...string) string { return list[d.IntN(len(list))] }

// one reports true once in so many times.
func (d *drawing) one(in int) bool { return d.IntN(in) == 0 }

func (d *drawing) add(apiVersion, kind string, metadata object, more object) {
	more["apiVersion"], more["kind"], more["metadata"] = apiVersion, kind, metadata
	d.items = append(d.items, more)
}

func (d *drawing) node(i int) {
	name := fmt.Sprintf("ip-10-24-%d-17.eu-central-1.compute.internal", i)
	d.nodes = append(d.nodes, name)
	labels := object{"kubernetes.io/os": "linux", "zone": d.pick("a", "b"), "kubernetes.io/hostname": name}
	if d.one(10) {
		labels["kubernetes.io/hostname"] = "shared"
	}
	if d.one(10) {
		delete(labels, "kubernetes.io/hostname")
	}
	allocatable := object{"cpu": fmt.Sprint(4 + d.IntN(4)), "memory": "8Gi", "pods": fmt.Sprint(3 + d.IntN(6)), "example.com/gpu": "2"}
	if d.one(15) {
		delete(allocatable, "pods")
	}
	status := object{"allocatable": allocatable, "nodeInfo": object{"operatingSystem": "linux"}}
	if d.one(10) {
		status["declaredFeatures"] = []string{"RestartAllContainersOnContainerExits"}
	}
	spec := object{}
	if d.one(6) {
		spec["taints"] = []object{{"key": "team", "value": d.pick("x", "y"), "effect": d.pick("NoSchedule", "NoExecute", "PreferNoSchedule")}}
	}
	if d.one(12) {
		spec["unschedulable"] = true
	}
	d.add("v1", "Node", object{"name": name, "uid": name, "labels": labels}, object{"spec": spec, "status": status})
	if !d.one(4) {
		d.add("storage.k8s.io/v1", "CSINode", object{"name": name}, object{"spec": object{"drivers": []object{
			{"name": "pd.csi.storage.gke.io", "nodeID": name, "allocatable": object{"count": d.IntN(3)}}}}})
	}
}

// pod is a pod that may run or wait.
func (d *drawing) pod(name string, priority int) object {
	request := object{"cpu": fmt.Sprintf("%dm", 250*d.IntN(12)), "memory": fmt.Sprintf("%dMi", 256*d.IntN(5))}
	if d.one(5) {
		request["example.com/gpu"] = "1"
	}
	resources := object{"requests": request}
	if d.one(5) {
		resources = object{"limits": request}
	}
	container := object{"name": "main", "image": "main", "resources": resources}
	if d.one(5) {
		container["ports"] = []object{{"containerPort": 80, "hostPort": 80 + d.IntN(2), "protocol": d.pick("TCP", "UDP"), "hostIP": d.pick("", "10.0.0.1")}}
	}
	spec := object{"schedulerName": "default-scheduler", "priority": priority, "containers": []object{container}}
	if d.one(8) {
		spec["initContainers"] = []object{{"name": "init", "image": "init", "restartPolicy": "Always", "resources": object{"requests": object{"cpu": "500m"}}}}
	}
	if d.one(10) {
		spec["overhead"] = object{"cpu": "250m"}
	}
	if d.one(8) {
		spec["resources"] = object{"requests": object{"cpu": "3"}}
	}
	if d.one(6) {
		spec["affinity"] = object{"podAntiAffinity": d.term()}
	}
	if d.one(8) {
		spec["volumes"] = []object{{"name": "v", "gcePersistentDisk": object{"pdName": d.pick("disk-1", "disk-2")}}}
	}
	labels := object{"app": d.pick("web", "db"), "tier": d.pick("front", "back")}
	if d.one(10) {
		labels = nil
	}
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"namespace": d.pick("ml", "research"), "name": name, "uid": name, "labels": labels},
		"spec": spec, "status": object{"phase": "Pending"}}
}

// term is a required term of affinity.
func (d *drawing) term() object {
	term := object{"topologyKey": d.pick("zone", "kubernetes.io/hostname"), "labelSelector": object{"matchLabels": object{"app": d.pick("web", "db")}}}
	switch d.IntN(12) {
	case 0:
		term["namespaces"] = []string{"ml", "research"}
	case 1:
		term["namespaceSelector"] = object{}
	case 2:
		term["namespaceSelector"] = object{"matchLabels": object{"team": "a"}}
	}
	return object{"requiredDuringSchedulingIgnoredDuringExecution": []object{term}}
}

func (d *drawing) running(i int) {
	p := d.pod(fmt.Sprint("runs-", i), d.IntN(6)*100)
	spec, status, metadata := p["spec"].(object), p["status"].(object), p["metadata"].(object)
	spec["nodeName"] = d.pick(d.nodes...)
	status["phase"], status["startTime"] = "Running", fmt.Sprintf("2026-11-%02dT%02d:00:%02dZ", 1+d.IntN(25), d.IntN(24), i)
	if d.one(8) {
		metadata["deletionTimestamp"] = "2026-11-27T12:00:00Z"
	}
	if d.one(15) {
		status["phase"] = d.pick("Succeeded", "Failed")
	}
	if d.one(10) {
		status["allocatedResources"] = object{"cpu": "3"}
	}
	if d.one(12) {
		status["containerStatuses"] = []object{{"name": "main", "allocatedResources": object{"cpu": "3"}, "resources": object{"requests": object{"cpu": "3"}}}}
	}
	if d.one(15) {
		spec["schedulerName"] = "batch-gang-scheduler"
	}
	if d.one(200) {
		delete(spec, "priority")
		spec["priorityClassName"] = "production"
	}
	if d.one(60) {
		spec["nodeName"] = "ip-10-24-99-99.eu-central-1.compute.internal"
	}
	d.items = append(d.items, p)
}

func (d *drawing) budgets() {
	for _, app := range []string{"web", "db"} { // no pod is of two: their order is by chance
		selector := object{"matchLabels": object{"app": app}}
		switch d.IntN(5) {
		case 0:
			selector = object{}
		case 1:
			selector = nil
		case 2:
			selector = object{"matchExpressions": []object{{"key": "app", "operator": "In", "values": []string{app}}}}
		}
		if d.one(2) {
			d.add("policy/v1", "PodDisruptionBudget", object{"namespace": "research", "name": app},
				object{"spec": object{"selector": selector}, "status": object{"disruptionsAllowed": d.IntN(2)}})
		}
	}
}

// devices adds devices of a driver, a claim for one, and perhaps another pod that has it.
func (d *drawing) devices() {
	if !d.one(3) {
		return
	}
	if !d.one(8) {
		d.add("resource.k8s.io/v1", "DeviceClass", object{"name": "gpu"}, object{"spec": object{"selectors": []object{{"cel": object{"expression": `device.driver == "gpu.example.com"`}}}}})
	}
	for i, node := range d.nodes {
		if d.one(3) {
			continue
		}
		device := object{"name": "gpu-0"}
		if d.one(5) {
			device["taints"] = []object{{"key": "broken", "effect": "NoSchedule"}}
		}
		d.add("resource.k8s.io/v1", "ResourceSlice", object{"name": fmt.Sprint("slice-", i)}, object{"spec": object{"driver": "gpu.example.com", "nodeName": node,
			"pool": object{"name": node, "generation": 1, "resourceSliceCount": 1 + d.IntN(8)/7}, "devices": []object{device}}})
	}
	if d.one(4) {
		d.add("resource.k8s.io/v1", "DeviceTaintRule", object{"name": "rule"}, object{"spec": object{"deviceSelector": object{"driver": "gpu.example.com"},
			"taint": object{"key": "broken", "effect": "NoSchedule"}}})
	}
	node := d.pick(d.nodes...)
	claim := object{"spec": object{"devices": object{"requests": []object{{"name": "r", "exactly": object{"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}}}}}
	held := object{"spec": claim["spec"], "status": object{"allocation": object{
		"devices":      object{"results": []object{{"request": "r", "driver": "gpu.example.com", "pool": node, "device": "gpu-0"}}},
		"nodeSelector": object{"nodeSelectorTerms": []object{{"matchFields": []object{{"key": "metadata.name", "operator": "In", "values": []string{node}}}}}}},
		"reservedFor": []object{{"resource": "pods", "name": "holder", "uid": "holder"}}}}
	if d.one(2) {
		d.add("resource.k8s.io/v1", "ResourceClaim", object{"namespace": "ml", "name": "held", "uid": "held"}, held)
	}
	if !d.one(10) {
		d.add("resource.k8s.io/v1", "ResourceClaim", object{"namespace": "ml", "name": "want", "uid": "want"}, claim)
	}
}

// volumes adds a volume and its claim.
func (d *drawing) volumes() {
	if !d.one(3) {
		return
	}
	provisioner := d.pick("kubernetes.io/no-provisioner", "kubernetes.io/no-provisioner", "disks.example.com")
	d.add("storage.k8s.io/v1", "StorageClass", object{"name": "local"}, object{"provisioner": provisioner, "volumeBindingMode": d.pick("WaitForFirstConsumer", "WaitForFirstConsumer", "Immediate")})
	if d.one(2) {
		d.add("storage.k8s.io/v1", "CSIDriver", object{"name": "disks.example.com"}, object{"spec": object{"storageCapacity": d.one(2)}})
	}
	if d.one(2) {
		d.add("storage.k8s.io/v1", "CSIStorageCapacity", object{"namespace": "storage", "name": "a"}, object{"storageClassName": "local", "capacity": "10Gi",
			"nodeTopology": object{"matchLabels": object{"zone": "a"}}})
	}
	spec := object{"accessModes": []string{d.pick("ReadWriteOnce", "ReadWriteOncePod")}, "storageClassName": "local", "resources": object{"requests": object{"storage": "1Gi"}}}
	bound := !d.one(4)
	if bound {
		spec["volumeName"] = "volume"
	}
	metadata := object{"namespace": "ml", "name": "data", "uid": "data", "annotations": object{"pv.kubernetes.io/bind-completed": "yes"}}
	if !bound {
		delete(metadata, "annotations")
	}
	d.add("v1", "PersistentVolumeClaim", metadata, object{"spec": spec, "status": object{"phase": map[bool]string{true: "Bound", false: "Pending"}[bound]}})
	if !d.one(6) {
		d.add("v1", "PersistentVolume", object{"name": "volume"}, object{"spec": object{"capacity": object{"storage": "1Gi"}, "accessModes": spec["accessModes"], "storageClassName": "local",
			"local": object{"path": "/data"}, "claimRef": object{"namespace": "ml", "name": "data", "uid": "data"},
			"nodeAffinity": object{"required": object{"nodeSelectorTerms": []object{{"matchExpressions": []object{{"key": "zone", "operator": "In", "values": []string{d.pick("a", "b")}}}}}}}},
			"status": object{"phase": "Bound"}})
	}
}

// asks adds the pod that asks, or a gang of two.
func (d *drawing) asks() {
	p := d.pod("asks", 200+d.IntN(5)*100)
	p["metadata"].(object)["namespace"] = "ml"
	spec := p["spec"].(object)
	if d.one(5) {
		spec["nodeSelector"] = object{"zone": d.pick("a", "b")}
	}
	if d.one(4) {
		spec["tolerations"] = []object{{"key": "team", "operator": d.pick("Exists", "Exists", "Gt"), "value": ""}}
	}
	if d.one(5) {
		spec["affinity"] = object{"podAffinity": d.term()}
	}
	if d.one(5) {
		spec["topologySpreadConstraints"] = []object{{"maxSkew": 1, "topologyKey": d.pick("zone", "kubernetes.io/hostname"), "whenUnsatisfiable": "DoNotSchedule",
			"labelSelector": object{"matchLabels": object{"app": "web"}}}}
	}
	has := func(kind, name string) bool {
		for _, o := range d.items {
			if o["kind"] == kind && o["metadata"].(object)["name"] == name {
				return true
			}
		}
		return false
	}
	if has("ResourceSlice", "slice-0") || has("ResourceClaim", "want") {
		spec["resourceClaims"] = []object{{"name": "r", "resourceClaimName": "want"}}
	}
	if has("StorageClass", "local") {
		spec["volumes"] = []object{{"name": "data", "persistentVolumeClaim": object{"claimName": d.pick("data", "data", "data", "data", "gone")}}}
	}
	switch d.IntN(30) {
	case 0:
		spec["schedulingGates"] = []object{{"name": "example.com/wait"}}
	case 1:
		spec["schedulerName"] = "batch-gang-scheduler"
	case 2:
		p["metadata"].(object)["deletionTimestamp"] = "2026-11-27T12:00:00Z"
	case 3:
		spec["preemptionPolicy"] = "Never"
	case 4:
		p["status"].(object)["nominatedNodeName"] = d.pick(d.nodes...)
	case 5:
		spec["os"] = object{"name": d.pick("linux", "windows")}
	case 6:
		spec["securityContext"] = object{"sysctls": []object{{"name": d.pick("kernel.shm_rmid_forced", "kernel.msgmax"), "value": "1"}}}
	case 7:
		spec["hostNetwork"] = true
	case 8:
		spec["nodeSelector"] = object{"kubernetes.io/hostname": d.pick(d.nodes...)}
	}
	if !d.one(8) {
		d.items = append(d.items, p)
		return
	}
	delete(spec, "topologySpreadConstraints") // a departure, with its reason in the README of the plugin
	d.add("scheduling.k8s.io/v1beta1", "PodGroup", object{"namespace": "ml", "name": "gang"},
		object{"spec": object{"priority": spec["priority"], "schedulingPolicy": object{"gang": object{"minCount": 2}}}})
	for i := range 2 {
		one, its := object{}, object{}
		for k, v := range p {
			one[k] = v
		}
		for k, v := range spec {
			its[k] = v
		}
		if d.one(10) {
			its["priority"] = 900
		}
		its["schedulingGroup"] = object{"podGroupName": "gang"}
		one["metadata"], one["spec"] = object{"namespace": "ml", "name": fmt.Sprint("asks-", i), "uid": fmt.Sprint("asks-", i), "labels": object{"app": "web"}}, its
		d.items = append(d.items, one)
	}
}

// odd makes an object odd, or leaves out one of a kind.
func (d *drawing) odd() {
	switch o := d.items[d.IntN(len(d.items))]; d.IntN(40) {
	case 0:
		o["apiVersion"] = d.pick("", "v2", "example.com/v1")
	case 1:
		o["kind"] = strings.ToLower(o["kind"].(string))
	case 2:
		if spec, ok := o["spec"].(object); ok {
			spec["fieldOfTomorrow"] = true
		}
	case 3:
		o["spec"] = "nothing"
	}
	if d.one(2) {
		for _, name := range []string{"ml", "research"} {
			d.add("v1", "Namespace", object{"name": name, "labels": object{"team": d.pick("a", "b")}}, object{})
		}
	}
}
