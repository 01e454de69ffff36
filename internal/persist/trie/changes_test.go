package trie

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// Changes leads from one map to another, whatever edits lie between, and names each change once.
func changesLeadFromOneToTheOther(t *rapid.T) {
	size := rapid.SampledFrom([]int{0, 1, most, 5 * most, 2000}).Draw(t, "size")
	m := New(nameOf)
	for i := range size {
		m = m.Set(entry{fmt.Sprint(i), 0})
	}
	before := m
	for step := range rapid.SampledFrom([]int{0, 1, 5, 100, 3000}).Draw(t, "edits") {
		name := fmt.Sprint(rapid.IntRange(0, size+20).Draw(t, "name"))
		if rapid.Bool().Draw(t, "set") {
			m = m.Set(entry{name, rapid.IntRange(0, 1).Draw(t, "value") * step})
		} else {
			m, _ = m.Delete(name)
		}
	}
	got, none := collect(before), entry{}
	changed := map[string]bool{}
	Changes(before, m, func(was, is entry) {
		name := max(was.name, is.name)
		if value, ok := got[name]; changed[name] || was == is || ok != (was != none) || ok && value != was.value {
			t.Fatalf("%v to %v", was, is)
		}
		changed[name] = true
		if is == none {
			delete(got, name)
		} else {
			got[name] = is.value
		}
	})
	if !maps.Equal(got, collect(m)) {
		t.Fatalf("%v, want %v", got, collect(m))
	}
}

func TestChangesLeadFromOneToTheOther(t *testing.T) { rapid.Check(t, changesLeadFromOneToTheOther) }

// What two maps share is not looked at.
func TestChangesSkipWhatIsShared(t *testing.T) {
	var list []entry
	for i := range 10_000 {
		list = append(list, entry{fmt.Sprint(i), i})
	}
	asked := 0
	before := Of(func(e entry) string { asked++; return e.name }, list)
	m := before.Set(entry{"7", -1})
	asked = 0
	Changes(before, m, func(entry, entry) {})
	if asked == 0 || asked > 8*most {
		t.Errorf("asked for %d names", asked)
	}
}
