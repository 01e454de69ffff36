package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Many priorities of sacct, which order a queue, become three; a setting says how many, of any records. Jobs of a band have its lowest
// priority, so that none preempts another.
func TestBands(t *testing.T) {
	sacct, table := "JobID|Account|Submit|ElapsedRaw|AllocTRES|Priority\n", "job,queue,submit,duration,gpus,priority\n"
	for i := range 90 {
		sacct += fmt.Sprintf("%d|a|2026-01-01T00:00:%02d|60|gres/gpu=1|%d\n", i, i%60, i)
		table += fmt.Sprintf("%d,a,%d,60,1,%d\n", i, i, i)
	}
	for name, c := range map[string]struct {
		text, setting string
		want          int
		lowest        []int64
	}{
		"sacct": {sacct, "", 3, []int64{60, 30, 0}}, "as they are": {sacct, "+bands=0", 90, nil}, "two": {sacct, "+bands=2", 2, []int64{45, 0}},
		"a table": {table, "", 90, nil}, "a table, in bands": {table, "+bands=9", 9, nil}, "few": {strings.Join(strings.SplitAfter(sacct, "\n")[:15], ""), "", 14, nil},
	} {
		trace, err := Read(writeFile(t, "records", c.text), "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, settings, err := ParseName("x" + c.setting)
		if err != nil {
			t.Fatal(err)
		}
		w := New(trace, settings)
		got := w.Priorities()
		if said := strings.Contains(strings.Join(w.Notes, " "), fmt.Sprintf("%d priorities in place of 90", c.want)); len(got) != c.want || said != (c.want < 14) {
			t.Errorf("%s: %d priorities, said %t: %q", name, len(got), said, w.Notes)
		}
		if c.lowest != nil && !slices.Equal(got, c.lowest) {
			t.Errorf("%s: %v", name, got)
		}
	}
	same := Trace{Jobs: []Job{{Priority: 7}, {Priority: 7}, {Priority: 7}}}
	if got := same.PriorityBands(3); !slices.Equal(got, []int64{7}) || BandOf(got, 7) != 0 || BandOf(got, 3) != 0 {
		t.Errorf("%v", got)
	}
}
