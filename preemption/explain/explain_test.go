package explain_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func job(id, in string, priority, gpus int64, minutes int) workload.Workload {
	at := now.Add(-time.Duration(minutes) * time.Minute)
	return workload.Workload{ID: id, Queue: in, Priority: priority, Created: at, Queued: at, ReservedAt: at,
		PodSets: []workload.PodSet{{Name: "main", Count: gpus, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}}}}
}

func gpus(n int64) []quota.Quota {
	return []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: n}}
}

// state is a cohort of three queues: team-b borrows from team-a, team-c borrows nothing.
func state() preemption.State {
	return preemption.State{
		Cohorts: []queue.Cohort{{Name: "research"}},
		Queues: []queue.Queue{
			{Name: "team-a", Cohort: "research", Quotas: gpus(8), Preemption: queue.PreemptionPolicy{
				WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.LowerPriority}},
			{Name: "team-b", Cohort: "research", Quotas: gpus(2)},
			{Name: "team-c", Cohort: "research", Quotas: gpus(4)},
		},
		Admitted: []workload.Workload{
			job("a/serve", "team-a", 50, 4, 90),
			job("b/train-1", "team-b", 5, 2, 60), job("b/train-2", "team-b", 5, 2, 20), job("b/train-3", "team-b", 80, 2, 5),
			job("c/batch", "team-c", 0, 4, 300),
		},
	}
}

// small is a queue in which small workloads come before a large one.
func small() preemption.State {
	st := state()
	st.Admitted = []workload.Workload{
		job("a/serve", "team-a", 50, 1, 90), job("b/train", "team-b", 80, 2, 5),
		job("a/middle", "team-a", 5, 3, 10), job("a/small-1", "team-a", 5, 2, 12), job("a/small-2", "team-a", 5, 2, 20), job("a/large", "team-a", 5, 4, 30),
	}
	return st
}

// bare is a queue without policies; one beside it borrows, one is idle.
func bare() preemption.State {
	st := state()
	st.Queues[0].Preemption = queue.PreemptionPolicy{}
	st.Admitted = st.Admitted[1:4]
	return st
}

// ruled is the state with rules of team-a, with selectors of other scopes besides.
func ruled(scopes ...rules.Scope) preemption.State {
	st := state()
	st.Queues[0].Rules = "hero"
	st.Queues[2].Labels = map[string]string{"team": "c"}
	always := rules.ActivationPolicy{Trigger: rules.Always}
	short := rules.ActivationPolicy{Trigger: rules.InsufficientQuota, MinTriggerRequiredDuration: quota.Some(time.Hour)}
	of := &workload.LabelSelector{MatchLabels: map[string]string{"team": "c"}}
	st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{
		{Name: "others", ActivationPolicy: always, PreemptorSelector: of, CandidateSelectors: []rules.CandidateSelector{{Scope: rules.AnyClusterQueue}}},
		{Name: "team-c", ActivationPolicy: always, CandidateSelectors: []rules.CandidateSelector{
			{Scope: rules.WithinClusterQueue, Priority: rules.Priority{Mode: rules.Base, Comparison: rules.LessThan}},
			{Scope: rules.OtherInCohortTree, ClusterQueueSelector: of, Time: rules.Times{MinExecutionDuration: quota.Some(2 * time.Hour)}},
			{Scope: rules.OtherInCohortTree, Time: rules.Times{MinExecutionDuration: quota.Some(15 * time.Minute)}},
			{Scope: rules.OtherInCohortTree, Quota: rules.BorrowingCapacityFromPreemptor},
		}},
		{Name: "patience", ActivationPolicy: short, CandidateSelectors: []rules.CandidateSelector{{Scope: rules.AnyClusterQueue}}},
	}}}
	for _, s := range scopes {
		st.Rules[0].Rules[1].CandidateSelectors = append(st.Rules[0].Rules[1].CandidateSelectors, rules.CandidateSelector{Scope: s})
	}
	return st
}

func explanation(t testing.TB, pr explain.Printer, c preemption.Config, st preemption.State, w workload.Workload) explain.Explanation {
	t.Helper()
	s := must(preemption.NewSnapshot(st))(t)
	p := must(preemption.New(c))(t)
	return must(pr.Explain(p, s, preemption.Request{Workload: w, Now: now}))(t)
}

