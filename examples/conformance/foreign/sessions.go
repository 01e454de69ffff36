package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// session is what KAI's scheduler decided in one session about all pending jobs, and what its rules say apart from any search.
type session struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Input struct {
		sharesInput
		Action   string                 `json:"action"`
		Jobs     []sessionJob           `json:"jobs"`
		Nodes    map[string]sessionNode `json:"nodes"`
		Minimums []sessionMinimum       `json:"-"` // of the queues
		Settings struct {
			KValue     float64           `json:"kValue"`
			Multiplier float64           `json:"saturationMultiplier"`
			Reclaim    *int              `json:"defaultReclaimMinRuntimeMinutes"`
			Preempt    *int              `json:"defaultPreemptMinRuntimeMinutes"`
			Method     minruntime.Method `json:"reclaimResolveMethod"`
		} `json:"settings"`
	} `json:"input"`
	OrderDependent bool `json:"order_dependent"`
	Want           struct {
		sharesWant
		Decided  decided         `json:"decided"`
		Rules    []sessionRules  `json:"rules"`
		TryOrder []string        `json:"tryOrder"`
		Rounds   json.RawMessage `json:"rounds"`
	} `json:"want"`
	Answers []struct {
		Decided decided `json:"decided"`
	} `json:"answers"`
}

type sessionNode struct {
	GPUs     float64 `json:"gpus"`
	MilliCPU float64 `json:"milliCPU"`
	Memory   float64 `json:"memory"`
}

// sessionMinimum has the minimum runtimes of a queue, in minutes.
type sessionMinimum struct {
	Name    string `json:"name"`
	Reclaim *int   `json:"reclaimMinRuntimeMinutes"`
	Preempt *int   `json:"preemptMinRuntimeMinutes"`
}

type sessionJob struct {
	kaiJob
	AgeMinutes     int   `json:"ageMinutes"`
	StartedMinutes *int  `json:"startedMinutes"`
	Priority       int64 `json:"priority"`
}

// decided is the end of a session.
type decided struct {
	Evicted []moved `json:"evicted"`
	Moved   []moved `json:"moved"`
	Placed  []moved `json:"placed"`
	Bound   []moved `json:"bound"`
	Undone  []moved `json:"undone"` // bound, and evicted again
}

type moved struct {
	Task string `json:"task"`
	From string `json:"from"`
	Node string `json:"node"`
}

type sessionRules struct {
	Preemptor  string       `json:"preemptor"`
	CanReclaim *bool        `json:"canReclaim"`              // of reclaim
	OverQuota  bool         `json:"nonPreemptibleOverQuota"` // of preempt
	Candidates []string     `json:"candidates"`
	Sets       []sessionSet `json:"sets"`
}

type sessionSet struct {
	OK             bool     `json:"ok"`              // in some order
	OrderDependent bool     `json:"order_dependent"` // and not in another
	Victims        []string `json:"victims"`
}

// parseSession reads a session.
func parseSession(line []byte) (*session, error) {
	s := new(session)
	if err := json.Unmarshal(line, s); err != nil {
		return nil, err
	}
	var again struct {
		Input struct {
			Queues []sessionMinimum `json:"queues"`
		} `json:"input"`
	}
	err := json.Unmarshal(line, &again)
	s.Input.Minimums = again.Input.Queues
	return s, err
}

// sessionTime is the time of all sessions.
var sessionTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	allQueues     = "all queues"
	sessionFlavor = "default"
)

func minutes(n *int) (d quota.OptionalDuration) {
	if n != nil {
		d = quota.Some(time.Duration(*n) * time.Minute)
	}
	return d
}

// world is the cluster of a session while jobs are served: quota, and nodes.
type world struct {
	config    preemption.Config
	preemptor *preemption.Preemptor
	state     preemption.State
	nodes     placement.State
	jobs      map[string]*sessionJob
	// gone are the tasks that were told to leave, placed those that got a node.
	gone, placed []string
}

