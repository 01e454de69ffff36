package limits

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/cedesched/cede/internal/persist/ordered"
)

// groups gives numbers to what events have in common: where they come from (the queue of the preemptor,
// the configuration and its rules), or where they go (the queue of the victim). It is immutable; the
// zero value is empty.
type groups struct {
	byClass, byNumber ordered.Set[*group, none]
}

// group is a class of which one side is not set.
type group struct {
	number int32
	class  Class
}

type none = struct{}

var (
	byClass = &ordered.Order[*group, none]{Compare: func(a, b *group) int { return compareClasses(&a.class, &b.class) }}
	byGroup = &ordered.Order[*group, none]{Compare: func(a, b *group) int { return cmp.Compare(a.number, b.number) }}
)

func newGroups() groups { return groups{ordered.New(byClass), ordered.New(byGroup)} }

func compareClasses(a, b *Class) int {
	return cmp.Or(strings.Compare(a.PreemptingQueue, b.PreemptingQueue), strings.Compare(a.PreemptedQueue, b.PreemptedQueue),
		strings.Compare(a.Config, b.Config), slices.Compare(a.Rules, b.Rules))
}

// with returns the groups with a class, and its number: the lowest that no other one has.
func (g groups) with(c Class) (groups, int32) {
	if known, ok := g.byClass.Get(func(o *group) int { return compareClasses(&o.class, &c) }); ok {
		return g, known.number
	}
	free := sort.Search(g.byNumber.Len(), func(i int) bool { return g.byNumber.At(i).number > int32(i) })
	c.Rules = slices.Clone(c.Rules)
	added := &group{int32(free), c}
	return groups{g.byClass.Insert(added), g.byNumber.Insert(added)}, added.number
}

// without returns the groups without those of the numbers of which no events are left.
func (g groups) without(numbers []int32, events func(number int32) run) groups {
	slices.Sort(numbers)
	for _, number := range slices.Compact(numbers) {
		left := events(number)
		if steps := 0; left.any(&steps) {
			continue
		}
		gone := g.of(number)
		g.byClass, _ = g.byClass.Delete(gone)
		g.byNumber, _ = g.byNumber.Delete(gone)
	}
	return g
}

// of returns the group of a number, which must be there.
func (g groups) of(number int32) *group {
	found, _ := g.byNumber.Get(func(o *group) int { return cmp.Compare(o.number, number) })
	return found
}

// each yields all groups, or those of which the preempting queue is the given one, by class.
func (g groups) each(preempting string, yield func(*group)) {
	var cursor ordered.Cursor[*group, none]
	cursor.Seek(g.byClass, func(o *group) bool { return o.class.PreemptingQueue < preempting })
	for ; ; cursor.Next() {
		o, ok := cursor.Item()
		if !ok || preempting != "" && o.class.PreemptingQueue != preempting {
			return
		}
		yield(o)
	}
}

// list returns the groups by number; nil where a number is free.
func (g groups) list() []*group {
	n := g.byNumber.Len()
	if n == 0 {
		return nil
	}
	list := make([]*group, g.byNumber.At(n-1).number+1)
	g.each("", func(o *group) { list[o.number] = o })
	return list
}