// samples are explanations of each outcome.
func samples(t testing.TB, pr explain.Printer) map[string]explain.Explanation {
	protected := preemption.Config{MinRuntime: minruntime.Defaults{Reclaim: quota.Some(30 * time.Minute), Preempt: quota.Some(30 * time.Minute)}}
	open := job("a/new", "team-a", 10, 6, 0)
	open.PodSets[0].Requests[0].Flavor = ""
	gated := job("a/new", "team-a", 10, 4, 0)
	gated.Gates.Names = []string{"kueue.x-k8s.io/multikueue"}
	return map[string]explain.Explanation{
		"fits":        explanation(t, pr, preemption.Config{}, preemption.State{Queues: state().Queues, Cohorts: state().Cohorts}, job("a/new", "team-a", 10, 4, 0)),
		"preempt":     explanation(t, pr, preemption.Config{}, state(), job("a/new", "team-a", 10, 4, 0)),
		"wait":        explanation(t, pr, protected, state(), job("a/new", "team-a", 10, 4, 0)),
		"impossible":  explanation(t, pr, preemption.Config{}, state(), job("a/new", "team-a", 5, 6, 0)),
		"borrowing":   explanation(t, pr, preemption.Config{}, bare(), job("a/new", "team-a", 10, 10, 0)),
		"open":        explanation(t, pr, preemption.Config{}, state(), open),
		"gated":       explanation(t, pr, preemption.Config{}, state(), gated),
		"exchange":    explanation(t, pr, preemption.Config{Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}}, small(), job("a/new", "team-a", 10, 7, 0)),
		"exact":       explanation(t, pr, preemption.Config{Search: preemption.Best}, small(), job("a/new", "team-a", 10, 4, 0)),
		"exact-cost":  explanation(t, pr, preemption.Config{Search: preemption.Best, Cost: preemption.CostByAge{Resources: []string{"gpu"}}}, small(), job("a/new", "team-a", 10, 2, 0)),
		"exact-limit": explanation(t, pr, preemption.Config{Search: preemption.Best, Limits: []limits.Limit{{Name: "one an hour", Scope: limits.Global, Limit: 1, Window: quota.Some(time.Hour)}}}, small(), job("a/new", "team-a", 10, 6, 0)),
		"exact-none":  explanation(t, pr, preemption.Config{Search: preemption.Best}, small(), job("a/new", "team-a", 5, 4, 0)),
		"rules":       explanation(t, pr, protected, ruled(), job("a/new", "team-a", 10, 6, 0)),
		"rules-wait":  explanation(t, pr, protected, ruled(), job("a/new", "team-a", 10, 9, 0)),
		"rules-bad":   explanation(t, pr, preemption.Config{Compat: preemption.Compat{RulesAlone: true}}, ruled("Nowhere"), job("a/new", "team-a", 10, 7, 0)),
		"rules-none":  explanation(t, pr, preemption.Config{}, ruled(), job("a/new", "team-a", 60, 4, 0)),
		"fair":        explanation(t, pr, preemption.Config{Sharing: preemption.Fair}, state(), job("a/new", "team-a", 10, 6, 0)),
	}
}

// The texts are as written, and no line is longer than 80 columns.
func TestTexts(t *testing.T) {
	for name, e := range samples(t, explain.Printer{}) {
		text := explain.Text(e.Steps)
		for _, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("%s: %d columns: %q", name, n, line)
			}
		}
		golden(t, name, text)
	}
}

// together is all that is said about one explanation.
func together(text, message string) string { return text + "\n--- message\n" + message + "\n" }

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := must(os.ReadFile(file))(t)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s: - file, + text:\n%s", name, diff)
	}
}

const maxMessage = 512

// A message is cut at a character, whatever the names are.
func TestMessageIsCut(t *testing.T) {
	d := placements(t, explain.Printer{})["placement-preempt"].Decision
	d.Victims[0].Pods[0] = strings.Repeat("ö", 400)
	m := explain.Printer{}.PlacementMessage(&d, 1)
	if len(m) > maxMessage || len(m) < maxMessage-2 || !utf8.ValidString(m) || !strings.HasSuffix(m, "...") {
		t.Errorf("%d bytes: %q", len(m), m)
	}
}

// placements are explanations of decisions about nodes.
func placements(t testing.TB, pr explain.Printer) map[string]explain.PlacementExplanation {
	st := placement.State{
		Nodes: []workload.Node{{Name: "n1", Capacity: workload.Resources{"gpu": 4}}, {Name: "n2", Capacity: workload.Resources{"gpu": 4}}},
		Pods: []workload.Pod{
			{ID: "ns/low", UID: "1", Node: "n1", Priority: 1, Requests: workload.Resources{"gpu": 2}, Started: now.Add(-time.Minute)},
			{ID: "ns/mid", UID: "2", Node: "n1", Priority: 5, Requests: workload.Resources{"gpu": 2}, Started: now.Add(-time.Hour)},
			{ID: "ns/high", UID: "3", Node: "n2", Priority: 50, Requests: workload.Resources{"gpu": 4}, Started: now.Add(-time.Hour)},
		},
	}
	s := must(placement.NewSnapshot(st))(t)
	ask := func(c placement.Config, r placement.Request) explain.PlacementExplanation {
		p := must(placement.New(c))(t)
		r.Now = now
		return must(pr.ExplainPlacement(p, s, r))(t)
	}
	gpus := func(ids ...string) (pods []workload.Pod) {
		for _, id := range ids {
			pods = append(pods, workload.Pod{ID: id, Requests: workload.Resources{"gpu": 2}})
		}
		return pods
	}
	return map[string]explain.PlacementExplanation{
		"placement-preempt":    ask(placement.Config{}, placement.Request{Priority: 10, Pods: gpus("ns/new")}),
		"placement-wait":       ask(placement.Config{MinRuntime: quota.Some(2 * time.Hour)}, placement.Request{Priority: 10, Pods: gpus("ns/new")}),
		"placement-impossible": ask(placement.Config{}, placement.Request{Priority: 10, Group: "ns/train", MinCount: 3, Pods: gpus("ns/0", "ns/1", "ns/2")}),
	}
}

