package golden

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Command is a command of the documentation.
type Command struct {
	Page    string // where it stands
	Program string // as it is called
	Args    []string
	Piped   bool // another program, or a file, is its input
}

// printed is what a program printed, with the command of it; other tests compare it.
var printed = regexp.MustCompile("(?ms)^```console$.*?^```$")

// Commands returns the commands of the documentation that run an example with go run, or as another name from calls, which are regular
// expressions. Texts are replaced by values, in pairs: variables of a shell, and names that stand for the reader's.
func Commands(t *testing.T, root, example string, calls []string, values ...string) (list []Command) {
	t.Helper()
	pages := []string{filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")}
	for _, pattern := range []string{"*.md", "tasks/*.md"} {
		more, err := filepath.Glob(filepath.Join(root, "docs", pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	program := strings.Join(append(calls, `go run \./examples/`+example), "|")
	command := regexp.MustCompile(`(?m)^ {4,}([^#\n]*?[|;&] *)?(?:do )?(` + program + `)( [^|<>#;\n]*)?([|<>#;].*)?$`)
	value := strings.NewReplacer(append([]string{"'", "", "...", ""}, values...)...)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range command.FindAllStringSubmatch(printed.ReplaceAllString(string(text), ""), -1) {
			list = append(list, Command{
				Page: filepath.Base(page), Program: found[2], Args: strings.Fields(value.Replace(found[3])),
				Piped: strings.HasSuffix(strings.TrimSpace(found[1]), "|") || strings.HasPrefix(found[4], "<"),
			})
		}
	}
	if len(list) == 0 {
		t.Errorf("no command of the documentation runs %s", example)
	}
	return list
}

// AreUnderstood fails for each command of the documentation that a program does not understand, and if there are fewer than so many.
func AreUnderstood(t *testing.T, example string, least int, parse func(args []string) error, values ...string) {
	t.Helper()
	list := Commands(t, "../..", example, nil, values...)
	for _, c := range list {
		if err := parse(c.Args); err != nil && !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: %s %q: %v", c.Page, example, c.Args, err)
		}
	}
	if len(list) < least {
		t.Errorf("only %d commands are found", len(list))
	}
}
