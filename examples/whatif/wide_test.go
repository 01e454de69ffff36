package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/preemption/explain"
)

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
