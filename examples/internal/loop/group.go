package loop

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/cedesched/cede/examples/internal/world"
)

// Group is what the jobs of a kind came to. Only jobs that finished, and that were submitted in the time that counts, are in it.
type Group struct {
	Name      string `json:"name"`
	Jobs      int64  `json:"jobs"`
	Evictions int64  `json:"evictions"`
	Lost      int64  `json:"lost"` // thousandths of a GPU × seconds
	Wait      Spread `json:"wait"` // over all waits of a job
	Done      Spread `json:"done"` // from submission to the end
}

func (g *Group) add(j *job, now int64) {
	g.Jobs++
	g.Evictions += j.evictions
	g.Lost += j.lost
	g.Wait.add(j.waited)
	g.Done.add(now - j.Submit)
}

func (g *Group) end() {
	g.Wait.end()
	g.Done.end()
}

// Merge adds a group of another replay.
func (g *Group) Merge(o Group) {
	g.Jobs, g.Evictions, g.Lost = g.Jobs+o.Jobs, g.Evictions+o.Evictions, g.Lost+o.Lost
	g.Wait.Merge(o.Wait)
	g.Done.Merge(o.Done)
}

const (
	// maxPriorities is how many priorities are groups of their own. More are divided into bands with about as many jobs each.
	maxPriorities = 8
	bands         = 5
	// maxQueues is how many queues are groups of their own, those with the most jobs; the others are one.
	maxQueues = 20
)

// kinds tells the groups of a job.
type kinds struct {
	priorities []int64 // the lowest of each group, the highest first
	queues     map[string]int
	others     int // the group of the other queues
}

// makeGroups makes the groups of a world.
func (r *Result) makeGroups(w *world.World) {
	r.kinds.makePriorities(r, w)
	for size := 0; size <= largestSize(w); size++ {
		r.Sizes = append(r.Sizes, Group{Name: sizeName(size)})
	}
	count := map[string]int{}
	for i := range w.Jobs {
		count[w.Jobs[i].Queue]++
	}
	var names []string
	for name := range count {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	r.kinds.queues, r.kinds.others = map[string]int{}, min(len(names), maxQueues)
	for i, name := range names[:r.kinds.others] {
		r.kinds.queues[name] = i
		r.Queues = append(r.Queues, Group{Name: name})
	}
	if n := len(names) - r.kinds.others; n > 0 {
		r.Queues = append(r.Queues, Group{Name: fmt.Sprintf("%d others", n)})
	}
}

func (k *kinds) makePriorities(r *Result, w *world.World) {
	list := w.Priorities() // the highest first
	if len(list) <= maxPriorities {
		k.priorities = list
		for _, p := range list {
			r.Priorities = append(r.Priorities, Group{Name: fmt.Sprint(p)})
		}
		return
	}
	k.priorities = w.PriorityBands(bands)
	for i, low := range k.priorities {
		high := list[0]
		if i > 0 {
			at, _ := slices.BinarySearchFunc(list, k.priorities[i-1], func(p, of int64) int { return cmp.Compare(of, p) })
			high = list[at+1]
		}
		name := fmt.Sprintf("%d to %d", low, high)
		if low == high {
			name = fmt.Sprint(low)
		}
		r.Priorities = append(r.Priorities, Group{Name: name})
	}
}

// sizeOf is the binary logarithm of the GPUs of a job, rounded up: 1, 2, 3-4, 5-8 and so on.
func sizeOf(gpu int64) int { return bits.Len64(uint64(max(gpu, 1)-1) / 1000) }

func largestSize(w *world.World) (most int) {
	for i := range w.Jobs {
		most = max(most, sizeOf(w.Jobs[i].GPU))
	}
	return most
}

func sizeName(size int) string {
	switch size {
	case 0, 1:
		return fmt.Sprint(size + 1)
	}
	return fmt.Sprintf("%d-%d", 1<<(size-1)+1, 1<<size)
}

// groupsOf returns the groups of a job.
func (r *Result) groupsOf(j *world.Job) [4]*Group {
	p := world.BandOf(r.kinds.priorities, j.Priority)
	q, ok := r.kinds.queues[j.Queue]
	if !ok {
		q = r.kinds.others
	}
	return [4]*Group{&r.All, &r.Priorities[p], &r.Sizes[sizeOf(j.GPU)], &r.Queues[q]}
}

// each calls do with every group.
func (r *Result) each(do func(*Group)) {
	do(&r.All)
	for _, groups := range [][]Group{r.Priorities, r.Sizes, r.Queues} {
		for i := range groups {
			do(&groups[i])
		}
	}
}
