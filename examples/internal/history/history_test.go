package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/internal/input"
)

// version is a version of a workload with conditions of the form TYPE=STATUS@SECOND; an eviction has its preemptor behind it.
func version(name string, conditions ...string) string {
	var list []string
	for _, c := range conditions {
		var kind, status, by string
		var second int
		c = strings.NewReplacer("=", " ", "@", " ", ":", " ").Replace(c)
		if n, _ := fmt.Sscan(c, &kind, &status, &second, &by); n < 3 {
			panic(c)
		}
		list = append(list, fmt.Sprintf(`{"type":%q,"status":%q,"reason":"Preempted","message":"Preempted to accommodate a workload (UID: %s)","lastTransitionTime":"2026-11-20T08:%02d:%02dZ"}`,
			kind, status, by, second/60, second%60))
	}
	return fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":%q,"namespace":"ns","uid":%q,"creationTimestamp":"2026-11-20T07:00:00Z"},`+
		`"spec":{},"status":{"conditions":[%s],"admission":{"clusterQueue":"cq"}}}`, name, name, strings.Join(list, ","))
}

func readAll(t *testing.T, versions ...string) *History {
	t.Helper()
	h, err := Read([]input.Source{{Name: "versions", Reader: strings.NewReader(strings.Join(versions, "\n"))}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func second(n int) time.Time { return time.Date(2026, 11, 20, 8, 0, n, 0, time.UTC) }

// Victims that are told within five seconds of each other for one preemptor were chosen at once; others were not.
func TestEvictionsAtOnce(t *testing.T) {
	h := readAll(t, version("p", "QuotaReserved=True@90"),
		version("c", "QuotaReserved=True@10", "Evicted=True@64:p"), version("a", "QuotaReserved=True@10", "Evicted=True@60:p"),
		version("a", "QuotaReserved=True@120"), version("b", "QuotaReserved=True@10", "Evicted=True@70:p"),
		version("d", "QuotaReserved=True@10", "Evicted=True@61:other"))
	var got []string
	for _, e := range h.Evictions() {
		text := fmt.Sprintf("%d %s", e.At.Unix()-second(0).Unix(), e.Preemptor)
		for _, v := range e.Victims {
			text += " " + v.Workload
		}
		got = append(got, text+" "+e.Unknown)
	}
	want := []string{"60 ns/p ns/a ns/c ", "61  ns/d the preemptor, a Workload with UID other, is not in the history", "70 ns/p ns/b "}
	if !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if e := h.Evictions()[0]; !e.Started.Equal(second(90)) || !e.Victims[0].Back.Equal(second(120)) || !e.Victims[1].Back.IsZero() {
		t.Errorf("%+v", e)
	}
}

// Between the last sign that a workload held quota and the first that it did not it may have held it.
func TestWhatIsKnownOfALife(t *testing.T) {
	for name, c := range map[string]struct {
		versions []string
		at       string // a letter every 10 seconds from 5 on: - away, ? perhaps, # holds
		lacks    bool
	}{
		"whole":                    {[]string{version("w", "QuotaReserved=True@20"), version("w", "QuotaReserved=False@50", "Evicted=True@40:p")}, "--###---", false},
		"it runs still":            {[]string{version("w", "QuotaReserved=True@20")}, "--######", false},
		"finished":                 {[]string{version("w", "QuotaReserved=True@20", "Finished=True@60")}, "--####--", false},
		"its end is lost":          {[]string{version("w", "QuotaReserved=True@10"), version("w", "QuotaReserved=True@60")}, "-?????##", true},
		"told, and the end lost":   {[]string{version("w", "QuotaReserved=True@10", "Evicted=True@30:p"), version("w", "QuotaReserved=True@60")}, "-##???##", true},
		"the begin is lost":        {[]string{version("w", "QuotaReserved=False@50", "Evicted=True@40:p")}, "????#---", true},
		"it waited from the begin": {[]string{version("w", "QuotaReserved=False@50")}, "--------", false},
	} {
		h := readAll(t, c.versions...)
		got := ""
		for n := 5; n < 80; n += 10 {
			does, _ := h.lives["w"].at(second(n), 0)
			got += string("-?#"[does])
		}
		if got != c.at || (h.Lacks != "") != c.lacks {
			t.Errorf("%s: %s, lacks %q; want %s, %v", name, got, h.Lacks, c.at, c.lacks)
		}
	}
}
