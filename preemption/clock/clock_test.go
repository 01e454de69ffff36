package clock_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/clock"
)

var start = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// "It never goes back": a manual clock moves forward only.
func TestManual(t *testing.T) {
	m := clock.NewManual(start)
	m.Move(start.Add(time.Minute))
	m.Move(start)
	if now := clock.Clock(m).Now(); !now.Equal(start.Add(time.Minute)) {
		t.Errorf("%v", now)
	}
}

// "Without the monotonic reading", in UTC: a time of the clock equals its JSON form.
func TestSystem(t *testing.T) {
	now := clock.System{}.Now()
	if back := time.Unix(0, now.UnixNano()).UTC(); now != back || now.Location() != time.UTC {
		t.Errorf("%v is not %v", now, back)
	}
}

// An agenda is a list of entries, one for each key, read by time, then key; no method changes it.
func agendaIsList(t *rapid.T) {
	var agenda clock.Agenda[int, string]
	var list []clock.Entry[int, string]
	for range rapid.IntRange(0, 30).Draw(t, "steps") {
		key := rapid.IntRange(0, 5).Draw(t, "key")
		at := start.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "at")) * time.Second)
		before, length := agenda, len(list)
		switch rapid.SampledFrom([]string{"set", "never", "drop", "due"}).Draw(t, "step") {
		case "set":
			what := rapid.StringN(0, 2, 2).Draw(t, "what")
			agenda = agenda.Set(at, key, what)
			list = append(without(list, key), clock.Entry[int, string]{At: at, Key: key, What: what})
		case "never":
			agenda, list = agenda.Set(time.Time{}, key, "never"), without(list, key)
		case "drop":
			agenda, list = agenda.Drop(key), without(list, key)
		case "due":
			slices.SortFunc(list, func(a, b clock.Entry[int, string]) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key, b.Key)) })
			e, rest, ok := agenda.Due(at)
			if want := len(list) > 0 && !list[0].At.After(at); ok != want || ok && e != list[0] {
				t.Fatalf("due at %v: %v %t of %v", at, e, ok, list)
			}
			if agenda = rest; ok {
				list = slices.Clone(list[1:])
			}
		}
		if before.Len() != length {
			t.Fatalf("%d entries before the step, %d after it", length, before.Len())
		}
		next, ok := agenda.Next()
		first := slices.MinFunc(append([]clock.Entry[int, string]{{At: start.Add(time.Hour)}}, list...), func(a, b clock.Entry[int, string]) int { return a.At.Compare(b.At) })
		if agenda.Len() != len(list) || ok != (len(list) > 0) || ok && !next.Equal(first.At) {
			t.Fatalf("next %v %t of %v", next, ok, list)
		}
		for _, e := range list {
			if found, ok := agenda.Find(e.Key); !ok || found != e {
				t.Fatalf("%v is found as %v %t", e, found, ok)
			}
		}
	}
}

func without(list []clock.Entry[int, string], key int) []clock.Entry[int, string] {
	return slices.DeleteFunc(slices.Clone(list), func(e clock.Entry[int, string]) bool { return e.Key == key })
}

func TestAgendaIsList(t *testing.T) { rapid.Check(t, agendaIsList) }