var pods = map[string]int{"placement-preempt": 1, "placement-wait": 1, "placement-impossible": 3} // that ask

// So are those of decisions about nodes.
func TestPlacementTexts(t *testing.T) {
	for name, e := range placements(t, explain.Printer{}) {
		text, message := explain.Text(e.Steps), explain.Printer{}.PlacementMessage(&e.Decision, pods[name])
		for _, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("%s: %d columns: %q", name, n, line)
			}
		}
		if len(message) > maxMessage || strings.Contains(message, "\n") {
			t.Errorf("%s: message of %d bytes: %q", name, len(message), message)
		}
		golden(t, name, together(text, message))
	}
}

// A printer writes every amount by its function, and no line is wider than it says.
func TestPrinter(t *testing.T) {
	tens := func(resource string, amount int64) string { return fmt.Sprintf("<%d %s>", amount, resource) }
	e, p := samples(t, explain.Printer{Amount: tens})["impossible"], placements(t, explain.Printer{Amount: tens})["placement-wait"]
	for _, width := range []int{40, 80, 200} {
		pr := explain.Printer{Amount: tens, Width: width}
		for _, text := range []string{pr.Text(e.Steps), pr.Text(p.Steps)} {
			widest := 0
			for line := range strings.Lines(text) {
				widest = max(widest, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
			}
			if widest > width || widest < min(width, 80)-10 {
				t.Errorf("width %d: the widest line has %d columns\n%s", width, widest, text)
			}
		}
	}
	pr := explain.Printer{Amount: tens, Width: -1}
	for name, text := range map[string]string{
		"text": pr.Text(e.Steps), "placement text": pr.Text(p.Steps), "placement message": pr.PlacementMessage(&p.Decision, 1),
	} {
		if !strings.Contains(text, "<6 gpu>") && !strings.Contains(text, "<2 gpu>") || strings.Contains(text, " 6 h100") || strings.Contains(text, " 2 gpu") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if text := pr.Text(e.Steps); !strings.Contains(text, "cohort \"research\" (reclaimWithinCohort LowerPriority, borrowWithinCohort Never)\n") {
		t.Errorf("a line is broken:\n%s", text)
	}
}

// Long names are broken, what is not printable is escaped before it is measured, and characters that
// take two columns count as two.
func TestLongNames(t *testing.T) {
	for name, columns := range map[string]func(rune) int{
		strings.Repeat("n", 60):  func(rune) int { return 1 },
		strings.Repeat("n", 253): func(rune) int { return 1 },
		strings.Repeat("\x1b[31m", 30) + "\u202e\xff" + "a\nb\u3000c": func(rune) int { return 1 },
		strings.Repeat("研", 100): func(r rune) int {
			if r > 0xff {
				return 2
			}
			return 1
		},
	} {
		st := state()
		for i := range st.Queues {
			st.Queues[i].Cohort = name
		}
		st.Cohorts[0].Name = name
		for i := range st.Admitted {
			st.Admitted[i].ID += name
		}
		for _, priority := range []int64{5, 10} {
			e := explanation(t, explain.Printer{}, preemption.Config{}, st, job(name, "team-a", priority, 6, 0))
			for _, width := range []int{40, 80, 120} {
				text := explain.Printer{Width: width}.Text(e.Steps)
				for _, line := range strings.Split(text, "\n") {
					n := 0
					for _, r := range line {
						n += columns(r)
					}
					if n > width {
						t.Errorf("%d columns of %d: %q", n, width, line)
					}
					if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
						t.Errorf("%q", line)
					}
				}
			}
			text := strings.Join(strings.Fields(explain.Text(e.Steps)), "")
			if quoted := strconv.Quote(name); !strings.Contains(text, quoted[1:len(quoted)-1]) {
				t.Errorf("%s is not in %s", quoted, text)
			}
		}
	}
}

// must returns what came without an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
