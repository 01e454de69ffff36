package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/cedesched/cede/examples/internal/cli"
)

// Names of nodes as EC2 has them, long names of pods, and names in which each character takes two
// columns: no line is wider than the screen, and no name is lost.
func TestWidth(t *testing.T) {
	var cluster strings.Builder
	var names []string
	add := func(format string, args ...any) { fmt.Fprintf(&cluster, format+"\n", args...) }
	for i := range 4 {
		names = append(names, fmt.Sprintf("ip-10-0-123-%d.eu-central-1.compute.internal", i), fmt.Sprintf("%s-%d", strings.Repeat("pod", 19), i))
		add(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q},"status":{"capacity":{"cpu":"4"}}}`, names[2*i])
		add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"研究研究研究研究"},"spec":{"nodeName":%q,"priority":%d,"schedulingGroup":{"podGroupName":"g"},"containers":[{"resources":{"requests":{"cpu":"4"}}}]},"status":{"startTime":"2026-11-20T00:00:00Z"}}`,
			names[2*i+1], names[2*i], i)
	}
	add(`{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"研究研究研究研究"},"spec":{"schedulingPolicy":{"gang":{"minCount":1}},"disruptionMode":"MODE"}}`)
	add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","namespace":"a"},"spec":{"priority":PRIORITY,"containers":[{"resources":{"requests":{"cpu":"4"}}}],"volumes":[{"persistentVolumeClaim":{"claimName":"c"}}]}}`, strings.Repeat("n", 100))
	for _, c := range []struct {
		mode, priority string
		args           []string
		wants          []string
	}{
		{"Pod", "5", nil, []string{"It has a place once", "only where its volume can be reached"}},
		{"PodGroup", "5", nil, []string{"yields.", names[0], names[6]}},
		{"Pod", "-5", nil, []string{"4 are not of lower priority", names[1]}},
		{"PodGroup", "5", []string{"-min-runtime", "720h", "-now", "2026-11-21T00:00:00Z"}, []string{"It waits: time alone helps", "minimum runtime"}},
	} {
		for _, width := range []int{40, 80, 200} {
			text := strings.NewReplacer("MODE", c.mode, "PRIORITY", c.priority).Replace(cluster.String())
			var stdout, stderr bytes.Buffer
			status := run(c.args, strings.NewReader(text), &stdout, &stderr, cli.Screen{Width: width})
			if status == 2 {
				t.Fatal(stderr.String())
			}
			for line := range strings.Lines(stdout.String()) {
				if n := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%d columns of %d: %s", n, width, line)
				}
			}
			if width < 200 {
				continue
			}
			for _, want := range c.wants {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("%s is not in\n%s", want, stdout.String())
				}
			}
		}
	}
}

// The most important victim comes first, however far their priorities are apart.
func TestOrderOfVictims(t *testing.T) {
	pod := func(name, spec string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `"},"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}],` + spec + `}}`
	}
	cluster := `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"2"}}}` +
		pod("low", `"nodeName":"n","priority":-2147483648`) + pod("high", `"nodeName":"n","priority":100`) +
		strings.Replace(pod("new", `"priority":200`), `"cpu":"1"`, `"cpu":"2"`, 1)
	_, stdout, stderr := call(strings.NewReader(cluster))
	if high, low := strings.Index(stdout, "default/high"), strings.Index(stdout, "default/low"); high < 0 || low < high || stderr != "" {
		t.Errorf("%s%s", stdout, stderr)
	}
}
