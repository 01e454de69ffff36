package room

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/cedesched/cede/quota"
)

// Least bounds the victims of a domain from below.
type Least struct {
	Pods    int64 // so many pods must yield; zero: perhaps none
	Highest int32 // one of this priority, or a higher one; the highest there is if all that may yield are not enough
	Sum     int64 // of the weights of so many pods
	Slot    int   // of which most pods must yield
}

// tally is the pods of a row.
type tally struct {
	priority  int32
	row, node int32
}

// least is the memory of [Rows.LeastVictims].
type least struct {
	missing, largest []int64 // by slot
	rows             []tally
	free             []int64 // by node of the domain, of one slot
	steps            []int64
}

// LeastVictims returns bounds on the victims for members that need at least so much, by slot: what is missing in the domain
// together, whichever nodes the members use. It counts no unit that stays and no claim; more room only lowers the bounds.
func (r *Rows) LeastVictims(d Domain, needs []int64, weight func(priority int32) int64) (b Least) {
	m := &r.least
	m.missing, m.largest, m.rows = append(m.missing[:0], needs...), Resize(m.largest, len(needs)), m.rows[:0]
	clear(m.largest)
	for i := d.From; i < d.To; i++ {
		from, to := r.of(i)
		capacity, fixed := r.row(r.capacity, i), r.row(r.fixed, i)
		for slot, column := range r.columns {
			free := capacity[slot] - fixed[slot]
			for row := from; row < to; row++ {
				free -= r.row(r.yields, row)[slot]
			}
			if m.missing[slot] > 0 {
				m.missing[slot] -= max(0, free)
			}
			if column >= 0 && int(column) < r.Nodes[i].Width() {
				m.largest[slot] = max(m.largest[slot], r.Nodes[i].Largest[column])
			}
		}
		for row := from; row < to; row++ {
			m.rows = append(m.rows, tally{r.classes[row].Priority, int32(row), int32(i)})
		}
	}
	for slot, missing := range m.missing {
		if needs[slot] > 0 && missing > 0 {
			if pods := (missing-1)/max(1, m.largest[slot]) + 1; pods > b.Pods {
				b.Pods, b.Slot = pods, slot
			}
		} else {
			m.missing[slot] = 0
		}
	}
	if b.Pods == 0 {
		return b
	}
	slices.SortFunc(m.rows, func(a, b tally) int { return cmp.Compare(a.priority, b.priority) })
	left := b.Pods
	for _, t := range m.rows {
		pods := min(left, int64(r.pods[t.row]))
		left, b.Sum = left-pods, b.Sum+pods*weight(t.priority)
		enough := left == 0
		for slot, amount := range r.row(r.yields, int(t.row)) {
			if m.missing[slot] > 0 {
				m.missing[slot] -= amount
			}
			enough = enough && m.missing[slot] <= 0
		}
		if b.Highest = t.priority; enough {
			return b
		}
	}
	b.Highest = math.MaxInt32
	return b
}

// LeastHighest returns the lowest priority such that without all pods up to it so many members have room that need at least so
// much of a slot each. Only [Rows.LeastVictims] of the same domain may come before it.
func (r *Rows) LeastHighest(d Domain, slot int, need int64, count int) int32 {
	m := &r.least
	m.free = Resize(m.free, d.Size())
	placesIn := func(free int64) int64 { return min(int64(count), max(0, free)/need) }
	places := int64(0)
	for i := d.From; i < d.To; i++ {
		from, to := r.of(i)
		free := r.row(r.capacity, i)[slot] - r.row(r.fixed, i)[slot]
		for row := from; row < to; row++ {
			free -= r.row(r.yields, row)[slot]
		}
		m.free[i-d.From] = free
		places += placesIn(free)
	}
	for _, t := range m.rows {
		free := &m.free[int(t.node)-d.From]
		places -= placesIn(*free)
		*free += r.row(r.yields, int(t.row))[slot]
		if places += placesIn(*free); places >= int64(count) {
			return t.priority
		}
	}
	return math.MaxInt32
}

// LeastSum returns a lower bound on the sum of the weights of the victims of a domain, of which so many members need at least so
// much of a slot each: on each node whole members; of the pods there those of the lowest priority, any part of them, as if each
// freed as much as the largest. The bound is infinite if there is no room for so many.
func (r *Rows) LeastSum(d Domain, slot int, need int64, count int, weight func(priority int32) int64) int64 {
	steps := r.least.steps[:0]
	for i := d.From; i < d.To; i++ {
		steps = r.appendSteps(steps, i, slot, need, count, weight)
	}
	r.least.steps = steps
	if len(steps) < count {
		return math.MaxInt64
	}
	slices.Sort(steps)
	sum := int64(0)
	for _, step := range steps[:count] {
		sum = quota.Add(sum, step)
	}
	return sum
}

// appendSteps appends what each further member on a node adds to the sum at least.
func (r *Rows) appendSteps(steps []int64, i, slot int, need int64, count int, weight func(priority int32) int64) []int64 {
	row, to := r.of(i)
	free, largest := r.row(r.capacity, i)[slot]-r.row(r.fixed, i)[slot], int64(1)
	for k := row; k < to; k++ {
		free -= r.row(r.yields, k)[slot]
	}
	if column := r.columns[slot]; column >= 0 && int(column) < r.Nodes[i].Width() {
		largest = max(largest, r.Nodes[i].Largest[column])
	}
	// weigh returns what an amount that pods of a row free weighs at least.
	weigh := func(row int, amount int64) int64 {
		high, low := bits.Mul64(uint64(weight(r.classes[row].Priority)), uint64(amount))
		if high >= uint64(largest) {
			return math.MaxInt64 // more pods than a node can have
		}
		pods, _ := bits.Div64(high, low, uint64(largest))
		return int64(min(pods, math.MaxInt64))
	}
	taken, sum, last := int64(0), int64(0), int64(0)
	for m := int64(1); m <= int64(count) && m <= quota.MaxUsage/need; m++ {
		missing := m*need - free
		for ; row < to && taken+r.row(r.yields, row)[slot] <= missing; row++ {
			amount := r.row(r.yields, row)[slot]
			taken, sum = taken+amount, quota.Add(sum, weigh(row, amount))
		}
		now := sum
		if rest := missing - taken; rest > 0 {
			if row == to {
				break
			}
			now = quota.Add(now, weigh(row, rest))
		}
		steps, last = append(steps, now-last), now
	}
	return steps
}
