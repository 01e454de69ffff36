package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/cli"
)

const readme = "../../README.md"

// incident is a command of the README with what stands below it.
type incident struct {
	args  []string
	lines []string
}

// incidentsOf are the commands in the blocks of a page that show a terminal.
func incidentsOf(page string) (list []incident) {
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			if command, is := strings.CutPrefix(line, "$ kubectl cede "); is {
				list = append(list, incident{args: strings.Fields(command)})
				continue
			}
			last := &list[len(list)-1]
			last.lines = append(last.lines, line)
		}
	}
	return list
}

// excerpt returns the first line of an excerpt that a text does not have where it should, and whether there is one. A line of three
// dots stands for any number of lines.
func excerpt(lines []string, text string) (missing string, wrong bool) {
	rest, gap := strings.Split(strings.TrimSuffix(text, "\n"), "\n"), false
	for _, line := range lines {
		if line == "..." {
			gap = true
			continue
		}
		at := slices.Index(rest, line)
		if at < 0 || at > 0 && !gap {
			return line, true
		}
		rest, gap = rest[at+1:], false
	}
	if len(rest) > 0 && !gap {
		return rest[0], true
	}
	return "", false
}

// What the README shows of the three incidents is what the program prints about the sample.
func TestREADMEShowsWhatIsPrinted(t *testing.T) {
	page := string(must(os.ReadFile(readme))(t))
	const sample = "-f examples/whatif/incidents.yaml -at 2026-11-24T09:00:00Z"
	if !strings.Contains(page, "`"+sample+"`") {
		t.Fatalf("the README does not say %s", sample)
	}
	list := incidentsOf(page)
	for _, i := range list {
		var out, bad bytes.Buffer
		run(append(i.args, strings.Fields(strings.ReplaceAll(sample, "examples/whatif/", ""))...), stdio{out: &out, err: &bad, screen: cli.Screen{}, name: "kubectl cede", plugin: true, clock: noon})
		printed := strings.NewReplacer(" "+strings.ReplaceAll(sample, "examples/whatif/", ""), "", "go run ./examples/whatif ", "kubectl cede ").Replace(out.String())
		if line, wrong := excerpt(i.lines, printed); wrong || bad.Len() > 0 {
			t.Errorf("kubectl cede %q: the README has %q otherwise than\n%s%s", i.args, line, printed, &bad)
		}
	}
	if len(list) < 4 {
		t.Errorf("the README has only %d commands with their answers", len(list))
	}
}

func TestExcerpt(t *testing.T) {
	const text = "a\nb\nc\nd\n"
	for lines, want := range map[string]bool{
		"a b c d": false, "...": false, "a ...": false, "... d": false, "a ... d": false, "... b c ...": false,
		"a": true, "b ...": true, "a c ...": true, "... d c": true, "... b d": true, "... e ...": true,
	} {
		if _, wrong := excerpt(strings.Fields(lines), text); wrong != want {
			t.Errorf("%s: %v", lines, wrong)
		}
	}
}
