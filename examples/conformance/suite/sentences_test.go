package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each part of each form has a sentence, and it stands where the table says.
func TestSentencesStandInTheDocumentation(t *testing.T) {
	for _, form := range Forms() {
		for _, part := range Parts() {
			if !has(form, part) {
				continue
			}
			s := SentenceOf(form, part)
			text, err := os.ReadFile(filepath.Join("..", "..", "..", s.Where))
			if s.Where == "" || err != nil {
				t.Errorf("%s %s: no sentence (%v)", form, part, err)
				continue
			}
			words := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "//", " ")), " ")
			if !strings.Contains(words, s.Text) {
				t.Errorf("%s %s: %s does not say %q", form, part, s.Where, s.Text)
			}
		}
	}
}
