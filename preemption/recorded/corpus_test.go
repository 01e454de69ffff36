package recorded_test

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cedesched/cede/internal/proof/agree"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/asrules"
	"github.com/cedesched/cede/preemption/recorded"
)

// casesOf reads all cases of a file of testdata.
func casesOf(t *testing.T, name string) (list []*recorded.Case) {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := recorded.Read(name, f, func(_ int, c *recorded.Case) error { list = append(list, c); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestCorpora asks every recorded case. The number of cases, and of those that depart, is that of the files.
func TestCorpora(t *testing.T) {
	for name, want := range map[string]struct{ cases, departed int }{
		"random-classical":     {1000, 112},
		"random-fair":          {1000, 106},
		"kai-resolver":         {700, 55},
		"kai-resolver-nonleaf": {100, 3},
		"kai-protection":       {400, 54},
		"kai-protection-multi": {100, 36},
		"kai-boundary":         {100, 49},
		"gates-oracle-mk":      {150, 65},
		"gates-oracle-ca":      {150, 23},
		"rules-by-hand":        {362, 4},
		"kube-groups":          {994, 0},
		"kai-shares":           {157, 3},
		"settle":               {168, 146},
		"moves":                {83, 46},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, departed := casesOf(t, name), 0
			for _, c := range list {
				r, err := c.Check()
				if err != nil || r.NotAsked != "" || c.Source == "" {
					t.Errorf("%s is not asked: %s, %v; source %q", c.ID, r.NotAsked, err, c.Source)
				}
				for _, d := range r.Differences {
					t.Errorf("%s: %s\n want %s\n got  %s", c.ID, d.What, d.Want, d.Got)
				}
				if len(r.Departures) > 0 {
					departed++
				}
			}
			if len(list) != want.cases || departed != want.departed {
				t.Errorf("%d cases, %d departed, want %+v", len(list), departed, want)
			}
		})
	}
}

// "Reason: the right by which it yields": where one is recorded for a candidate of an attempt, another one differs.
func TestReasonsOfAttempts(t *testing.T) {
	for reason, differ := range map[preemption.VictimReason]bool{0: false, preemption.InClusterQueue: false, preemption.InCohortReclamation: true} {
		asked := 0
		for _, c := range casesOf(t, "rules-by-hand") {
			if len(c.Quota) != 1 || len(c.Quota[0].Want.Taken) != 1 || len(c.Quota[0].State.Queues) != 1 {
				continue
			}
			asked++
			for i := range c.Quota[0].Want.Taken[0].Victims {
				c.Quota[0].Want.Taken[0].Victims[i].Reason = reason
			}
			if r, err := c.Check(); err != nil || r.Passed() == differ {
				t.Errorf("%s, %v: %v, differences %v", c.ID, reason, err, r.Differences)
			}
		}
		if asked == 0 {
			t.Error("no case has an attempt in one queue")
		}
	}
}

// question returns the first question of a case, with a configuration.
func question(c *recorded.Case) (preemption.Config, preemption.State, preemption.Request) {
	q := &c.Quota[0]
	if q.Config == nil {
		return preemption.Config{}, *q.State, q.Request
	}
	return *q.Config, *q.State, q.Request
}

// TestReask asks Kueue's cases again by other routes: of the witness, of a snapshot made from reversed lists, of one made by
// edits, of one from which each workload was removed and admitted again.
func TestReask(t *testing.T) {
	for _, name := range []string{"random-classical", "random-fair"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, c := range casesOf(t, name) {
				if !testing.Short() || i%10 == 0 {
					reask(t, c)
				}
			}
		})
	}
}

func reask(t *testing.T, c *recorded.Case) {
	t.Helper()
	config, st, r := question(c)
	p, err := preemption.New(config)
	if err != nil {
		t.Fatal(err)
	}
	first := ask(t, p, st, nil, r)
	if _, diff := agree.Diff(config, st, r, first); diff != "" {
		t.Errorf("%s: the witness decides otherwise: %s", c.ID, diff)
	}
	backwards := preemption.State{Cohorts: slices.Clone(st.Cohorts), Queues: slices.Clone(st.Queues), Admitted: slices.Clone(st.Admitted)}
	slices.Reverse(backwards.Cohorts)
	slices.Reverse(backwards.Queues)
	slices.Reverse(backwards.Admitted)
	var edits, again []preemption.Edit
	for _, q := range st.Queues {
		edits = append(edits, preemption.SetQueue(q))
	}
	for _, co := range st.Cohorts {
		edits = append(edits, preemption.SetCohort(co))
	}
	for _, w := range st.Admitted {
		edits = append(edits, preemption.Admit(w))
		again = append(again, preemption.Remove(w.ID), preemption.Admit(w))
	}
	for route, other := range map[string]preemption.Decision{
		"in reverse":     ask(t, p, backwards, nil, r),
		"by edits":       ask(t, p, preemption.State{}, edits, r),
		"there and back": ask(t, p, st, again, r),
	} {
		if diff := cmp.Diff(first, other, cmpopts.IgnoreUnexported(preemption.Decision{})); diff != "" {
			t.Errorf("%s, %s: %s", c.ID, route, diff)
		}
	}
}

func ask(t *testing.T, p *preemption.Preemptor, st preemption.State, edits []preemption.Edit, r preemption.Request) preemption.Decision {
	t.Helper()
	s, err := preemption.NewSnapshot(st)
	if err == nil {
		s, err = s.With(edits...)
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decide(s, r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// answerOf is a decision without what policies and rules need not share: the reasons.
type answerOf struct {
	Victims []string
	preemption.Outcome
	BorrowHeight int
	RetryAt      string
}

func answer(d preemption.Decision) answerOf {
	a := answerOf{Outcome: d.Outcome, BorrowHeight: d.BorrowHeight, RetryAt: d.RetryAt.String()}
	for _, v := range d.Victims {
		a.Victims = append(a.Victims, v.Workload)
	}
	slices.Sort(a.Victims)
	return a
}

// Rules that say the same as the policies decide the same, except where their vocabulary cannot say it: there they decide as the
// witness does. It counts the cases that must be decided in the same way, those that need not and are nevertheless, and those
// that differ.
func TestPoliciesAsRules(t *testing.T) {
	if testing.Short() {
		t.Skip("it counts all cases, which takes long")
	}
	type counts struct{ Sayable, Same, Differ int }
	for name, want := range map[string]counts{"random-classical": {248, 714, 38}, "random-fair": {117, 835, 48}} {
		var got counts
		for _, c := range casesOf(t, name) {
			config, st, r := question(c)
			as, byRules := asrules.Of(st, config)
			p, err := preemption.New(config)
			if err != nil {
				t.Fatal(err)
			}
			q, err := preemption.New(byRules)
			if err != nil {
				t.Fatal(err)
			}
			byRule, unsaid := ask(t, q, as, nil, r), len(asrules.Unsaid(st, r, config)) > 0
			switch diff := cmp.Diff(answer(ask(t, p, st, nil, r)), answer(byRule)); {
			case diff == "" && unsaid:
				got.Same++
			case diff == "":
				got.Sayable++
			case !unsaid:
				t.Errorf("%s: %s", c.ID, diff)
			default:
				got.Differ++
				if _, diff := agree.Diff(byRules, as, r, byRule); diff != "" {
					t.Errorf("%s: the witness decides otherwise: %s", c.ID, diff)
				}
			}
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
