package kai

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// SharesGPU reports whether a pod of the state takes a part of a GPU.
func SharesGPU(p *workload.Pod) bool {
	return p.Labels[fractionAnnotation] != "" || p.Labels[memoryAnnotation] != ""
}

// Devices is the rule of GPUs that pods share: a part has to fit on one GPU, which has room or is empty, and a pod of whole GPUs takes empty
// ones. The labels of pods in the state say what they share. Where no pod takes a part, the sums of a node say as much.
type Devices struct{}

// Reach implements [placement.SetFilter].
func (Devices) Reach() placement.Reach { return placement.ReachNode }

// Begin implements [placement.SetFilter].
func (Devices) Begin(snapshot *placement.Snapshot, _ placement.Request) placement.Trial {
	t := &deviceTrial{map[string]*GPUs{}}
	for n := range snapshot.Nodes() {
		t.on[n.Name] = GPUsOf(&n)
		for p := range snapshot.PodsOn(n.Name) {
			t.on[n.Name].Count(&p, 1)
		}
	}
	return t
}

// deviceTrial has the GPUs of nodes by name.
type deviceTrial struct{ on map[string]*GPUs }

// Add implements [placement.Trial].
func (t *deviceTrial) Add(p workload.Pod) { t.on[p.Node].Count(&p, 1) }

// Remove implements [placement.Trial].
func (t *deviceTrial) Remove(p workload.Pod) { t.on[p.Node].Count(&p, -1) }

// Allows implements [placement.Trial].
func (t *deviceTrial) Allows(p workload.Pod, node workload.Node) bool {
	return t.on[node.Name].Fits(&p)
}

// GPUs are those of a node. Parts are in units of the memory of one. Make them with [GPUsOf].
type GPUs struct {
	count, whole, memory int64
	used                 map[string]int64 // of GPUs that pods share
	loose                map[string]int64 // parts by pod, of which it is not said which GPU they are on
}

// GPUsOf returns the GPUs of a node without pods.
func GPUsOf(n *workload.Node) *GPUs {
	memory, _ := gpuMemory(n.Labels)
	return &GPUs{count: n.Capacity[GPU] / wholeGPU, memory: memory, used: map[string]int64{}, loose: map[string]int64{}}
}

// Clone returns a copy.
func (n *GPUs) Clone() *GPUs {
	c := *n
	c.used, c.loose = maps.Clone(n.used), maps.Clone(n.loose)
	return &c
}

// Count counts a pod that is on the node, or with the sign -1 was. Nil, of a node that is not known, counts nothing.
func (n *GPUs) Count(p *workload.Pod, sign int64) {
	if n == nil {
		return
	}
	if !SharesGPU(p) {
		n.whole += sign * (p.Requests[GPU] / wholeGPU)
		return
	}
	switch device := Device(p); {
	case device != "":
		if n.used[device] += sign * n.part(p); n.used[device] == 0 {
			delete(n.used, device)
		}
	case sign > 0:
		n.loose[p.ID] = n.part(p)
	default:
		delete(n.loose, p.ID)
	}
}

// part is what a pod takes of the memory of a GPU, in the arithmetic of KAI.
func (n *GPUs) part(p *workload.Pod) int64 {
	if text := p.Labels[memoryAnnotation]; text != "" {
		takes, _ := strconv.ParseInt(text, 10, 64) // the reader accepts no other
		return takes
	}
	portion, _ := strconv.ParseFloat(p.Labels[fractionAnnotation], 64)
	return int64(portion * float64(n.memory))
}

// Fits reports whether there is room for a pod that is not on the node. Nil has room for all.
func (n *GPUs) Fits(p *workload.Pod) bool {
	switch asks := p.Requests[GPU] / wholeGPU; {
	case n == nil:
		return true
	case SharesGPU(p):
		takes := n.part(p)
		_, empty := n.arrange(p, takes)
		return takes <= n.memory && empty >= 0
	default:
		_, empty := n.arrange(nil, 0)
		return asks == 0 || empty >= asks
	}
}

// Choose gives a part that fits its GPU: the fullest with room, else an empty one, its own if that is. The pod is on the node then.
func (n *GPUs) Choose(p *workload.Pod, node string) {
	device := Device(p)
	if p.Node != node || n.used[device] != 0 {
		device = ""
	}
	rooms, _ := n.arrange(nil, 0)
	if best := fullest(rooms, n.part(p)); best >= 0 {
		device = rooms[best].device
	}
	p.Node, p.Labels = node, maps.Clone(p.Labels)
	if p.Labels[deviceLabel] = node + "/" + device; device == "" {
		delete(p.Labels, deviceLabel)
	}
}

// room is what is free of a GPU that pods share.
type room struct {
	device string // empty: its pods do not say
	free   int64
}

// arrange returns the GPUs that pods share, and how many are empty, once one more part is there (nil: none). Parts of which it is not said where
// they are go the largest first to the fullest GPU that has room. Fewer than none: there are too few.
func (n *GPUs) arrange(more *workload.Pod, takes int64) (rooms []room, empty int64) {
	parts := n.loose
	if more != nil {
		parts = maps.Clone(parts)
		parts[more.ID] = takes
	}
	for _, device := range slices.Sorted(maps.Keys(n.used)) {
		rooms = append(rooms, room{device, n.memory - n.used[device]})
	}
	empty = n.count - n.whole - int64(len(rooms))
	for _, id := range slices.SortedFunc(maps.Keys(parts), func(a, b string) int { return cmp.Or(cmp.Compare(parts[b], parts[a]), cmp.Compare(a, b)) }) {
		best := fullest(rooms, parts[id])
		if best < 0 {
			rooms, best = append(rooms, room{free: n.memory}), len(rooms)
			empty--
		}
		rooms[best].free -= parts[id]
	}
	return rooms, empty
}

// fullest returns the place of the first GPU of those with the least room that have enough; -1: none has.
func fullest(rooms []room, takes int64) int {
	best := -1
	for i := range rooms {
		if r := rooms[i].free; r >= takes && (best < 0 || r < rooms[best].free) {
			best = i
		}
	}
	return best
}
