package asrules

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// The page about rules shows what this package writes, for the policies that it names.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/designs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]rules.Config{}
	for _, part := range strings.Split(string(page), "```json\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		var c rules.Config
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		shown[c.Name] = c
	}
	p := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	fair := Fair(p, preemption.Config{Sharing: preemption.Fair})
	p.BorrowWithinCohort = queue.BorrowWithinCohort{Policy: queue.LowerPriority, MaxPriorityThreshold: queue.AtMostPriority(100)}
	for name, want := range map[string]rules.Config{"classical": Classical(p), "fair": fair} {
		want.Name = name
		if diff := cmp.Diff(want, shown[name]); diff != "" {
			text, _ := json.Marshal(want)
			t.Errorf("%s: - as written here, + page:\n%s\n%s", name, diff, text)
		}
	}
}
