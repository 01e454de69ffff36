package printable

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hostile = "a\x1b[31mRED\x1b]0;t\x07\r\nb\u202ec\u2066\u200b\x7f\u009b\xff\t日本é \U000e0041\ufeff"

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"team-a/train":  "team-a/train",
		"日本é ü":         "日本é ü",
		"":              "",
		"\x1b[31m":      `\x1b[31m`,
		"a\r\nb\tc":     `a\r\nb\tc`,
		"\u202eevil":    `\u202eevil`,
		"\u009b31m":     `\u009b31m`,
		"\xff\xfe":      `\xff\xfe`,
		"\ufffd":        "\ufffd",
		"\U000e0041":    `\U000e0041`,
		`C:\x1b "quote`: `C:\x1b "quote`,
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if got := Text(hostile); strings.ContainsFunc(got, odd) {
		t.Errorf("%q", got)
	}
}

func TestSprintf(t *testing.T) {
	got := Sprintf("%s|%-4s|%q|%v|%d|%v|%s\n", "a\n", "b", "\x1b", errors.New("c\r"), 5, true, json.Number("7\x1b"))
	if want := "a\\n|b   |\"\\x1b\"|c\\r|5|true|7\\x1b\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLines(t *testing.T) {
	var c strings.Builder
	l := Lines(&c)
	for i := range len(hostile) { // byte by byte: characters may be cut
		if n, err := l.Write([]byte{hostile[i]}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	want := strings.ReplaceAll(Text(hostile), `\n`, "\n")
	if diff := cmp.Diff(want, c.String()); diff != "" {
		t.Error(diff)
	}
}

// JSON means the same after as before.
func TestJSON(t *testing.T) {
	var b strings.Builder
	encoder := json.NewEncoder(JSON(&b))
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(map[string]string{hostile: hostile}); err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(b.String(), "\n", ""); strings.ContainsFunc(got, odd) {
		t.Errorf("%q", got)
	}
	var again map[string]string
	if err := json.Unmarshal([]byte(b.String()), &again); err != nil {
		t.Fatal(err)
	}
	clean := strings.ToValidUTF8(hostile, "\ufffd")
	if again[clean] != clean {
		t.Errorf("%q", again)
	}
}

// A line is cut between characters, and says how much is missing.
func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1bb":                           `a\x1bb`,
		strings.Repeat("x", maxLine):       strings.Repeat("x", maxLine),
		strings.Repeat("x", maxLine+7):     strings.Repeat("x", maxLine) + "... (7 bytes more)",
		"x" + strings.Repeat("é", maxLine): "x" + strings.Repeat("é", maxLine/2-1) + "... (4002 bytes more)",
	} {
		if got := Line(text); got != want {
			t.Errorf("%.20q: %d bytes, ending in %q", text, len(got), got[max(0, len(got)-40):])
		}
	}
}