func (s *session) world() (*world, error) {
	tree, err := s.tree()
	if err != nil {
		return nil, err
	}
	st := preemption.State{FairShares: tree}
	st.Cohorts, st.Queues = preemption.QueuesOf(tree, allQueues, sessionFlavor)
	settings := map[string]minruntime.Settings{}
	for _, q := range s.Input.Minimums {
		settings[q.Name] = minruntime.Settings{Reclaim: minutes(q.Reclaim), Preempt: minutes(q.Preempt)}
	}
	for i := range st.Cohorts {
		st.Cohorts[i].MinRuntime = settings[st.Cohorts[i].Name]
	}
	for i := range st.Queues {
		st.Queues[i].MinRuntime = settings[st.Queues[i].Name]
	}
	of := &s.Input.Settings
	w := &world{jobs: map[string]*sessionJob{}, config: preemption.Config{Sharing: preemption.KAI,
		MinRuntime: minruntime.Defaults{Reclaim: minutes(of.Reclaim), Preempt: minutes(of.Preempt), Method: of.Method}}}
	for i := range s.Input.Jobs {
		j := &s.Input.Jobs[i]
		w.jobs[j.Name] = j
		for _, task := range j.Tasks {
			if task.State == "Running" {
				w.nodes.Pods = append(w.nodes.Pods, workload.Pod{ID: task.Name, Group: j.Name, Node: task.Node, Requests: j.resources()})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Input.Nodes)) {
		n := s.Input.Nodes[name]
		w.nodes.Nodes = append(w.nodes.Nodes, workload.Node{Name: name, Capacity: workload.Resources{
			"gpu": int64(n.GPUs * 1000), "cpu": int64(n.MilliCPU), "memory": int64(n.Memory)}})
	}
	w.state = st
	w.admit()
	w.preemptor, err = preemption.New(w.config)
	return w, err
}

// tree returns the queues with what their jobs request.
func (s *session) tree() (fairshare.Tree, error) {
	in := s.Input.sharesInput
	in.KValue, in.Total = s.Input.Settings.KValue, map[string]float64{}
	for _, n := range s.Input.Nodes {
		in.Total["cpu"] += n.MilliCPU
		in.Total["memory"] += n.Memory
		in.Total["gpu"] += n.GPUs
	}
	tree, err := in.tree()
	if err != nil {
		return tree, err
	}
	tree.Saturation = quota.Some(s.Input.Settings.Multiplier)
	for _, j := range s.Input.Jobs {
		if len(j.Groups.PodSets) == 0 && err == nil {
			err = fmt.Errorf("case %q: job %q: it has no pod set", s.ID, j.Name)
		}
	}
	for _, q := range tree.Queues {
		if len(q.Claims) != len(sharesUnits) {
			return tree, fmt.Errorf("case %q: queue %q: want cpu, memory and gpu", s.ID, q.Name)
		}
	}
	if err != nil {
		return tree, err
	}
	for i := range tree.Queues {
		for _, j := range s.Input.Jobs {
			if j.Queue == tree.Queues[i].Name {
				for k, requests := range j.amounts(len(j.Tasks)) { // in the same order
					tree.Queues[i].Claims[k].Request += requests.Amount
				}
			}
		}
	}
	return tree, err
}

// amounts returns what a number of tasks of the job request.
func (j *kaiJob) amounts(n int) (list []fairshare.Amount) {
	var err error
	for _, of := range []struct{ resource, field string }{{"cpu", "cpusPerTask"}, {"memory", "memoryPerTask"}, {"gpu", "gpusPerTask"}} {
		per, _ := j.PerTask[of.field].(float64)
		list = append(list, fairshare.Amount{Resource: of.resource, Amount: int64(n) * sharesAmount(&err, of.resource, per)})
	}
	return list
}

func (j *kaiJob) running() (n int) {
	for _, task := range j.Tasks {
		if task.State == "Running" {
			n++
		}
	}
	return n
}

// reclaimer returns the first chunk of a pending job: what is missing to its minimum, above that one task.
func (j *kaiJob) reclaimer() fairshare.Reclaimer {
	n := max(1, j.Groups.PodSets[0].MinAvailable-j.running())
	return fairshare.Reclaimer{Queue: j.Queue, Requests: j.amounts(n), NonPreemptible: !j.Preemptible}
}

// workload returns some replicas of a job.
func (j *sessionJob) workload(id string, count int, least int) workload.Workload {
	w := workload.Workload{ID: id, Queue: j.Queue, Priority: j.Priority, NeverYields: !j.Preemptible, Created: sessionTime.Add(-time.Duration(j.AgeMinutes) * time.Minute)}
	if j.StartedMinutes != nil {
		w.ReservedAt = sessionTime.Add(-time.Duration(*j.StartedMinutes) * time.Minute)
	}
	p := workload.PodSet{Name: "main", Count: int64(count)}
	if least < count {
		p.MinCount = workload.AtLeast(int64(least))
	}
	for _, a := range j.amounts(1) {
		if a.Amount > 0 {
			p.Requests = append(p.Requests, quota.Amount{Flavor: sessionFlavor, Resource: a.Resource, Amount: a.Amount})
		}
	}
	w.PodSets = []workload.PodSet{p}
	return w
}

// resources returns what a task takes.
func (j *sessionJob) resources() workload.Resources {
	of := workload.Resources{}
	for _, a := range j.amounts(1) {
		if a.Amount > 0 {
			of[a.Resource] = a.Amount
		}
	}
	return of
}

// ask decides about some pods of a job, on the nodes too.
func (w *world) ask(j *sessionJob, policy queue.PreemptionPolicy, tasks []string) (q asked, err error) {
	var pods []workload.Pod
	id := j.Name + " pending"
	for _, task := range tasks {
		pods = append(pods, workload.Pod{ID: task, Group: id, Requests: j.resources()})
	}
	nodes, err := placement.NewSnapshot(w.nodes)
	if err != nil {
		return q, err
	}
	if q.room, err = new(placement.Preemptor).Fit(nodes, placement.Request{Group: id, MinCount: len(pods), Pods: pods}); err != nil {
		return q, err
	}
	q.room.PodSets(func(workload.Pod) string { return "main" }, func(a, b workload.Pod) int { return compareTasks(b.ID, a.ID) })
	q.state = w.state
	q.state.Queues = slices.Clone(w.state.Queues)
	for i := range q.state.Queues {
		q.state.Queues[i].Preemption = policy
	}
	pending := j.workload(id, len(pods), len(pods))
	pending.ReservedAt, pending.NeverPreempts = time.Time{}, policy == queue.PreemptionPolicy{}
	q.request = preemption.Request{Workload: pending, Now: sessionTime, Room: q.room}
	quotas, err := preemption.NewSnapshot(q.state)
	if err != nil {
		return q, err
	}
	q.Decision, err = w.preemptor.Decide(quotas, q.request)
	return q, err
}

// asked is a decision, with its question.
type asked struct {
	preemption.Decision
	state   preemption.State
	request preemption.Request
	room    *placement.Fit
}

// next returns the tasks of a job that are to start together: what is missing to its minimum, above that one; none if all run.
func (w *world) next(j *sessionJob) (tasks []string) {
	waiting := func(task string) bool {
		return !slices.ContainsFunc(w.nodes.Pods, func(p workload.Pod) bool { return p.ID == task })
	}
	running := 0
	for _, task := range j.Tasks {
		if !waiting(task.Name) {
			running++
		}
	}
	n := max(1, j.Groups.PodSets[0].MinAvailable-running)
	for _, task := range j.Tasks {
		if task.State == "Pending" && len(tasks) < n && waiting(task.Name) {
			tasks = append(tasks, task.Name)
		}
	}
	return tasks
}

// carryOut removes the victims of a decision and places the pods.
func (w *world) carryOut(j *sessionJob, q *asked) {
	gone := w.victims(q)
	for _, v := range q.Victims { // the decision left all in the room
		if len(v.Replicas) > 0 {
			q.room.SetRemoved(v.Workload, "main", v.Replicas[0].Count)
		} else {
			q.room.Remove(v.Workload)
		}
	}
	q.room.Fits()
	for _, task := range gone {
		at := slices.IndexFunc(w.nodes.Pods, func(p workload.Pod) bool { return p.ID == task })
		w.gone = append(w.gone, task)
		w.nodes.Pods = slices.Delete(w.nodes.Pods, at, at+1)
	}
	for _, n := range q.room.Nominations() {
		w.placed = append(w.placed, n.Pod)
		w.nodes.Pods = append(w.nodes.Pods, workload.Pod{ID: n.Pod, Group: j.Name, Node: n.Node, Requests: j.resources()})
	}
	w.admit()
}

// admit makes the workloads that run of the pods on nodes.
func (w *world) admit() {
	count := map[string]int{}
	for _, p := range w.nodes.Pods {
		count[p.Group]++
	}
	w.state.Admitted = nil
	for _, name := range slices.Sorted(maps.Keys(count)) {
		j := w.jobs[name]
		w.state.Admitted = append(w.state.Admitted, j.workload(name, count[name], min(count[name], j.Groups.PodSets[0].MinAvailable)))
	}
}

// victims returns the tasks of the victims of a decision.
func (w *world) victims(q *asked) (tasks []string) {
	for _, v := range q.Victims {
		if len(v.Replicas) > 0 {
			tasks = append(tasks, q.room.Replicas(v.Workload, "main")[:v.Replicas[0].Count]...)
			continue
		}
		for _, p := range w.nodes.Pods {
			if p.Group == v.Workload {
				tasks = append(tasks, p.ID)
			}
		}
	}
	slices.SortFunc(tasks, compareTasks)
	return tasks
}

// policies are those of KAI's actions. Allocate lets nobody yield. Consolidation only moves pods, which is another question.
var policies = map[string]queue.PreemptionPolicy{
	"allocate": {},
	"reclaim":  {ReclaimWithinCohort: queue.Any},
	"preempt":  {WithinClusterQueue: queue.LowerPriority},
}

// play takes the actions of the session, each for all pending jobs in KAI's order. each is called with each decision that has victims.
func (s *session) play(each func(*asked)) (*world, error) {
	w, err := s.world()
	if err != nil {
		return nil, err
	}
	for _, action := range strings.Split(s.Input.Action, ",") {
		policy, known := policies[action]
		if !known {
			continue
		}
		for _, name := range s.Want.TryOrder {
			for again := true; again; {
				tasks := w.next(w.jobs[name])
				if len(tasks) == 0 {
					break
				}
				q, err := w.ask(w.jobs[name], policy, tasks)
				if err != nil {
					return nil, err
				}
				if again = q.Outcome.Succeeds() && action == "allocate"; q.Outcome.Succeeds() {
					if len(q.Victims) > 0 {
						each(&q)
					}
					w.carryOut(w.jobs[name], &q)
				}
			}
		}
	}
	slices.SortFunc(w.gone, compareTasks)
	slices.SortFunc(w.placed, compareTasks)
	return w, nil
}

func compareTasks(a, b string) int {
	x, y := strings.LastIndex(a, "-"), strings.LastIndex(b, "-")
	return cmp.Or(cmp.Compare(a[:x], b[:y]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func names(lists ...[]moved) (tasks []string) {
	for _, list := range lists {
		for _, m := range list {
			tasks = append(tasks, m.Task)
		}
	}
	slices.SortFunc(tasks, compareTasks)
	return tasks
}
