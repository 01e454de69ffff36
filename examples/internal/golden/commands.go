package golden

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Commands returns the arguments of each command of the documentation that runs an example with go run. Variables of a shell are
// their values in what they are given; names to be replaced are as they stand.
func Commands(t *testing.T, root, program string, values ...string) (list [][]string) {
	t.Helper()
	pages := []string{filepath.Join(root, "README.md")}
	for _, pattern := range []string{"*.md", "tasks/*.md"} {
		more, err := filepath.Glob(filepath.Join(root, "docs", pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	command := regexp.MustCompile(`(?m)^ {4,}(?:[^#\n]*?[|;&] *)?(?:do )?go run \./examples/` + program + `( [^|<>#;\n]*)?(?:[|<>#;].*)?$`)
	value := strings.NewReplacer(append([]string{"'", "", "...", ""}, values...)...)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range command.FindAllStringSubmatch(string(text), -1) {
			list = append(list, strings.Fields(value.Replace(found[1])))
		}
	}
	return list
}
