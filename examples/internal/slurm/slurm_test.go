package slurm

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/preemption/audit"
)

func history(t *testing.T, skew time.Duration, files ...string) *History {
	t.Helper()
	var sources []input.Source
	for i, text := range files {
		sources = append(sources, input.Source{Name: fmt.Sprint("file ", i+1), Reader: strings.NewReader(text)})
	}
	h, err := Read(sources, skew)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// count is what became of the preemptions of lived clusters.
type count struct {
	right, accused, judgedRight    int
	spoilt, found, passed, unknown map[string]int
	why                            map[string]int
}

func newCount() *count {
	return &count{spoilt: map[string]int{}, found: map[string]int{}, passed: map[string]int{}, unknown: map[string]int{}, why: map[string]int{}}
}

func (c *count) String() string {
	return fmt.Sprintf("right %d: %d judged so, %d accused; spoilt %v: found %v, passed %v, unknown %v", c.right, c.judgedRight, c.accused, c.spoilt, c.found, c.passed, c.unknown)
}

// compare counts what is said of a lived cluster.
func (c *count) compare(t *testing.T, seed uint64, l *lived, h *History) {
	t.Helper()
	for _, p := range h.Preemptions() {
		kind := ""
		for _, v := range p.Victims {
			truth := l.truth[fmt.Sprint(v.Job, " ", v.run.End)]
			if truth == nil {
				t.Fatalf("seed %d: %s was not preempted at %d", seed, v.Job, v.run.End)
			}
			if kind == "" || kind == "Right" {
				kind = truth.kind
			}
		}
		wrong := p.Verdict != 0 && p.Verdict != audit.Right
		if p.Verdict == 0 {
			words := strings.Fields(p.Unknown)
			for i, w := range words {
				if strings.ContainsAny(w, "0123456789") {
					words[i] = "N"
				}
			}
			c.why[strings.Join(words, " ")]++
			if p.Unknown == "" {
				t.Fatalf("seed %d: unknown without a reason", seed)
			}
		}
		if kind == "Right" {
			c.right++
			if p.Verdict == audit.Right {
				c.judgedRight++
			}
			if wrong {
				c.accused++
				t.Logf("seed %d: at %s %s preempted %v: %v %v", seed, time.Unix(p.At, 0).UTC().Format(time.DateTime), p.Preemptor, p.Victims, p.Verdict, p.Why)
			}
			continue
		}
		c.spoilt[kind]++
		switch {
		case wrong:
			c.found[kind]++
		case p.Verdict == audit.Right:
			c.passed[kind]++
		default:
			c.unknown[kind]++
		}
	}
}

func (c *count) say(t *testing.T, name string) {
	t.Logf("%s: %v", name, c)
	var reasons []string
	for why := range c.why {
		reasons = append(reasons, why)
	}
	slices.SortFunc(reasons, func(a, b string) int { return c.why[b] - c.why[a] })
	for i, why := range reasons {
		if i < 12 {
			t.Logf("  %5d %s", c.why[why], why)
		}
	}
}

// Faults that were put into histories are found or unknown, each with a reason, and none is invented: of whole histories, in any order,
// cut off, with rows lost, without the log, without the nodes, with a log whose clock is another. SLURM_LIVES=1000 looks at more.
func TestLived(t *testing.T) {
	n := uint64(20)
	if v, err := strconv.ParseUint(os.Getenv("SLURM_LIVES"), 10, 32); err == nil {
		n = v
	} else if testing.Short() {
		n = 5
	}
	whole, shuffled, cut, lost, noLog, noNodes, skewed := newCount(), newCount(), newCount(), newCount(), newCount(), newCount(), newCount()
	for seed := range n {
		l := newLived(seed, true).live(300)
		nodes := l.nodesJSON()
		whole.compare(t, seed, l, history(t, 0, rowsOf(l.rows), qosRows, nodes, configLines, logOf(l)))
		noLog.compare(t, seed, l, history(t, 0, rowsOf(l.rows), qosRows, nodes, configLines))
		noNodes.compare(t, seed, l, history(t, 0, rowsOf(l.rows), qosRows, logOf(l)))
		sorted := slices.Sorted(slices.Values(l.rows))
		text := rowsOf(l.rows)
		for _, rows := range []string{text[:len(text)*2/3], rowsOf(sorted[:len(sorted)*2/3]), rowsOf(sorted[len(sorted)/3:])} {
			cut.compare(t, seed, l, history(t, 0, rows, qosRows, nodes, configLines, logOf(l)))
		}
		kept := slices.DeleteFunc(slices.Clone(l.rows), func(string) bool { return l.IntN(20) == 0 })
		lost.compare(t, seed, l, history(t, 0, rowsOf(kept), qosRows, nodes, configLines, logOf(l)))
		l.Shuffle(len(l.rows), func(i, j int) { l.rows[i], l.rows[j] = l.rows[j], l.rows[i] })
		l.Shuffle(len(l.log), func(i, j int) { l.log[i], l.log[j] = l.log[j], l.log[i] })
		shuffled.compare(t, seed, l, history(t, 0, logOf(l), nodes, configLines, qosRows, rowsOf(l.rows)))
		late := newLived(seed, true)
		late.shifted = late.Int64N(61) - 30
		late.live(300)
		skewed.compare(t, seed, late, history(t, 30*time.Second, rowsOf(late.rows), qosRows, late.nodesJSON(), configLines, logOf(late)))
	}
	for name, c := range map[string]*count{"whole": whole, "shuffled": shuffled, "cut": cut, "lost": lost, "no log": noLog, "no nodes": noNodes, "skewed": skewed} {
		c.say(t, name)
		if c.accused > 0 {
			t.Errorf("%s: %v", name, c)
		}
	}
	if shuffled.String() != whole.String() {
		t.Errorf("in another order: %v, want %v", shuffled, whole)
	}
	if whole.found["NoRight"] != whole.spoilt["NoRight"] || whole.right < 40*int(n) || n >= 20 && (10*whole.found["Exempt"] < 9*whole.spoilt["Exempt"] || 8*whole.found["TooMany"] < whole.spoilt["TooMany"] || 4*whole.judgedRight < whole.right || 50*whole.passed["TooMany"] > whole.spoilt["TooMany"]) {
		t.Errorf("%v", whole)
	}
}
