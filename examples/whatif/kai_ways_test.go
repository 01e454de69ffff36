package main

import (
	"strings"
	"testing"
	"time"
)

// Of a group that is refused explain says with which limits and quotas it is not, and diff with these says the same.
func TestWaysOfKAI(t *testing.T) {
	ways := map[string]string{}
	for _, s := range kaiSituations {
		for group, want := range s.want {
			if want != "no" {
				continue
			}
			k := newKAI()
			s.build(k)
			common := []string{"-f", "-", "-at", kaiNow.Format(time.RFC3339)}
			_, stdout, stderr := call(strings.NewReader(k.text(t)), append([]string{"explain", "-workload", kaiNamespace + "/" + k.name(group)}, common...)...)
			_, way, found := strings.Cut(stdout, "What would change the answer: it fits")
			if stderr != "" {
				t.Fatalf("%s: %s", s.name, stderr)
			}
			if !found {
				continue
			}
			_, way, _ = strings.Cut(way, "whatif ask ")
			way, _, _ = strings.Cut(way, "\n")
			_, way, _ = strings.Cut(way, " ")
			ways[s.name] = strings.TrimPrefix(way, strings.Join(common, " ")+" ")
			_, stdout, stderr = call(strings.NewReader(k.text(t)), append([]string{"diff", "-o", "wide"}, strings.Fields(way)...)...)
			if line := lineWith(stdout, k.name(group)); stderr != "" || !strings.Contains(line, "better") {
				t.Errorf("%s: %s: %s%s", s.name, way, stderr, stdout)
			}
		}
	}
	for name, want := range map[string]string{
		"15 no limit is none":                           "-quota a:gpu:limit=1",
		"6 idle room does not help the non-preemptible": "-quota a:gpu=3",
		"14 after the first":                            "-quota a:gpu=2",
	} {
		if ways[name] != want {
			t.Errorf("%s: %q, want %q", name, ways[name], want)
		}
	}
	if len(ways) < 5 {
		t.Errorf("%q", ways)
	}
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}
