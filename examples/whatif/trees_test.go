package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/preemption/explain"
)

// A chain of 10,000 cohorts is told in a page: its root, those near the queue, and how many
// more there are.
func TestLongChainOfCohorts(t *testing.T) {
	const n = 10_000
	var b strings.Builder
	b.WriteString(`{"cohorts":[`)
	for i := range n {
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf(`,"parent":"c%d"`, i-1)
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"c%d"%s}`, i, parent)
	}
	fmt.Fprintf(&b, `],"queues":[{"name":"a","cohort":"c%d","quotas":[{"flavor":"f","resource":"cpu","nominal":4000}]}]}`, n-1)
	status, stdout, stderr := call(strings.NewReader(b.String()), "-request", "cpu=2", "-queue", "a")
	if status != 0 || stderr != "" || strings.Count(stdout, "\n") > 30 || len(stdout) > 4000 || !strings.HasPrefix(stdout, "new fits now") ||
		!strings.Contains(stdout, "\nc0 (cohort) ") || !strings.Contains(stdout, "\n  …/c9990 (cohort) ") || !strings.Contains(stdout, "... and 9989 more cohorts; -tree shows them.\n") {
		t.Errorf("status %d, %s%.3000s", status, stderr, stdout)
	}
}

// columns measures alike on every machine, whatever its language.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// Long names, and those of which each character takes two columns, make no line wider than 80 on a terminal. In a pipe they
// are whole.
func TestLongNames(t *testing.T) {
	data := must(os.ReadFile("../internal/answers/samples/cluster.json"))(t)
	for _, name := range []string{strings.Repeat("n", 60), strings.Repeat("研究", 30), "a" + strings.Repeat("研", 61), strings.Repeat("\\u001b", 20)} {
		text := strings.NewReplacer(`"vision"`, `"`+name+`"`, `"detector-train"`, `"`+name+`"`, `"arena-judge"`, `"`+name+`"`).Replace(string(data))
		workload := strings.ReplaceAll(name+"/"+name, "\\u001b", "\x1b")
		for _, args := range [][]string{{"explain", "-workload", workload}, {"ask", "-workload", workload}, {"overview"}, {"ask", "-workload", workload, "-all"}} {
			status, stdout, stderr := callOn(cli.Screen{Width: 80}, strings.NewReader(text), args...)
			if status == 2 {
				t.Errorf("%q: %s", args, stderr)
			}
			for line := range strings.Lines(stdout) {
				if n := columns.StringWidth(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%q: %d columns: %s", args[0], n, line)
				}
			}
			_, stdout, _ = callOn(cli.Screen{}, strings.NewReader(text), args...)
			whole := regexp.MustCompile(regexp.QuoteMeta(strings.ReplaceAll(workload, "\x1b", `\x1b`)) + `( |$|:|,|\.)`)
			if strings.Contains(stdout, "…") || args[0] != "overview" && !whole.MatchString(stdout) {
				t.Errorf("%q: the name is cut in a pipe:\n%s", args[0], stdout)
			}
		}
	}
}

// An explanation counts two columns for every character that takes two.
func TestWideCharacters(t *testing.T) {
	var name strings.Builder
	for r := rune(0); r < 0x40000; r++ {
		if columns.RuneWidth(r) == 2 {
			name.WriteRune(r)
		}
	}
	text := explain.Text([]explain.Step{{Lines: []string{name.String()}}})
	for line := range strings.Lines(text) {
		if n := columns.StringWidth(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// The tree says what is free to each queue: nothing to a queue in a flavor that it does not have, nothing over what
// there is, and usage that members keep to themselves is explained.
func TestTreeNumbers(t *testing.T) {
	state := func(more, admitted string) string {
		return `{"cohorts":[{"name":"root"},{"name":"low","parent":"root"}],"queues":[
			{"name":"a","cohort":"low","quotas":[{"flavor":"f","resource":"gpu","nominal":8` + more + `}]},
			{"name":"b","cohort":"root","quotas":[{"flavor":"f","resource":"gpu","nominal":8}]},
			{"name":"other","cohort":"root","quotas":[{"flavor":"g","resource":"gpu","nominal":8}]}],"admitted":[` + admitted + `]}`
	}
	runs := func(id, queue string, n int) string {
		return fmt.Sprintf(`{"id":%q,"queue":%q,"podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"gpu","amount":%d}]}]}`, id, queue, n)
	}
	const keeps = "A cohort's usage leaves out what its members use of quota that they do not lend."
	for _, c := range []struct {
		name, state string
		want        []string
		not         string
	}{
		{"a flavor that a queue does not have", state("", ""), []string{"\n  other            ", "\n  b <- asks     f/gpu                0        8         -         16"}, keeps},
		{"over what there is", state("", runs("x", "a", 12)+","+runs("y", "b", 8)), []string{"Cohort root uses 4 of f/gpu more than it has.", "20       16         4          0"}, "-4"},
		{"quota that is not lent", state(`,"lendingLimit":2`, runs("x", "a", 7)), []string{keeps, "low (cohort)  f/gpu                1        2"}, "more than it has"},
	} {
		_, stdout, stderr := call(strings.NewReader(c.state), "-request", "gpu=4", "-queue", "b", "-flavor", "f")
		for _, want := range c.want {
			if !strings.Contains(stdout, want) || strings.Contains(stdout, c.not) {
				t.Errorf("%s: want %q, not %q:\n%s%s", c.name, want, c.not, stdout, stderr)
			}
		}
	}
}

// What a queue borrows in another flavor is not said to be within its nominal quota.
func TestBorrowsSomethingElse(t *testing.T) {
	const state = `{"cohorts":[{"name":"c"}],"queues":[{"name":"a","cohort":"c","quotas":[{"flavor":"f","resource":"gpu","nominal":4},{"flavor":"g","resource":"gpu","nominal":0}]},
		{"name":"b","cohort":"c","quotas":[{"flavor":"g","resource":"gpu","nominal":4}]}],
		"admitted":[{"id":"x","queue":"a","podSets":[{"name":"main","count":1,"requests":[{"flavor":"g","resource":"gpu","amount":2}]}]}]}`
	_, stdout, _ := call(strings.NewReader(state), "-request", "gpu=4", "-queue", "a", "-flavor", "f")
	if !strings.Contains(stdout, "Its queue stays within its nominal quota of what it asks for.") {
		t.Error(stdout)
	}
	_, stdout, _ = call(strings.NewReader(strings.Replace(state, `"amount":2`, `"amount":0`, 1)), "-request", "gpu=4", "-queue", "a", "-flavor", "f")
	if !strings.Contains(stdout, "Its queue stays within its nominal quota.\n") {
		t.Error(stdout)
	}
}
