// Package contended makes clusters in which more runs than there is quota for, and much waits: nothing fits, and each
// decision looks at most of what runs. They are the worst case of questions about a whole cluster.
package contended

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// Now is the time at which a cluster is to be asked about.
var Now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// World is a cluster: a cohort tree of three levels with five queues in each cohort of the lowest, fair sharing, and GPUs of
// two flavors, of which seven are used for each four of quota. Of each hundred workloads few are alike.
type World struct {
	Queues, Running, Waiting int
	Seed                     uint64
}

// object is an object of Kubernetes.
type object map[string]any

// Write writes the objects of Kueue, as kubectl prints them. The same world gives the same text.
func (w World) Write(to io.Writer) error {
	random := rand.New(rand.NewPCG(w.Seed, 0))
	if w.Queues < 1 || w.Running < 0 || w.Waiting < 0 {
		return fmt.Errorf("%d queues, %d running, %d waiting: want at least 1, 0 and 0", w.Queues, w.Running, w.Waiting)
	}
	if _, err := io.WriteString(to, `{"apiVersion":"v1","kind":"List","items":[`); err != nil {
		return err
	}
	separator := "\n"
	for _, list := range [][]object{w.configuration(), w.workloads(random)} {
		for _, o := range list {
			text, err := json.Marshal(o)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(to, "%s%s", separator, text); err != nil {
				return err
			}
			separator = ",\n"
		}
	}
	_, err := io.WriteString(to, "\n]}\n")
	return err
}

func kueue(kind, namespace, name string, spec, status object) object {
	meta := object{"name": name, "uid": kind + "-" + name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	o := object{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": meta, "spec": spec}
	if status != nil {
		o["status"] = status
	}
	return o
}

func nameOf(queue int) string { return fmt.Sprintf("q%04d", queue) }

// configuration returns flavors, cohorts and queues.
func (w World) configuration() (list []object) {
	for _, name := range flavors {
		list = append(list, kueue("ResourceFlavor", "", name, object{}, nil))
	}
	list = append(list, kueue("ResourceFlavor", "", "cpu", object{}, nil), kueue("Cohort", "", "org", object{}, nil))
	quota := func(name, resource string, nominal int) object {
		return object{"name": name, "resources": []object{{"name": resource, "nominalQuota": fmt.Sprint(nominal)}}}
	}
	const replicas, each = 15, 15 // a quarter of each: see workloads
	gpus := max(1, w.Running*replicas*each/16*4/7/len(flavors)/w.Queues)
	for q := range w.Queues {
		dept, div := fmt.Sprintf("dept-%d", q/5), fmt.Sprintf("div-%d", q/20)
		if q%20 == 0 {
			list = append(list, kueue("Cohort", "", div, object{"parentName": "org"}, nil))
		}
		if q%5 == 0 {
			list = append(list, kueue("Cohort", "", dept, object{"parentName": div}, nil))
		}
		var of []object
		for _, name := range flavors {
			of = append(of, quota(name, "nvidia.com/gpu", gpus))
		}
		list = append(list, kueue("ClusterQueue", "", nameOf(q), object{
			"cohortName": dept, "namespaceSelector": object{}, "queueingStrategy": "BestEffortFIFO", "fairSharing": object{"weight": "1"},
			"flavorFungibility": object{"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
			"preemption":        object{"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
			"resourceGroups": []object{
				{"coveredResources": []string{"cpu"}, "flavors": []object{quota("cpu", "cpu", 100_000)}},
				{"coveredResources": []string{"nvidia.com/gpu"}, "flavors": of},
			},
		}, object{
			"conditions":  []object{{"type": "Active", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": Now}},
			"fairSharing": object{"weightedShare": 0},
		}), kueue("LocalQueue", "team", nameOf(q), object{"clusterQueue": nameOf(q)}, nil))
	}
	return list
}

var flavors = []string{"h100", "l4"}

// workloads returns what runs and what waits: 1, 2, 4 or 8 replicas of 1, 2, 4 or 8 GPUs, with one of four priorities.
func (w World) workloads(random *rand.Rand) (list []object) {
	for i := range w.Running + w.Waiting {
		queue, replicas, gpus := nameOf(random.IntN(w.Queues)), 1<<random.IntN(4), 1<<random.IntN(4)
		created := Now.Add(-time.Duration(1+random.IntN(720)) * time.Minute)
		template := object{"metadata": object{}, "spec": object{"containers": []object{{
			"name": "main", "resources": object{"requests": object{"cpu": "2", "nvidia.com/gpu": fmt.Sprint(gpus)}}}}}}
		spec := object{
			"active": true, "queueName": queue, "priority": []int{0, 10, 100, 1000}[random.IntN(4)],
			"podSets": []object{{"name": "main", "count": replicas, "template": template}},
		}
		name, status := fmt.Sprintf("wait-%05d", i), object{"conditions": []object{}}
		if i < w.Running {
			since := func(kind string) object {
				return object{"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": created}
			}
			name = fmt.Sprintf("run-%05d", i)
			status = object{
				"conditions": []object{since("QuotaReserved"), since("Admitted")},
				"admission": object{"clusterQueue": queue, "podSetAssignments": []object{{
					"name": "main", "count": replicas, "flavors": object{"cpu": "cpu", "nvidia.com/gpu": flavors[random.IntN(2)]},
					"resourceUsage": object{"cpu": fmt.Sprint(2 * replicas), "nvidia.com/gpu": fmt.Sprint(replicas * gpus)},
				}}},
			}
		}
		o := kueue("Workload", "team", name, spec, status)
		o["metadata"].(object)["creationTimestamp"] = created
		list = append(list, o)
	}
	return list
}
