package preemption_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func explainWith(t failer, c preemption.Config, s *preemption.Snapshot, r preemption.Request) explain.Explanation {
	t.Helper()
	return must(explain.Explain(preemptorOf(c), s, r))(t)
}

// An explanation has the decision that Decide makes, is the same each time, and survives JSON.
// Each way, applied, makes the request succeed as it says, and one unit less does not.
func explanationsHold(t *rapid.T) {
	var record preemption.Record
	config := preemptiontest.Configs().Draw(t, "config")
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0, 1:
		record = preemptiontest.RecordsWithoutFlavors().Draw(t, "record")
	case 2, 3:
		record = preemptiontest.Records().Draw(t, "record")
	default:
		record, config = preemptiontest.FairShareRecords().Draw(t, "record"), preemption.Config{Sharing: preemption.KAI}
	}
	protect(t, &config, &record.State)
	reevaluate(t, &config)
	r := *record.Request
	r.Room = drawRoom(t, record.State)
	s := snapshotOf(t, record.State)
	e := explainWith(t, config, s, r)
	noDiff(t, "- Decide, + Explain", decideWith(t, config, s, r), e.Decision, sameDecision)
	data := must(json.Marshal(e))(t)
	var read explain.Explanation
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if got, want := explain.Text(read.Steps), explain.Text(e.Steps); got != want {
		t.Fatalf("the page of what was read:\n%s\nwant\n%s", got, want)
	}
	again, err := json.Marshal(read)
	if err != nil || string(again) != string(data) {
		t.Fatalf("%v: through JSON\n%s\nis\n%s", err, data, again)
	}
	if data2, err := json.Marshal(explainWith(t, config, s, r)); err != nil || string(data2) != string(data) {
		t.Fatalf("%v: first\n%s\nthen\n%s", err, data, data2)
	}
	config.MaxRetrySteps = -1
	for _, w := range e.Ways {
		if d, err := applied(t, config, w, s, r); err != nil || d.Outcome != w.Outcome || len(d.Victims) != w.Victims || !d.Outcome.Succeeds() {
			t.Fatalf("%+v: %v with %d victims, %v", w, d.Outcome, len(d.Victims), err)
		}
		for _, less := range unitLess(w) {
			if d, err := applied(t, config, less, s, r); err == nil && d.Outcome.Succeeds() {
				t.Fatalf("%+v is too much: %+v is %v", w, less, d.Outcome)
			}
		}
	}
}

func applied(t failer, c preemption.Config, w explain.Way, s *preemption.Snapshot, r preemption.Request) (preemption.Decision, error) {
	changed, request, err := w.Apply(s, r)
	if err != nil {
		return preemption.Decision{}, err
	}
	return preemptorOf(c).Decide(changed, request)
}

// unitLess lists the changes that are one unit smaller.
func unitLess(w explain.Way) (list []explain.Way) {
	less := w
	switch w.Kind {
	case explain.WayTime:
		less.At = w.At.Add(-1)
	case explain.WayPriority:
		less.Priority--
	case explain.WayReplicas:
		less.Replicas++
	case explain.WayPolicy:
		first, _, several := strings.Cut(w.Policy, ",")
		switch {
		case several:
			less.Policy = first
		case w.Value == queue.LowerPriority:
			return nil // without it is what was asked
		default:
			less.Value = queue.LowerPriority
		}
	case explain.WayBorrowing:
		for i := range w.Borrowing {
			less.Borrowing = slices.Clone(w.Borrowing)
			less.Borrowing[i].Amount--
			list = append(list, less)
		}
		return list
	case explain.WayNominal:
		for i := range w.Nominal {
			less.Nominal = slices.Clone(w.Nominal)
			less.Nominal[i].Amount--
			list = append(list, less)
		}
		return list
	default:
		return nil
	}
	return append(list, less)
}

func TestExplanationsHold(t *testing.T) { rapid.Check(t, explanationsHold) }

