// Package contended makes clusters in which more runs than there is quota for, and much waits: nothing fits, and each
// decision looks at most of what runs. They are the worst case of questions about a whole cluster.
package contended

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Now is the time at which a cluster is to be asked about.
var Now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// World is a cluster: a cohort tree of three levels with five queues in each cohort of the lowest, fair sharing, and GPUs of
// two flavors, of which seven are used for each four of quota. Of each hundred workloads few are alike.
type World struct {
	Queues, Running, Waiting int
	Seed                     uint64
	Shape
}

// Shape is what a world is otherwise.
type Shape struct {
	Classical bool // priorities decide, not shares
	Flat      bool // all queues are in one cohort
	Strict    bool // queues admit strictly in order
	OneQueue  bool // all that waits is in the first queue
	OwnTimes  bool // each queue has a minAdmitDuration and priorities of its own; times tell workloads apart
	Wide      bool // workloads ask for memory, too, and GPUs are of four flavors
	Full      bool // as much is used as there is quota, not more: some queues borrow
}

// Shapes are the names of shapes, each with fair sharing and without.
var Shapes = []string{"tree", "flat", "strict", "one-queue", "own-times", "wide", "full", "classical-tree", "classical-flat", "classical-strict", "classical-one-queue", "classical-own-times", "classical-wide", "classical-full"}

// ShapeOf returns the shape of a name.
func ShapeOf(name string) (s Shape, err error) {
	if !slices.Contains(Shapes, name) {
		return s, fmt.Errorf("there is no shape %q: want one of %s", name, strings.Join(Shapes, ", "))
	}
	name, s.Classical = strings.CutPrefix(name, "classical-")
	s.Flat, s.Strict, s.OneQueue, s.OwnTimes, s.Wide, s.Full = name == "flat", name == "strict", name == "one-queue", name == "own-times", name == "wide", name == "full"
	return s, nil
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
	flavors := w.flavors()
	for _, name := range flavors {
		list = append(list, kueue("ResourceFlavor", "", name, object{}, nil))
	}
	list = append(list, kueue("ResourceFlavor", "", "cpu", object{}, nil), kueue("Cohort", "", "org", object{}, nil))
	quota := func(name, resource string, nominal int) object {
		return object{"name": name, "resources": []object{{"name": resource, "nominalQuota": fmt.Sprint(nominal)}}}
	}
	const replicas, each = 15, 15 // a quarter of each: see workloads
	gpus := w.Running * replicas * each / 16 / len(flavors)
	if !w.Full {
		gpus = gpus * 4 / 7
	}
	gpus = max(1, gpus/w.Queues)
	for q := range w.Queues {
		dept, div := fmt.Sprintf("dept-%d", q/5), fmt.Sprintf("div-%d", q/20)
		if w.Flat {
			dept = "org"
		}
		if q%20 == 0 && !w.Flat {
			list = append(list, kueue("Cohort", "", div, object{"parentName": "org"}, nil))
		}
		if q%5 == 0 && !w.Flat {
			list = append(list, kueue("Cohort", "", dept, object{"parentName": div}, nil))
		}
		var of []object
		for _, name := range flavors {
			of = append(of, quota(name, "nvidia.com/gpu", gpus))
		}
		always := quota("cpu", "cpu", 100_000)
		covered := []string{"cpu"}
		if w.Wide {
			always["resources"] = append(always["resources"].([]object), object{"name": "memory", "nominalQuota": "1000Ti"})
			covered = append(covered, "memory")
		}
		spec := object{
			"cohortName": dept, "namespaceSelector": object{}, "queueingStrategy": "BestEffortFIFO", "fairSharing": object{"weight": "1"},
			"flavorFungibility": object{"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
			"preemption":        object{"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
			"resourceGroups": []object{
				{"coveredResources": covered, "flavors": []object{always}},
				{"coveredResources": []string{"nvidia.com/gpu"}, "flavors": of},
			},
		}
		status := object{
			"conditions":  []object{{"type": "Active", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": Now}},
			"fairSharing": object{"weightedShare": 0},
		}
		w.shape(q, spec, status)
		list = append(list, kueue("ClusterQueue", "", nameOf(q), spec, status), kueue("LocalQueue", "team", nameOf(q), object{"clusterQueue": nameOf(q)}, nil))
	}
	return list
}

// shape makes a queue one of the shape.
func (s *Shape) shape(queue int, spec, status object) {
	if s.Classical {
		delete(spec, "fairSharing")
		delete(status, "fairSharing")
	}
	if s.Strict {
		spec["queueingStrategy"] = "StrictFIFO"
	}
	if s.OwnTimes {
		spec["preemption"] = object{
			"reclaimWithinCohort": "LowerPriority", "withinClusterQueue": "LowerOrNewerEqualPriority",
			"withinClusterQueueConfig": object{"minAdmitDuration": fmt.Sprintf("%dm", 60+queue)},
		}
	}
}

func (s *Shape) flavors() []string {
	if s.Wide {
		return []string{"a100", "b200", "h100", "l4"}
	}
	return []string{"h100", "l4"}
}

// workloads returns what runs and what waits: 1, 2, 4 or 8 replicas of 1, 2, 4 or 8 GPUs, with one of four priorities.
func (w World) workloads(random *rand.Rand) (list []object) {
	flavors := w.flavors()
	for i := range w.Running + w.Waiting {
		waits := i >= w.Running
		q, replicas, gpus := random.IntN(w.Queues), 1<<random.IntN(4), 1<<random.IntN(4)
		if waits && w.OneQueue {
			q = 0
		}
		created := Now.Add(-time.Duration(1+random.IntN(720)) * time.Minute)
		requests := object{"cpu": "2", "nvidia.com/gpu": fmt.Sprint(gpus)}
		if w.Wide {
			requests["memory"] = "4Gi"
		}
		template := object{"metadata": object{}, "spec": object{"containers": []object{{"name": "main", "resources": object{"requests": requests}}}}}
		priority := []int{0, 10, 100, 1000}[random.IntN(4)]
		if w.OwnTimes {
			priority += q
		}
		spec := object{
			"active": true, "queueName": nameOf(q), "priority": priority,
			"podSets": []object{{"name": "main", "count": replicas, "template": template}},
		}
		status := object{"conditions": []object{}}
		if !waits {
			status = w.admission(q, replicas, gpus, flavors[random.IntN(len(flavors))], created)
		}
		o := kueue("Workload", "team", fmt.Sprintf("job-%s-%08x", map[bool]string{false: "run", true: "wait"}[waits], uint32(i+1)*2654435761), spec, status)
		o["metadata"].(object)["creationTimestamp"] = created
		list = append(list, o)
	}
	return list
}

// admission is the status of a workload that runs.
func (s *Shape) admission(queue, replicas, gpus int, flavor string, created time.Time) object {
	since := func(kind string) object {
		return object{"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": created}
	}
	in := object{"cpu": "cpu", "nvidia.com/gpu": flavor}
	usage := object{"cpu": fmt.Sprint(2 * replicas), "nvidia.com/gpu": fmt.Sprint(replicas * gpus)}
	if s.Wide {
		in["memory"], usage["memory"] = "cpu", fmt.Sprintf("%dGi", 4*replicas)
	}
	return object{
		"conditions": []object{since("QuotaReserved"), since("Admitted")},
		"admission": object{"clusterQueue": nameOf(queue), "podSetAssignments": []object{{
			"name": "main", "count": replicas, "flavors": in, "resourceUsage": usage,
		}}},
	}
}
