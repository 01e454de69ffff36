package model

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// maxColours is the number of colours for priorities.
const maxColours = 6

// band is what one colour stands for: the priorities from least to most that workloads have.
type band struct{ least, most int64 }

// bands divides the priorities of all workloads, with the edits and without, into as many bands as there are
// colours, lowest first. Few priorities have a colour each.
func (m *Model) bands() []band {
	if m.legend != nil {
		return m.legend
	}
	if m.without == nil {
		m.without = []int64{}
		for w := range m.origin.Snapshot.Workloads() {
			m.without = append(m.without, w.EffectivePriority())
		}
		slices.Sort(m.without)
		m.without = slices.Compact(m.without)
	}
	all := slices.Clone(m.without)
	for _, s := range [...]*side{m.origin, m.now} {
		for _, w := range s.changed {
			all = append(all, w.EffectivePriority())
		}
		for i := range s.waiting {
			all = append(all, s.waiting[i].Workload.EffectivePriority())
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	m.legend = []band{}
	for n, i := min(len(all), maxColours), 0; i < n; i++ {
		m.legend = append(m.legend, band{all[i*len(all)/n], all[(i+1)*len(all)/n-1]})
	}
	return m.legend
}

// Range is a colour of the legend.
type Range struct {
	Colour int    `json:"colour"` // from 0 to 5, over all six
	Text   string `json:"text"`
}

// ranges says what each colour stands for.
func (m *Model) ranges() []Range {
	list := []Range{}
	for i, b := range m.bands() {
		text := strconv.FormatInt(b.least, 10)
		if b.most > b.least {
			text = fmt.Sprintf("%d to %d", b.least, b.most)
		}
		list = append(list, Range{spread(i, len(m.bands())), text})
	}
	return list
}

// colourOf is the colour of a priority.
func (m *Model) colourOf(priority int64) int {
	bands := m.bands()
	i, _ := slices.BinarySearchFunc(bands, priority, func(b band, p int64) int {
		switch {
		case b.most < p:
			return -1
		case b.least > p:
			return 1
		}
		return 0
	})
	return spread(min(i, max(0, len(bands)-1)), len(bands))
}

// spread spreads few bands over all colours.
func spread(i, of int) int {
	if of < 2 {
		return maxColours / 2
	}
	return i * (maxColours - 1) / (of - 1)
}

// kindsKey is what kinds of bars depend on.
type kindsKey struct {
	column quota.FlavorResource
	after  bool
}

// blockKinds are the names of marks of a [Block].
var blockKinds = map[string]string{"victim": "yields", "gone": "gone", "new": "admitted", "leaving": "was told to stop"}

// kinds lists the kinds of bars and blocks that the tree has, in the order of the legend.
func (m *Model) kinds(s *preemption.Snapshot, column quota.FlavorResource, after bool) []string {
	v := m.ensure()
	key := kindsKey{column, after}
	if list, ok := v.kinds[key]; ok {
		return list
	}
	there := map[string]bool{}
	for _, n := range m.nodes {
		r := m.row(s, n, column, m.scale(column, n, false), false, after)
		for kind, is := range map[string]bool{
			"quota": r.NominalTo > max(r.UsedTo, r.ReservedTo), "used": r.UsedTo > 0 && r.NominalTo > 0, "reserved": r.ReservedTo > 0,
			"borrowed": r.UsedTo > r.NominalTo, "lent": r.LentFrom > 0 && r.LentFrom < r.NominalTo, "room": r.RoomTo > r.UsedTo, "short": r.Short,
		} {
			there[kind] = there[kind] || is
		}
		for _, b := range r.Blocks {
			there[blockKinds[b.Mark]] = true
			there["has to leave"] = there["has to leave"] || b.Leaves
		}
	}
	list := []string{}
	for _, kind := range []string{"quota", "used", "reserved", "borrowed", "lent", "room", "short", "yields", "has to leave", "was told to stop", "gone", "admitted"} {
		if there[kind] {
			list = append(list, kind)
		}
	}
	v.kinds[key] = list
	return list
}
