package kai

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// SharesGPU reports whether a pod of the state takes a part of a GPU.
func SharesGPU(p workload.Pod) bool {
	return p.Labels[fractionAnnotation] != "" || p.Labels[memoryAnnotation] != ""
}

// Devices is the rule of GPUs that pods share: a part has to fit on one GPU, which has room or is empty, and a pod of whole GPUs takes empty
// ones. The labels of pods in the state say what they share. Where no pod takes a part, the sums of a node say as much.
type Devices struct{}

// Reach implements [placement.SetFilter].
func (Devices) Reach() placement.Reach { return placement.ReachNode }

// Begin implements [placement.SetFilter].
func (Devices) Begin(snapshot *placement.Snapshot, _ placement.Request) placement.Trial {
	t := deviceTrial{}
	for n := range snapshot.Nodes() {
		memory, _ := gpuMemory(n.Labels)
		t[n.Name] = &shared{count: n.Capacity[GPU] / wholeGPU, memory: memory, used: map[string]int64{}, loose: map[string]int64{}}
	}
	for p := range snapshot.Pods() {
		t.Add(p)
	}
	return t
}

// deviceTrial has the GPUs of nodes by name.
type deviceTrial map[string]*shared

// shared are the GPUs of a node. Parts are in units of the memory of one.
type shared struct {
	count, whole, memory int64
	used                 map[string]int64 // of GPUs that pods share
	loose                map[string]int64 // parts by pod, of which it is not said which GPU they are on
}

// Add implements [placement.Trial].
func (t deviceTrial) Add(p workload.Pod) { t.count(p, 1) }

// Remove implements [placement.Trial].
func (t deviceTrial) Remove(p workload.Pod) { t.count(p, -1) }

func (t deviceTrial) count(p workload.Pod, sign int64) {
	n := t[p.Node]
	switch {
	case n == nil:
	case !SharesGPU(p):
		n.whole += sign * (p.Requests[GPU] / wholeGPU)
	default:
		takes := n.part(&p)
		switch device := Device(&p); {
		case device != "":
			if n.used[device] += sign * takes; n.used[device] == 0 {
				delete(n.used, device)
			}
		case sign > 0:
			n.loose[p.ID] = takes
		default:
			delete(n.loose, p.ID)
		}
	}
}

// part is what a pod takes of the memory of a GPU, in the arithmetic of KAI.
func (n *shared) part(p *workload.Pod) int64 {
	if text := p.Labels[memoryAnnotation]; text != "" {
		takes, _ := strconv.ParseInt(text, 10, 64) // the reader accepts no other
		return takes
	}
	portion, _ := strconv.ParseFloat(p.Labels[fractionAnnotation], 64)
	return int64(portion * float64(n.memory))
}

// Allows implements [placement.Trial].
func (t deviceTrial) Allows(p workload.Pod, node workload.Node) bool {
	n := t[node.Name]
	switch {
	case n == nil:
		return true
	case !SharesGPU(p):
		asks := p.Requests[GPU] / wholeGPU
		return asks == 0 || n.empty("", 0) >= asks
	}
	takes := n.part(&p)
	return takes <= n.memory && n.empty(p.ID, takes) >= 0
}

// empty returns how many GPUs nobody uses once one more part is there (empty: none): parts of which it is not said where they are go the
// largest first to the fullest GPU that has room. Negative: there are too few.
func (n *shared) empty(more string, takes int64) int64 {
	parts := maps.Clone(n.loose)
	if more != "" {
		parts[more] = takes
	}
	free := n.count - n.whole - int64(len(n.used))
	if len(parts) == 0 {
		return free
	}
	var room []int64
	for _, used := range n.used {
		room = append(room, n.memory-used)
	}
	ids := slices.SortedFunc(maps.Keys(parts), func(a, b string) int { return cmp.Or(cmp.Compare(parts[b], parts[a]), cmp.Compare(a, b)) })
	for _, id := range ids {
		best, least := -1, int64(math.MaxInt64)
		for i, r := range room {
			if r >= parts[id] && r < least {
				best, least = i, r
			}
		}
		if best < 0 {
			room, best = append(room, n.memory), len(room)
			free--
		}
		room[best] -= parts[id]
	}
	return free
}
