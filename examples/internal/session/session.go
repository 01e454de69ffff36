package session

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// Cluster is what sessions begin with.
type Cluster struct {
	Config preemption.Config
	// State has the queues with their fair shares, and what runs of groups without pods.
	State preemption.State
	// Nodes are those of the cluster, with the pods that are of no group.
	Nodes  placement.State
	Groups []bridge.Group
	Flavor string // of all amounts
	Now    time.Time
	// KAISearch: places and victims are those that KAI's own search finds. It puts nothing back, and moves whom it likes.
	KAISearch bool
	// MostMoving is, for that search, how many groups may move for one (consolidation). Zero: any number.
	MostMoving int
}

// Session is a cluster while groups are served. Make it with [New]. Change nothing of the cluster then.
type Session struct {
	preemptor *preemption.Preemptor
	snapshot  *preemption.Snapshot
	queues    []queue.Queue
	rooms     *rooms.OnNodes
	onNodes   *nodes             // for consolidation; nil: not made since what runs there changed
	tree      fairshare.Tree     // with what queues hold
	order     *fairshare.Reclaim // nil: not made since that changed
	jobs      []*job
	byID      map[string]*job
	flavor    string
	now       time.Time
	failed    map[string]bool // what was tried in vain since something changed
	looked    int
	places    map[string]int // of the queues in the tree
	search    *search        // nil: not KAI's own
	shares    bool           // pods share GPUs
}

// New begins sessions.
func New(c Cluster) (*Session, error) {
	s := &Session{queues: c.State.Queues, tree: c.State.FairShares.Clone(), byID: map[string]*job{}, flavor: c.Flavor, now: c.Now, places: map[string]int{}}
	for i := range s.tree.Queues {
		s.places[s.tree.Queues[i].Name] = i
	}
	if c.KAISearch {
		s.search = newSearch(&c)
	}
	st, nodes := c.State, c.Nodes
	st.Admitted, nodes.Pods = slices.Clone(st.Admitted), slices.Clone(nodes.Pods)
	for i := range nodes.Pods {
		nodes.Pods[i].Priority = 0 // what moves is of a lower one
	}
	for i := range st.Admitted {
		s.count(&st.Admitted[i], 1)
	}
	order := map[string]int{}
	for i := range c.Groups {
		j := &job{Group: c.Groups[i], at: i}
		j.Pods = slices.Clone(j.Pods)
		s.jobs, s.byID[j.Workload.ID] = append(s.jobs, j), j
		j.phases = make([]phase, len(j.Pods))
		for at := range j.Pods {
			p := &j.Pods[at]
			p.Group = j.Workload.ID
			s.shares = s.shares || kai.SharesGPU(p)
			if order[p.ID] = at; p.Node != "" {
				j.phases[at] = runs
				j.running++
				nodes.Pods = append(nodes.Pods, *p)
			}
		}
		if j.running > 0 {
			st.Admitted = append(st.Admitted, s.held(j))
			s.count(&st.Admitted[len(st.Admitted)-1], 1)
		}
	}
	s.rooms = rooms.All(nodes)
	s.rooms.Order = order
	var err error
	if s.snapshot, err = preemption.NewSnapshot(st); err != nil {
		return nil, err
	}
	s.preemptor, err = preemption.New(c.Config)
	return s, err
}

// count counts what a workload holds, or with the sign -1 held.
func (s *Session) count(w *workload.Workload, sign int64) {
	s.order = nil
	at, known := s.places[w.Queue]
	if !known {
		return
	}
	for _, u := range w.Usage() {
		for k := range s.tree.Queues[at].Claims {
			if claim := &s.tree.Queues[at].Claims[k]; claim.Resource == u.Resource {
				if claim.Usage = quota.Add(claim.Usage, sign*u.Amount); w.NeverYields {
					claim.NonPreemptible = quota.Add(claim.NonPreemptible, sign*u.Amount)
				}
			}
		}
	}
}

// job is a group while it is served.
type job struct {
	bridge.Group
	phases  []phase // of its pods
	running int     // how many of them hold room
	at      int     // its place in the session
}

// phase is where a pod is.
type phase uint8

const (
	waits  phase = iota
	runs         // also one that was bound in this session
	placed       // its room is that of pods that leave
	left         // it was told to leave, and waits in the next session
)

// holds reports whether a pod holds room.
func (p phase) holds() bool { return p == runs || p == placed }

// chunk returns the pods that are to start together: those that are missing to the minimum, above that one. None: it waits for nothing, or has not
// enough pods.
func (j *job) chunk() (pods []workload.Pod) {
	for _, i := range j.next() {
		pods = append(pods, j.Pods[i])
	}
	return pods
}

// next returns the places of these pods.
func (j *job) next() (pods []int) {
	n := max(1, j.Minimum-j.running)
	for i := range j.Pods {
		if j.phases[i] == waits && len(pods) < n {
			pods = append(pods, i)
		}
	}
	if len(pods) < n {
		return nil
	}
	return pods
}

// podSet returns pods as a pod set, of which those over a number yield one by one. Pods that differ yield together.
func (s *Session) podSet(pods []workload.Pod, least int) workload.PodSet {
	set := workload.PodSet{Name: rooms.PodSet, Count: int64(len(pods))}
	sum := workload.Resources{}
	same := true
	for i := range pods {
		for _, r := range s.tree.Resources {
			same = same && kai.Counts(&pods[i], r.Name) == kai.Counts(&pods[0], r.Name)
			sum[r.Name] = quota.Add(sum[r.Name], kai.Counts(&pods[i], r.Name))
		}
	}
	if same {
		for name := range sum {
			sum[name] = kai.Counts(&pods[0], name)
		}
		if least < len(pods) && len(pods) <= workload.MaxElasticCount {
			set.MinCount = workload.AtLeast(int64(least))
		}
	} else {
		set.Count = 1
	}
	for _, r := range s.tree.Resources {
		if n := sum[r.Name]; n > 0 {
			set.Requests = append(set.Requests, quota.Amount{Flavor: s.flavor, Resource: r.Name, Amount: min(n, quota.MaxUsage)})
		}
	}
	return set
}

// held returns what runs of a job.
func (s *Session) held(j *job) workload.Workload {
	w := j.Workload.Clone()
	var pods []workload.Pod
	for i := range j.Pods {
		if j.phases[i].holds() {
			pods = append(pods, j.Pods[i])
		}
	}
	w.PodSets = []workload.PodSet{s.podSet(pods, j.Minimum)}
	return w
}

// asks returns pods of a job that wait as a workload.
func (s *Session) asks(j *job, pods []workload.Pod) workload.Workload {
	w := j.Workload.Clone()
	w.PodSets = []workload.PodSet{s.podSet(pods, len(pods))}
	w.ReservedAt, w.ID = time.Time{}, j.waitsAs()
	return w
}

// waitsAs is the ID of what waits of a job.
func (j *job) waitsAs() string {
	if j.running > 0 {
		return j.Workload.ID + More
	}
	return j.Workload.ID
}

// kind is the same for workloads about which the answer is the same.
func kind(w *workload.Workload, pods []workload.Pod) string {
	text := fmt.Sprint(w.Queue, " ", w.Priority, w.NeverYields, w.NeverPreempts)
	for i := range pods {
		text += fmt.Sprint(pods[i].Requests, pods[i].Labels, pods[i].Nodes, pods[i].Nowhere)
	}
	return text
}