// The survey counts each workload of the cohort tree once. Whoever yields as a whole was
// found to be permitted: by every rule, or by all but borrowWithinCohort. Where all victims leave already,
// nobody is asked to yield.
func surveysHold(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	config := preemptiontest.Configs().Draw(t, "config")
	if rapid.IntRange(0, 4).Draw(t, "by fair shares") == 0 {
		record, config = preemptiontest.FairShareRecords().Draw(t, "record of fair shares"), preemption.Config{Sharing: preemption.KAI}
	}
	protect(t, &config, &record.State)
	reevaluate(t, &config)
	s := snapshotOf(t, record.State)
	recorder := trace.Recorder{MaxSteps: 1 << 20, Survey: true}
	d, _ := traced(t, config, s, *record.Request, &recorder)
	rules, within, begun := map[string]trace.Rule{}, map[string]trace.Rule{}, false
	for _, step := range recorder.Steps {
		begun = begun || step.Kind == trace.SurveyBegins
		if step.Kind == trace.Judged {
			if _, twice := rules[step.Workload]; twice {
				t.Fatalf("%s is judged twice", step.Workload)
			}
			rules[step.Workload], within[step.Workload] = step.Rule, step.Within.Rule
		}
	}
	if d.Outcome == preemption.Fits || !begun {
		if len(rules) > 0 {
			t.Fatalf("%v, but judged: %v", d.Outcome, rules)
		}
		return
	}
	root := rootOf(record.State, record.Request.Workload.Queue)
	for _, w := range record.State.Admitted {
		if _, judged := rules[w.ID]; judged != (rootOf(record.State, w.Queue) == root) {
			t.Fatalf("%s in queue %s: judged %v", w.ID, w.Queue, judged)
		}
	}
	if !slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return !v.Leaving }) {
		return
	}
	whole := 0
	for _, v := range d.Victims {
		if len(v.Replicas) > 0 || v.Leaving && config.Sharing == preemption.KAI { // what leaves there counts by whatever right
			continue
		}
		whole++
		if rule := rules[v.Workload]; rule == trace.BorrowWithinCohort && within[v.Workload] != 0 || rule != 0 && rule != trace.BorrowWithinCohort {
			t.Fatalf("%s yields, though %v keeps it, %v without borrowing", v.Workload, rule, within[v.Workload])
		}
	}
	// An explanation says of no fewer that they may yield.
	e := must(explain.Explain(preemptorOf(config), s, *record.Request))(t)
	if mayYield, _ := counted(e); whole > mayYield {
		t.Fatalf("%d of %d victims may yield:\n%s", mayYield, whole, explain.Text(e.Steps))
	}
}

// counted is how many workloads an explanation says may yield, and how many are kept.
func counted(e explain.Explanation) (mayYield, kept int) {
	for _, s := range e.Steps {
		for _, line := range s.Lines {
			n := 0
			if s.Section == "Who may yield" {
				fmt.Sscan(line, &n)
			}
			if strings.Contains(line, " may yield") {
				mayYield += n
			} else {
				kept += n
			}
		}
	}
	return mayYield, kept
}

// rootOf is the root of a queue's tree.
func rootOf(st preemption.State, queueName string) string {
	name := "queue " + queueName
	for _, q := range st.Queues {
		if q.Name == queueName && q.Cohort != "" {
			name = q.Cohort
		}
	}
	for at := 0; at < len(st.Cohorts); at++ {
		if c := st.Cohorts[at]; c.Name == name && c.Parent != "" {
			name, at = c.Parent, -1
		}
	}
	return name
}

func TestSurveysHold(t *testing.T) { rapid.Check(t, surveysHold) }

// An explanation is small in a cluster of any size, and counts everybody.
func TestExplanationsAreSmall(t *testing.T) {
	st := shared(0)
	st.Queues[0].Quotas = gpus(1 << 20)
	const running = 100_000
	for i := range running {
		st.Admitted = append(st.Admitted, job(fmt.Sprintf("w%06d", i), "a", int64(i%1000), 1, started(i%50)))
	}
	s := snapshotOf(t, st)
	e := explainWith(t, preemption.Config{}, s, pending("a", 500, 1<<20))
	mayYield, kept := counted(e)
	if data, err := json.Marshal(e); err != nil || len(data) > 10_000 || mayYield+kept != running {
		t.Errorf("%d bytes, %d of %d workloads counted, %v", len(data), mayYield+kept, running, err)
	}
	if e.Decision.Outcome != preemption.Impossible || len(e.Ways) == 0 {
		t.Errorf("%v, %d ways", e.Decision.Outcome, len(e.Ways))
	}
}

