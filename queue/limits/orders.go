package limits

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/persist/ordered"
)

// record is an event in 48 bytes. It is immutable.
type record struct {
	at                int64
	victim, preemptor string
	from, to          int32 // numbers of groups
}

type eventSet = ordered.Set[*record, none]

// An event is in a set for each question that limits ask: all events, those from a group, those to a
// group, those from a group to a group, and those of a victim. In each set the events that are
// counted together are a run by time, so their number is a difference of two ranks.
type sets [len(orders)]eventSet

const (
	byTime = iota
	byFrom
	byTo
	byPair
	byVictim
)

var orders = [...]*ordered.Order[*record, none]{
	byTime:   {Compare: compareTimes, WideLeaves: true},
	byFrom:   {Compare: func(a, b *record) int { return cmp.Or(cmp.Compare(a.from, b.from), compareTimes(a, b)) }, WideLeaves: true},
	byTo:     {Compare: func(a, b *record) int { return cmp.Or(cmp.Compare(a.to, b.to), compareTimes(a, b)) }, WideLeaves: true},
	byPair:   {Compare: func(a, b *record) int { return cmp.Or(comparePairs(a, b), compareTimes(a, b)) }, WideLeaves: true},
	byVictim: {Compare: func(a, b *record) int { return cmp.Or(strings.Compare(a.victim, b.victim), compareTimes(a, b)) }, WideLeaves: true},
}

var emptySets = func() (s sets) {
	for i, order := range orders {
		s[i] = ordered.New(order)
	}
	return s
}()

// comparePairs orders by the group to which, because more limits count the events to one.
func comparePairs(a, b *record) int {
	return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from))
}

func compareTimes(a, b *record) int {
	if a.at != b.at { // the usual case
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Or(strings.Compare(a.victim, b.victim), strings.Compare(a.preemptor, b.preemptor), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
}

func (s *sets) insert(r *record) {
	for i := range s {
		s[i] = s[i].Insert(r)
	}
}

func (s *sets) delete(r *record) {
	for i := range s {
		s[i], _ = s[i].Delete(r)
	}
}

// chunk is how many records are allocated together, in the order of time: those of one time are trimmed
// together, so none keeps many others in memory. They take 8 kB.
const chunk = 170

// inTime returns copies of records by time, each once.
func inTime(records []record) []*record {
	list := make([]*record, len(records))
	for i := range records {
		list[i] = &records[i]
	}
	slices.SortFunc(list, compareTimes)
	list = slices.CompactFunc(list, func(a, b *record) bool { return *a == *b })
	for from := 0; from < len(list); from += chunk {
		some := list[from:min(from+chunk, len(list))]
		copies := make([]record, len(some))
		for i := range some {
			copies[i] = *some[i]
			some[i] = &copies[i]
		}
	}
	return list
}

// edited returns the sets without so many events that are the first by time, and with more records. It
// looks at every event.
func (s *sets) edited(gone int, added []record) (made sets) {
	var last *record
	if gone > 0 {
		last = s[byTime].At(gone - 1)
	}
	var lists [len(orders)][]*record
	lists[byTime] = inTime(added)
	lists[byFrom] = sorted(lists[byTime], func(r *record) int32 { return r.from })
	lists[byTo] = sorted(lists[byTime], func(r *record) int32 { return r.to })
	lists[byPair] = sorted(lists[byFrom], func(r *record) int32 { return r.to })
	lists[byVictim] = slices.Clone(lists[byTime])
	slices.SortFunc(lists[byVictim], orders[byVictim].Compare)
	for i, order := range orders {
		made[i] = ordered.Of(order, merged(s[i], last, lists[i], order))
	}
	return made
}

// sorted returns the records by a number, those of equal numbers in their order.
func sorted(list []*record, number func(*record) int32) []*record {
	most := int32(0)
	for _, r := range list {
		most = max(most, number(r))
	}
	if int(most) > 8*len(list) { // too few to count them
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b *record) int { return cmp.Compare(number(a), number(b)) })
		return list
	}
	ends := make([]int, most+2)
	for _, r := range list {
		ends[number(r)+1]++
	}
	for i := range ends[1:] {
		ends[i+1] += ends[i]
	}
	out := make([]*record, len(list))
	for _, r := range list {
		out[ends[number(r)]] = r
		ends[number(r)]++
	}
	return out
}

// merged returns the records of a set that are after the last one that goes, by time, and those added,
// each once.
func merged(set eventSet, last *record, added []*record, order *ordered.Order[*record, none]) []*record {
	if set.Len() == 0 {
		return added
	}
	list := make([]*record, 0, set.Len()+len(added))
	var cursor ordered.Cursor[*record, none]
	for cursor.First(set); ; cursor.Next() {
		r, ok := cursor.Item()
		if !ok {
			return append(list, added...)
		}
		if last != nil && compareTimes(r, last) <= 0 {
			continue
		}
		for len(added) > 0 && order.Compare(added[0], r) <= 0 {
			if *added[0] != *r {
				list = append(list, added[0])
			}
			added = added[1:]
		}
		list = append(list, r)
	}
}

// run is a part of a set in which the events follow each other by time.
type run struct {
	set *eventSet
	// side returns a negative number for events before the run, a positive one for those after it.
	side func(*record) int
}

// ranks returns the rank of the first event of the run after an instant, and that of the first one after
// the run. steps counts the events looked at.
func (r *run) ranks(after int64, steps *int) (first, end int) {
	first = r.set.Rank(func(e *record) bool {
		*steps++
		side := r.side(e)
		return side < 0 || side == 0 && e.at <= after
	})
	end = r.set.Rank(func(e *record) bool {
		*steps++
		return r.side(e) <= 0
	})
	return first, end
}

// event returns what was added as a record.
func (h *History) event(r *record) Event {
	return Event{r.preemptor, r.victim, instant.Time(r.at), h.class(r)}
}

// class returns the class of a record. Its rules are those of the history.
func (h *History) class(r *record) Class {
	c := h.from.of(r.from).class
	c.PreemptedQueue = h.to.of(r.to).class.PreemptedQueue
	return c
}
