package foreign

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/workload"
)

// movesCase is what KAI's consolidation did about pending jobs: victims that it places elsewhere.
type movesCase struct {
	Input struct {
		Jobs  []kaiJob           `json:"jobs"`
		Nodes map[string]kaiNode `json:"nodes"`
	} `json:"input"`
	Want struct {
		Decided struct {
			Placed []kaiTask `json:"placed"`
			Bound  []kaiTask `json:"bound"`
			Moved  []kaiTask `json:"moved"`
		} `json:"decided"`
	} `json:"want"`
}

type kaiNode struct {
	GPUs int64 `json:"gpus"`
}

type kaiTask struct {
	Task string `json:"task"`
}

// kaiJob is a job of KAI, with its tasks.
type kaiJob struct {
	Name        string `json:"name"`
	Queue       string `json:"queue"`
	AgeMinutes  int    `json:"ageMinutes"`
	Preemptible bool   `json:"preemptible"`
	Priority    int32  `json:"priority"`
	Groups      struct {
		PodSets []struct {
			MinAvailable int `json:"minAvailable"`
		} `json:"podSets"`
		Topology any `json:"topology"`
	} `json:"groups"`
	PerTask map[string]any `json:"perTask"`
	Tasks   []struct {
		Name   string   `json:"name"`
		Node   string   `json:"node"`
		State  string   `json:"state"`
		GPUs   float64  `json:"gpus"`
		Shares []string `json:"gpuGroups"` // the GPUs of which it has a part
	} `json:"tasks"`
}

const gpu = "gpu"

func (f *movesCase) convert(c *recorded.Case) error {
	c.Source = "KAI-Scheduler d5bc503a, consolidation, " + c.ID
	for i := range f.Input.Jobs {
		if c.Story = f.Input.Jobs[i].story(); c.Story != "" {
			return nil
		}
	}
	jobs := slices.Clone(f.Input.Jobs)
	slices.SortStableFunc(jobs, func(a, b kaiJob) int { // as they are allocated
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(b.AgeMinutes, a.AgeMinutes))
	})
	q := recorded.Moving{Want: recorded.Moved{Placed: []string{}, Moves: len(f.Want.Decided.Moved)}}
	for _, name := range slices.Sorted(maps.Keys(f.Input.Nodes)) {
		q.State.Nodes = append(q.State.Nodes, workload.Node{Name: name, Capacity: workload.Resources{gpu: f.Input.Nodes[name].GPUs}})
	}
	for i := range jobs {
		jobs[i].add(&q)
	}
	for _, t := range slices.Concat(f.Want.Decided.Placed, f.Want.Decided.Bound) {
		q.Want.Placed = append(q.Want.Placed, t.Task)
	}
	c.Moves = []recorded.Moving{q}
	return nil
}

// story says why a job cannot be asked about.
func (j *kaiJob) story() string {
	whole := true
	for _, t := range j.Tasks {
		whole = whole && t.GPUs == math.Trunc(t.GPUs)
	}
	_, inMemory := j.PerTask["gpuMemoryPerTask"]
	switch {
	case inMemory || !whole:
		return "a task asks for a part of a GPU, or for its memory"
	case j.Groups.Topology != nil:
		return "a job asks for a topology"
	case len(j.Groups.PodSets) > 1:
		return "a job has a minimum for each of several groups of tasks"
	}
	return ""
}

// add adds the tasks that run to the state, and asks for those that wait. A job that is not preemptible is of the highest priority:
// it never moves. One that runs with its minimum moves whole, of others each task by itself.
func (j *kaiJob) add(q *recorded.Moving) {
	minimum := j.Groups.PodSets[0].MinAvailable
	started := settledAt.Add(-time.Duration(j.AgeMinutes) * time.Minute)
	ask := placement.Request{Group: j.Name, Priority: j.Priority, MinCount: minimum, Now: settledAt}
	priority, group := j.Priority, ""
	if !j.Preemptible {
		priority = math.MaxInt32
	}
	if running := len(j.Tasks); running > 1 && running == minimum && j.Tasks[0].Node != "" {
		group = j.Name
		q.State.Groups = append(q.State.Groups, workload.PodGroup{ID: group, Priority: priority, DisruptionMode: workload.DisruptionModePodGroup})
	}
	for _, t := range j.Tasks {
		p := workload.Pod{ID: t.Name, Requests: workload.Resources{gpu: int64(t.GPUs)}}
		if t.Node == "" {
			ask.Pods = append(ask.Pods, p)
			continue
		}
		p.Node, p.Group, p.Priority, p.Started = t.Node, group, priority, started
		q.State.Pods = append(q.State.Pods, p)
	}
	if len(ask.Pods) == 0 {
		return
	}
	waiting := ask.Pods
	ask.Pods = waiting[:minimum]
	q.Requests = append(q.Requests, ask)
	for _, p := range waiting[minimum:] { // what is above the minimum follows task by task
		ask.Group, ask.Pods, ask.MinCount = j.Name+"+"+p.ID, []workload.Pod{p}, 1
		q.Requests = append(q.Requests, ask)
	}
}