// Of each kind a way is found where there is one, and it is the smallest.
func TestWays(t *testing.T) {
	st := shared(0, job("low", "a", 1, 2, started(9)), job("high", "a", 20, 2, started(9)))
	st.Queues[0].Quotas = append(gpus(4), quota.Quota{Flavor: "a100", Resource: "gpu", Nominal: 8})
	config := preemption.Config{MinRuntime: minimum(10 * time.Minute)}
	r := pending("a", 10, 3)
	got := map[string]bool{}
	for _, w := range explainWith(t, config, snapshotOf(t, st), r).Ways {
		got[fmt.Sprintf("%v %d %d %s %v %v %d", w.Kind, w.Priority, w.Replicas, w.Flavor, w.Nominal, w.Outcome, w.Victims)] = true
	}
	want := map[string]bool{
		"Flavor 0 0 a100 [] Fits 0":          true,
		"Nominal 0 0  [{h100 gpu 3}] Fits 0": true,
	}
	noDiff(t, "- want, + got", want, got)
	config = preemption.Config{}
	got = map[string]bool{}
	for _, w := range explainWith(t, config, snapshotOf(t, st), r).Ways {
		got[fmt.Sprintf("%v %d %d %s %v %v %d", w.Kind, w.Priority, w.Replicas, w.Flavor, w.Nominal, w.Outcome, w.Victims)] = true
	}
	want = map[string]bool{
		"Priority 21 0  [] Preempt 2":           true,
		"Replicas 0 2  [] Preempt 1":            true,
		"Flavor 0 0 a100 [] Fits 0":             true,
		"Nominal 0 0  [{h100 gpu 1}] Preempt 1": true,
	}
	noDiff(t, "- want, + got", want, got)
}

// If several columns are short, each amount is the smallest beside the others, and a column
// that a victim frees is left out.
func TestNominalWayOfSeveralColumns(t *testing.T) {
	runs := func(id string, priority, gpus, cpus int64) workload.Workload {
		w := job(id, "a", priority, 1, started(9))
		w.PodSets[0].Requests = []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: gpus}, {Flavor: "h100", Resource: "cpu", Amount: cpus}}
		return w
	}
	for name, c := range map[string]struct {
		running []workload.Workload
		want    string
	}{
		"both are needed":                   {[]workload.Workload{runs("high", 20, 2, 3)}, "[{h100 cpu 2} {h100 gpu 1}] Fits 0"},
		"a victim frees one":                {[]workload.Workload{runs("high", 20, 2, 0), runs("low", 1, 0, 3)}, "[{h100 gpu 1}] Preempt 1"},
		"a victim frees a part of one":      {[]workload.Workload{runs("high", 20, 2, 2), runs("low", 1, 0, 1)}, "[{h100 cpu 1} {h100 gpu 1}] Preempt 1"},
		"a victim frees a part of each":     {[]workload.Workload{runs("high", 20, 2, 2), runs("low", 1, 1, 1)}, "[{h100 cpu 1} {h100 gpu 1}] Preempt 1"},
		"two victims, one column of theirs": {[]workload.Workload{runs("high", 20, 3, 0), runs("low", 1, 1, 1), runs("low2", 1, 0, 2)}, "[{h100 gpu 2}] Preempt 2"},
	} {
		st := shared(0, c.running...)
		st.Queues[0].Quotas = append(gpus(4), quota.Quota{Flavor: "h100", Resource: "cpu", Nominal: 4})
		r := pending("a", 10, 1)
		r.Workload.PodSets = runs("", 0, 3, 3).PodSets
		var got []string
		for _, w := range explainWith(t, preemption.Config{}, snapshotOf(t, st), r).Ways {
			if w.Kind == explain.WayNominal {
				got = append(got, fmt.Sprintf("%v %v %d", w.Nominal, w.Outcome, w.Victims))
			}
		}
		if diff := cmp.Diff([]string{c.want}, got); diff != "" {
			t.Errorf("%s: - want, + got:\n%s", name, diff)
		}
	}
}

