package guard

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// plain are packages without rules of a design.
var plain = []string{"preemption/clock", kit}

// TestPackagesAreIntroduced: the comment of each exported package is a page. It shows a call, and says what the zero
// value means, what an error is, and where the rules come from.
func TestPackagesAreIntroduced(t *testing.T) {
	says := map[string]*regexp.Regexp{
		"a call":                      regexp.MustCompile(`(?m)^\t\S`),
		"what the zero value means":   regexp.MustCompile(`(?i)\bzero\b`),
		"what an error is":            regexp.MustCompile(`(?i)\b(fails?|errors?|faults?)\b`),
		"where the rules come from":   regexp.MustCompile(`(?i)\b(sources?|KEP-\d+|Kueue|kubernetes)\b`),
		"itself in seventy words":     regexp.MustCompile(`(?s)^(\S+\s+){69}`),
		"itself in a first paragraph": regexp.MustCompile(`\n\n`),
	}
	packages := 0
	for _, s := range sources(t) {
		text := s.file.Doc.Text()
		if s.test || strings.HasPrefix(s.dir, "internal/") || !strings.HasPrefix(text, "Package ") {
			continue
		}
		packages++
		for what, pattern := range says {
			if !pattern.MatchString(text) && !(what == "where the rules come from" && slices.Contains(plain, s.dir)) {
				t.Errorf("%s: the comment of the package does not say %s", s.name, what)
			}
		}
	}
	if packages < 20 {
		t.Errorf("only %d packages", packages)
	}
}
