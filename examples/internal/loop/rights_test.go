package loop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/world"
)

// Jobs of records of Slurm preempt those of the QOS that theirs lists, once these have run for the time in which they are exempt.
func TestRightsOfQOS(t *testing.T) {
	var text strings.Builder
	text.WriteString("JobID|Account|QOS|State|Submit|ElapsedRaw|AllocTRES|Priority\n")
	for i := range 120 {
		fmt.Fprintf(&text, "%d|%s|%s|COMPLETED|2026-01-05T%02d:%02d:00|%d|gres/gpu=%d|%d\n", i, []string{"ml", "bio", "ai"}[i%3], []string{"high", "normal", "scavenger", "scavenger", "kept"}[i*7%5],
			i/60, i%60, 600+i*37%4000, 1+i%4, i*7919%1000)
	}
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	trace := must(world.Read(file("jobs", text.String()), "", "", file("qos", "Name|Preempt|PreemptExemptTime\nhigh|scavenger,normal,kept|\nnormal|scavenger|\nscavenger||00:10:00\nkept||UNLIMITED\n")))(t)
	_, settings, err := world.ParseName("x+capacity=40")
	if err != nil {
		t.Fatal(err)
	}
	may := map[string]bool{"high scavenger": true, "high normal": true, "normal scavenger": true}
	for _, name := range []string{"greedy", "fair", "progress+wait=5m"} {
		policy := must(ParsePolicy(name))(t)
		l := must(New(world.New(trace, settings), policy))(t)
		seen := map[string]int{}
		l.told = func(victim, preemptor *job) {
			pair := preemptor.QOS + " " + victim.QOS
			if seen[pair]++; !may[pair] || victim.QOS == "scavenger" && l.now-victim.since < 600 {
				t.Errorf("%s: %s after %d s", name, pair, l.now-victim.since)
			}
		}
		if _, err := l.Run(); err != nil {
			t.Fatal(err)
		}
		if len(seen) < 2 {
			t.Errorf("%s: %v", name, seen)
		}
	}
}
