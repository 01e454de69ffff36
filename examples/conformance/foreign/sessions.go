package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kai"
	sessions "github.com/cedesched/cede/examples/internal/session"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
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

	kaiSearch bool      // with its own search
	rounds    []decided // of a table of several sessions
	notAsked  string    // why it is not played
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
	Order      [][]string   `json:"order"` // in which candidates are gathered
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
	if err == nil && s.Kind == "integration" {
		s.notAsked, err = s.complete(line)
	}
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

// start returns the cluster of the session, ready to be played.
func (s *session) start() (*sessions.Session, preemption.Config, error) {
	tree, err := s.tree()
	if err != nil {
		return nil, preemption.Config{}, err
	}
	of := &s.Input.Settings
	c := sessions.Cluster{State: preemption.State{FairShares: tree}, Flavor: sessionFlavor, Now: sessionTime, KAISearch: s.kaiSearch, Config: preemption.Config{Sharing: preemption.KAI,
		MinRuntime: minruntime.Defaults{Reclaim: minutes(of.Reclaim), Preempt: minutes(of.Preempt), Method: of.Method}}}
	c.State.Cohorts, c.State.Queues = preemption.QueuesOf(tree, allQueues, sessionFlavor)
	settings := map[string]minruntime.Settings{}
	for _, q := range s.Input.Minimums {
		settings[q.Name] = minruntime.Settings{Reclaim: minutes(q.Reclaim), Preempt: minutes(q.Preempt)}
	}
	for i := range c.State.Cohorts {
		c.State.Cohorts[i].MinRuntime = settings[c.State.Cohorts[i].Name]
	}
	for i := range c.State.Queues {
		c.State.Queues[i].MinRuntime = settings[c.State.Queues[i].Name]
	}
	c.Nodes.Nodes, c.Groups = s.floor()
	made, err := sessions.New(c)
	return made, c.Config, err
}

// floor returns the nodes, and the jobs with their pods.
func (s *session) floor() (nodes []workload.Node, groups []bridge.Group) {
	for _, name := range slices.Sorted(maps.Keys(s.Input.Nodes)) {
		n := s.Input.Nodes[name]
		nodes = append(nodes, workload.Node{Name: name, Capacity: workload.Resources{
			kai.GPU: int64(n.GPUs * 1000), "cpu": int64(n.MilliCPU), "memory": int64(n.Memory)}})
	}
	for i := range s.Input.Jobs {
		groups = append(groups, s.Input.Jobs[i].group())
	}
	return nodes, groups
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
	for _, of := range []struct{ resource, field string }{{"cpu", "cpusPerTask"}, {"memory", "memoryPerTask"}, {kai.GPU, "gpusPerTask"}} {
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

// group returns the job with its tasks.
func (j *sessionJob) group() bridge.Group {
	g := bridge.Group{Minimum: j.Groups.PodSets[0].MinAvailable}
	g.Workload = workload.Workload{ID: j.Name, Queue: j.Queue, Priority: j.Priority, NeverYields: !j.Preemptible, Created: sessionTime.Add(-time.Duration(j.AgeMinutes) * time.Minute)}
	if j.StartedMinutes != nil {
		g.Workload.ReservedAt = sessionTime.Add(-time.Duration(*j.StartedMinutes) * time.Minute)
	}
	for _, task := range j.Tasks {
		switch p := (workload.Pod{ID: task.Name, Requests: j.resources()}); task.State {
		case "Running":
			p.Node = task.Node
			fallthrough
		case "Pending":
			if per, _ := j.PerTask["gpusPerTask"].(float64); per != math.Trunc(per) {
				kai.Share(&p, strconv.FormatFloat(per, 'f', -1, 64), strings.Join(task.Shares, "/"))
			}
			g.Pods = append(g.Pods, p)
		}
	}
	return g
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

// play takes the actions of the session, and returns the tasks that were told to leave, and those that got a node. each is called with each
// step.
func (s *session) play(on *sessions.Session, each func(*sessions.Step)) (gone, placed []string, err error) {
	for _, action := range strings.Split(s.Input.Action, ",") {
		if !slices.Contains(sessions.Actions, action) {
			continue // nothing is stale
		}
		if err := on.Run(action, func(step *sessions.Step) {
			each(step)
			gone = append(gone, step.Gone...)
			for _, p := range step.Pods {
				placed = append(placed, p.ID)
			}
		}); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(gone, compareTasks)
	slices.SortFunc(placed, compareTasks)
	return gone, placed, nil
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