// What one column needs no more shows only when another one is lower: here the cpus alone
// make nobody a candidate, as the other queue borrows none, but once the gpus are short its
// workload yields both.
func TestNominalWayIsLoweredAgain(t *testing.T) {
	requests := func(id, in string, priority, gpus, cpus int64) workload.Workload {
		w := job(id, in, priority, 1, started(9))
		w.PodSets[0].Count, w.PodSets[0].Requests = 1, []quota.Amount{
			{Flavor: "h100", Resource: "cpu", Amount: cpus}, {Flavor: "h100", Resource: "gpu", Amount: gpus}}
		return w
	}
	cpus := func(n int64) quota.Quota { return quota.Quota{Flavor: "h100", Resource: "cpu", Nominal: n} }
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: append(gpus(2), cpus(2)), Preemption: queue.PreemptionPolicy{
				ReclaimWithinCohort: queue.LowerPriority, BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority}}},
			{Name: "b", Cohort: "c", Quotas: append(gpus(0), cpus(4))},
		},
		Admitted: []workload.Workload{requests("lent", "b", 0, 2, 4)},
	}
	r := pending("a", 10, 1)
	r.Workload.PodSets = requests("", "a", 0, 2, 7).PodSets
	var got []string
	for _, w := range explainWith(t, preemption.Config{}, snapshotOf(t, st), r).Ways {
		if w.Kind == explain.WayNominal {
			got = append(got, fmt.Sprintf("%v %v %d", w.Nominal, w.Outcome, w.Victims))
		}
	}
	noDiff(t, "- want, + got", []string{"[{h100 cpu 1}] Preempt 1"}, got)
}

// What a borrowing limit keeps from what is there is found by raising it, by no more than is needed; what has no limit there is not.
func TestBorrowingWay(t *testing.T) {
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "c"}}, Queues: []queue.Queue{{Name: "a", Cohort: "c", Quotas: gpus(4)}, {Name: "b", Cohort: "c", Quotas: gpus(6)}}}
	for name, c := range map[string]struct {
		limit quota.Optional[int64]
		asks  int64
		want  string
	}{
		"one more":          {quota.Some[int64](2), 7, "[{h100 gpu 1}] Fits 0"},
		"all that is there": {quota.Some[int64](0), 10, "[{h100 gpu 6}] Fits 0"},
		"more than all":     {quota.Some[int64](2), 11, ""},
		"no limit":          {quota.Optional[int64]{}, 11, ""},
	} {
		st.Queues[0].Quotas[0].BorrowingLimit = c.limit
		got := ""
		for _, w := range explainWith(t, preemption.Config{}, snapshotOf(t, st), pending("a", 10, c.asks)).Ways {
			if w.Kind == explain.WayBorrowing {
				got = fmt.Sprintf("%v %v %d", w.Borrowing, w.Outcome, w.Victims)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func minimum(d time.Duration) minruntime.Defaults {
	return minruntime.Defaults{Preempt: quota.Some(d)}
}

// An attempt is hopeless by the second sum if too much is held by workloads of a queue that
// borrows something else: the first sum counts these. It is known after eight were taken. What
// can be borrowed is not missing.
func TestHopelessInNeed(t *testing.T) {
	other := job("other", "b", 0, 4, started(5))
	other.PodSets[0].Requests = append(other.PodSets[0].Requests, quota.Amount{Flavor: "h100", Resource: "cpu", Amount: 1})
	cpus := func(nominal int64) quota.Quota { return quota.Quota{Flavor: "h100", Resource: "cpu", Nominal: nominal} }
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "root", Quotas: []quota.Quota{cpus(5)}}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "root", Quotas: append(gpus(8), cpus(0)), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority,
				ReclaimWithinCohort: queue.LowerPriority, BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority}}},
			{Name: "b", Cohort: "root", Quotas: append(gpus(4), cpus(0))},
		},
		Admitted: []workload.Workload{other},
	}
	for i := range 8 {
		st.Admitted = append(st.Admitted, job(fmt.Sprint("own", i), "a", 0, 1, started(5)))
	}
	r := pending("a", 10, 12)
	r.Workload.PodSets = append(r.Workload.PodSets, workload.PodSet{Name: "cpu", Count: 1, Requests: []quota.Amount{{Flavor: "h100", Resource: "cpu", Amount: 1}}})
	for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
		e := explainWith(t, preemption.Config{Sharing: sharing}, snapshotOf(t, st), r)
		text := explain.Printer{Width: -1}.Text(e.Steps)
		hopeless := "not enough without all of permitted priority in queues that borrow what is short: short of 4 h100/gpu in "
		if strings.Count(text, "take own") != 8 || !strings.Contains(text, hopeless) {
			t.Errorf("%v:\n%s", sharing, text)
		}
	}
}
