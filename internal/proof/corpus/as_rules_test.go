package corpus

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/internal/proof/asrules"
)

// Rules that say the same as the policies decide the same, except where their vocabulary cannot say
// it. How many cases differ is counted, and how many must not.
func TestPoliciesAsRules(t *testing.T) {
	for mode, want := range map[string]asRules{
		"classical": {Sayable: 248, Same: 742, Differ: 10},
		"fair":      {Sayable: 117, Same: 844, Differ: 39},
	} {
		name := "testdata/random-" + mode + ".jsonl.gz"
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var got asRules
		if err := Read(name, f, got.add); err != nil {
			t.Fatal(err)
		}
		for _, d := range got.Failed {
			t.Errorf("%s: %+v", mode, d)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", mode, diff)
		}
	}
}

// asRules counts cases: those that must be decided in the same way, those that need not and are
// nevertheless, and those that differ.
type asRules struct {
	Sayable, Same, Differ int
	Failed                []Difference
}

func (a *asRules) add(_ int, asked Asker) error {
	c := asked.(*Case)
	config, err := c.Config()
	if err != nil {
		return err
	}
	r, err := c.CheckRules()
	switch {
	case len(r.Departures) > 0:
		a.Differ++
	case len(asrules.Unsaid(c.State(), c.Request(), config)) > 0:
		a.Same++
	default:
		a.Sayable++
	}
	a.Failed = append(a.Failed, r.Differences...)
	return err
}
