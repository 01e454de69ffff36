package corpus

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/cedesched/cede/preemption"
)

// TestRandomClassical asks 1000 generated scenarios that Kueue decided.
func TestRandomClassical(t *testing.T) {
	runFile(t, "testdata/random-classical.jsonl.gz", 1000)
}

// TestRandomFair asks 1000 of fair sharing, with each list of strategies.
func TestRandomFair(t *testing.T) {
	runFile(t, "testdata/random-fair.jsonl.gz", 1000)
}

// TestSuites asks the scenarios of Kueue's own tests, if their files are there.
func TestSuites(t *testing.T) {
	for mode, cases := range map[string]int{"classical": 26, "fair": 19} {
		name := "../../../../shared/cases/kueue/suite-" + mode + ".jsonl.gz"
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			t.Skip("Kueue's test tables are not beside this checkout")
		}
		runFile(t, name, cases)
	}
}

// TestKAI asks for the minimum runtimes that KAI resolved and the victims that it protected,
// on generated trees and victims.
func TestKAI(t *testing.T) {
	for name, cases := range map[string]int{"resolver": 700, "resolver-nonleaf": 100, "protection": 400, "protection-multi": 100, "boundary": 100} {
		t.Run(name, func(t *testing.T) { runFile(t, "testdata/kai-"+name+".jsonl.gz", cases) })
	}
}

// TestGates asks which preemption gate Kueue opened, by both of its rules.
func TestGates(t *testing.T) {
	for _, name := range []string{"mk", "ca"} {
		t.Run(name, func(t *testing.T) { runFile(t, "testdata/gates-oracle-"+name+".jsonl.gz", 150) })
	}
}

// TestGatesSuite asks the cases of Kueue's own tests, if their files are there.
func TestGatesSuite(t *testing.T) {
	const name = "../../../../shared/cases/gates/gates.jsonl.gz"
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		t.Skip("Kueue's test tables are not beside this checkout")
	}
	runFile(t, name, 13)
}

// TestRulesSuite asks the cases of Kueue's tables about configurable preemption, if their files
// are there. All are asked but those that
// say what a selector is built into.
func TestRulesSuite(t *testing.T) {
	for name, cases := range map[string]struct{ all, asked int }{
		"filters": {89, 82}, "evaluator": {20, 20}, "configurable": {24, 24}, "fair": {11, 11}, "protection": {24, 24}, "classical-sequence": {7, 7},
	} {
		name := "../../../../shared/cases/rules/" + name + ".jsonl.gz"
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("Kueue's test tables are not beside this checkout")
		}
		runFile(t, name, cases.all)
		asked := 0
		err = errors.Join(err, Read(name, f, func(_ int, c Asker) error {
			r, err := c.Check(nil)
			if r.NotAsked == "" {
				asked++
			}
			return err
		}), f.Close())
		if err != nil || asked < cases.asked {
			t.Errorf("%s: %d cases asked, want %d at least; %v", name, asked, cases.asked, err)
		}
	}
}

// TestRulesByHand asks cases whose answers were worked out by hand. Four depart: Kueue retries at the first
// end of a protection, which is not enough.
func TestRulesByHand(t *testing.T) {
	asked, departed := 0, 0
	for _, c := range casesOf(t, "testdata/rules-by-hand.jsonl.gz") {
		r, err := c.Check(nil)
		if err != nil || r.NotAsked != "" {
			t.Errorf("%s is not asked: %s, %v", c.ID(), r.NotAsked, err)
		}
		for _, d := range r.Differences {
			t.Errorf("%s: %s\n want %s\n got  %s", c.ID(), d.What, d.Want, d.Got)
		}
		asked, departed = asked+1, departed+len(r.Departures)
	}
	if asked < 362 || departed != 4 {
		t.Errorf("%d cases asked, %d departed", asked, departed)
	}
}

// casesOf reads all cases of a file.
func casesOf(t *testing.T, name string) (list []Asker) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Read(name, f, func(_ int, c Asker) error { list = append(list, c); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestKAISuite asks the cases of KAI's own tests, if their files are there.
func TestKAISuite(t *testing.T) {
	for name, cases := range map[string]int{"suite-resolver": 15, "suite-protection": 6} {
		name = "../../../../shared/cases/kai/" + name + ".jsonl.gz"
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			t.Skip("KAI's test tables are not beside this checkout")
		}
		runFile(t, name, cases)
	}
}

func runFile(t *testing.T, name string, atLeast int) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := preemption.New(preemption.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cases, departed := 0, 0
	err = Read(name, f, func(line int, asked Asker) error {
		cases++
		r, err := asked.Check(p)
		if len(r.Departures) > 0 {
			departed++
		}
		for _, d := range r.Differences {
			t.Errorf("%s: %s\n want %s\n got  %s", asked.ID(), d.What, d.Want, d.Got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if cases < atLeast {
		t.Errorf("%d cases, want at least %d", cases, atLeast)
	}
	t.Logf("%d cases, %d departed", cases, departed)
}
