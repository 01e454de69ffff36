package golden

import (
	"strings"
	"testing"
)

// Help fails for a help of a program that is longer than a screen, or has fewer than three examples.
func Help(t *testing.T, text string) {
	t.Helper()
	const most, least = 40, 3
	if n := strings.Count(text, "\n"); n > most {
		t.Errorf("the help has %d lines, want at most %d:\n%s", n, most, text)
	}
	_, after, _ := strings.Cut(text, "\nExamples:\n")
	examples, _, _ := strings.Cut(after, "\n\n")
	if n := len(strings.Split(strings.TrimSpace(examples), "\n")); n < least || after == "" {
		t.Errorf("the help has fewer than %d examples:\n%s", least, text)
	}
}
