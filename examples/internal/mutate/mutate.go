// Package mutate spoils input, for tests that programs stand anything.
package mutate

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode"
)

// odd is what is put in place of a value.
var odd = []string{
	"null", "{}", "[]", `""`, "-1", "0", "1e1000000000", "1e-1000000000", "9223372036854775808", "-9223372036854775808", "true",
	`"\u001b[31m\n\u202e"`, `"1e1000000000"`, `"-1"`, `"999999999999E"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `"noon"`, `"\ud800"`,
	"[[[[[[[[[[]]]]]]]]]]", `{"items":[]}`, "\x00", "\xff", "---\n", "\ufeff", "List", "- ",
}

// Text spoils a text in one to three places, or cuts it off; one seed, one result.
func Text(text []byte, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	switch n := r.IntN(8); {
	case n == 0:
		return bytes.Clone(text[:r.IntN(len(text))])
	case n < 5: // still of its format, mostly
		for range 1 + r.IntN(3) {
			if start, end := value(text, r); start >= 0 {
				text = splice(text, start, end, odd[r.IntN(len(odd))])
			}
		}
		return text
	}
	for range 1 + r.IntN(3) {
		text = once(text, r)
	}
	return text
}

func once(text []byte, r *rand.Rand) []byte {
	if len(text) == 0 {
		return text
	}
	start := r.IntN(len(text))
	end := start + r.IntN(min(64, len(text)-start)+1)
	switch r.IntN(5) {
	case 0:
		return splice(text, start, end, "")
	case 1:
		return splice(text, start, start, string(text[start:end])) // twice
	case 2:
		other := r.IntN(len(text))
		return splice(text, start, start, string(text[other:min(len(text), other+r.IntN(200))]))
	case 3:
		return splice(text, start, min(len(text), start+1), string(rune(r.IntN(256))))
	}
	return splice(text, start, start, odd[r.IntN(len(odd))])
}

// value finds a value after a colon; start is -1 where there is none.
func value(text []byte, r *rand.Rand) (start, end int) {
	all := bytes.Count(text, []byte(":"))
	if all == 0 {
		return -1, 0
	}
	at := -1
	for n := r.IntN(all) + 1; n > 0; n-- {
		at += 1 + bytes.IndexByte(text[at+1:], ':')
	}
	start = at + 1
	for start < len(text) && text[start] == ' ' {
		start++
	}
	end = start
	for end < len(text) && !strings.ContainsRune(",}]\n", rune(text[end])) {
		end++
	}
	return start, end
}

func splice(text []byte, start, end int, with string) []byte {
	return bytes.Join([][]byte{text[:start], []byte(with), text[end:]}, nil)
}

// maxAlloc bounds what a run may allocate in all.
const maxAlloc = 128 << 20

// Check runs a program on n spoilt copies of an input. It answers, or fails with one
// line: status 0 to 3, no panic, and no byte on either output that is not printable.
func Check(t *testing.T, sample []byte, runs int, run func(input []byte) (status int, stdout, stderr string)) {
	t.Helper()
	failed := 0
	for seed := range runs {
		input := Text(sample, uint64(seed))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, stdout, stderr := run(input)
		runtime.ReadMemStats(&after)
		problem := ""
		switch {
		case status < 0 || status > 3:
			problem = "status"
		case status == 2 && (stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") || len(stderr) > 2000):
			problem = "bad input is not one line"
		case status != 2 && stdout == "":
			problem = "no answer"
		case strings.ContainsFunc(stdout+stderr, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }):
			problem = "not printable"
		case after.TotalAlloc-before.TotalAlloc > maxAlloc:
			problem = "memory"
		}
		if problem != "" {
			t.Errorf("seed %d: %s: status %d, stdout %.200q, stderr %.400q", seed, problem, status, stdout, stderr)
			if failed++; failed == 5 {
				return
			}
		}
	}
}
