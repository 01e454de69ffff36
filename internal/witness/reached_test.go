package witness_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
)

var update = flag.Bool("update", false, "rewrite the table of what questions reach")

// reaches says what a decision reaches: its outcome, the reason of each victim, the rule of each blocker, and what else is said.
func reaches(d *preemption.Decision) map[string]bool {
	set := map[string]bool{
		"outcome " + d.Outcome.String(): true, "awaits what leaves": d.Leaving, "replicas in part admitted": len(d.Counts) > 0,
		"no room": d.NoRoom, "short of several": len(d.Shortage) > 1, "borrows from a higher cohort": d.BorrowHeight > 1,
	}
	for _, v := range d.Victims {
		set["victim "+v.Reason.String()] = true
		set["victim in part"] = set["victim in part"] || len(v.Replicas) > 0
		set["victim that leaves beside others"] = set["victim that leaves beside others"] || v.Leaving && !d.Leaving
	}
	for _, b := range d.Blockers {
		set["blocker "+b.Rule.String()] = true
		set["blocker with an end"] = set["blocker with an end"] || !b.Until.IsZero()
	}
	return set
}

// TestQuestionsReach: the laws ask about each reason, rule and outcome: in more than 1 of 1,000 questions of some law. The table
// is testdata/reached.txt.
func TestQuestionsReach(t *testing.T) {
	const examples = 600
	laws := []struct {
		name      string
		questions *rapid.Generator[question]
	}{
		{"classical", classicalQuestions()}, {"fair", fairQuestions(preemption.Fair)}, {"reevaluated", fairQuestions(preemption.Reevaluated)},
		{"stable", fairQuestions(preemption.Stable)}, {"room", roomQuestions()}, {"limits", limitedQuestions()}, {"flavors", flavorQuestions()},
		{"partial", partialQuestions()}, {"rules", ruledQuestions()},
	}
	table, most := map[string]string{}, map[string]int{}
	for i, law := range laws {
		count := map[string]int{}
		for seed := range examples {
			q := law.questions.Example(seed)
			d := decide(t, q.Config, q.Record)
			for what, is := range reaches(&d) {
				if is {
					count[what]++
				}
			}
		}
		for what, n := range count {
			table[what] += strings.Repeat(" ", 13*i-len(table[what])) + fmt.Sprintf("%12.1f ", float64(n)*1000/examples)
			most[what] = max(most[what], n)
		}
	}
	text := fmt.Sprintf("of 1,000 questions%22s", "")
	for _, law := range laws {
		text += fmt.Sprintf("%12s ", law.name)
	}
	var names []string
	for what := range table {
		names = append(names, what)
	}
	slices.Sort(names)
	for _, what := range names {
		text += fmt.Sprintf("\n%-40s%s", what, strings.TrimRight(table[what], " "))
	}
	var missing []string
	for r := preemption.RuleWithinClusterQueue; r <= preemption.RuleLimit; r++ {
		missing = append(missing, "blocker "+r.String())
	}
	for r := preemption.InClusterQueue; r <= preemption.ConfigurablePreemption; r++ {
		missing = append(missing, "victim "+r.String())
	}
	for _, what := range append(missing, names...) {
		if most[what]*1000 < examples {
			t.Errorf("%s is reached by %d of %d questions", what, most[what], examples)
		}
	}
	golden(t, "testdata/reached.txt", strings.TrimRight(text, " ")+"\n")
}

// golden compares a text with a file.
func golden(t *testing.T, file, text string) {
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != text {
		t.Errorf("%s is another table; -update writes it: %v\n%s", file, err, text)
	}
}
