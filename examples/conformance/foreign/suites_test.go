package foreign

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/preemption/verify"
)

// someTime is the time of cases to which it does not matter.
var someTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// anyCase reads a line of any form, of those that only the tests read, too.
func anyCase(line []byte) (*recorded.Case, error) {
	var of marks
	if err := json.Unmarshal(line, &of); err != nil {
		return nil, err
	}
	switch {
	case of.Table != "":
		return of.read(line, &ruleCase{kind: of.Kind})
	case of.Defaults != nil && of.Suite == "":
		return of.read(line, new(kaiCase))
	}
	c, _, err := Case(line)
	return c, err
}

// table opens a file of the test tables of other schedulers, which are transcribed beside the checkout.
func table(t *testing.T, name string) *os.File {
	t.Helper()
	return beside(t, "cases", name)
}

// beside opens a file of a folder beside the checkout.
func beside(t *testing.T, folder, name string) *os.File {
	t.Helper()
	tables := filepath.Join("../../../../shared", folder)
	if _, err := os.Stat(tables); errors.Is(err, fs.ErrNotExist) {
		t.Skip("what other schedulers decided is not beside this checkout")
	}
	f, err := os.Open(filepath.Join(tables, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// suite reads a table.
func suite(t *testing.T, name string) (list []*recorded.Case) {
	t.Helper()
	if err := recorded.Lines(name, table(t, name), func(_ int, line []byte) error {
		c, err := anyCase(line)
		list = append(list, c)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSuites asks the cases of the tests of Kueue, KAI and kube-scheduler. Some are stories that no decision answers.
func TestSuites(t *testing.T) {
	for name, want := range map[string]struct{ cases, departed, stories int }{
		"kueue/suite-classical.jsonl.gz":    {26, 2, 0},
		"kueue/suite-fair.jsonl.gz":         {19, 0, 0},
		"kai/suite-resolver.jsonl.gz":       {15, 0, 0},
		"kai/suite-protection.jsonl.gz":     {6, 0, 0},
		"gates/gates.jsonl.gz":              {15, 0, 7},
		"k8s/cases.jsonl.gz":                {131, 2, 9},
		"rules/filters.jsonl.gz":            {89, 0, 7},
		"rules/evaluator.jsonl.gz":          {20, 0, 0},
		"rules/configurable.jsonl.gz":       {24, 0, 0},
		"rules/fair.jsonl.gz":               {11, 0, 0},
		"rules/protection.jsonl.gz":         {24, 1, 0},
		"rules/classical-sequence.jsonl.gz": {7, 0, 0},
		"k8s137/group.jsonl.gz":             {15, 0, 2},
		"k8s137/integration.jsonl.gz":       {36, 0, 0},
		"k8s137/topology.jsonl.gz":          {33, 0, 0},
		"k8s137/types.jsonl.gz":             {18, 0, 1},
		"k8s137/util.jsonl.gz":              {37, 0, 1},
		"k8s137/resize.jsonl.gz":            {7, 0, 6},
		"k8s137/random.jsonl.gz":            {994, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := want
			got.cases, got.departed, got.stories = 0, 0, 0
			for _, c := range suite(t, name) {
				r, err := c.Check()
				if got.cases++; err != nil {
					t.Errorf("%s is not asked: %v", c.ID, err)
				}
				for _, d := range r.Differences {
					t.Errorf("%s: %s\n want %s\n got  %s", c.ID, d.What, d.Want, d.Got)
				}
				if len(r.Departures) > 0 {
					got.departed++
				}
				if r.NotAsked != "" {
					got.stories++
				}
			}
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// TestVerifyKubernetes judges the victims that kube-scheduler's own tests expect of a single pod. With budgets it is not
// recorded which victim violates one.
func TestVerifyKubernetes(t *testing.T) {
	judged := 0
	for _, c := range suite(t, "k8s/cases.jsonl.gz") {
		if c.Story != "" {
			continue
		}
		q := &c.Nodes[0]
		w, r := &q.Want, q.Request
		if len(w.Victims) == 0 || w.Domain == nil || *w.Domain == "" || len(r.Pods) != 1 || r.Group != "" || len(q.State.Budgets) > 0 {
			continue
		}
		s, err := placement.NewSnapshot(q.State)
		if err != nil {
			t.Fatal(err)
		}
		d := placement.Decision{Outcome: preemption.Preempt}
		d.Domain = *w.Domain
		d.Nominations = []placement.Nomination{{Pod: r.Pods[0].ID, Node: *w.Domain}}
		for _, u := range s.Units() {
			var pods []string
			for _, p := range u.Pods {
				pods = append(pods, p.ID)
			}
			slices.Sort(pods)
			if slices.ContainsFunc(pods, func(id string) bool { return slices.Contains(w.Victims, id) }) {
				d.Victims = append(d.Victims, placement.Victim{Group: u.Group, Pods: pods, Priority: u.Priority})
			}
		}
		slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return strings.Compare(a.Pods[0], b.Pods[0]) })
		judged++
		if err := verify.Placement(q.State, r, q.Config(), d); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
	if judged < 10 {
		t.Errorf("%d judged", judged)
	}
}
