package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// kubernetesCases are facts from kube-scheduler's own tests, and seven that were worked out
// by hand from KEP-5710. They stay where they are.
const kubernetesCases = "../../../../shared/cases/k8s/cases.jsonl.gz"

func skipWithoutKubernetesCases(t *testing.T) {
	if _, err := os.Stat(kubernetesCases); errors.Is(err, fs.ErrNotExist) {
		t.Skip("kube-scheduler's test tables are not beside this checkout")
	}
}

func TestKubernetes(t *testing.T) {
	skipWithoutKubernetesCases(t)
	runFile(t, kubernetesCases, 100)
}

// TestModesOnNodes compares all three modes, victims and placement, with a simulation that
// was made beside the cases.
func TestModesOnNodes(t *testing.T) {
	skipWithoutKubernetesCases(t)
	f, err := os.Open(kubernetesCases)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	compared, spared := 0, 0
	err = Read(kubernetesCases, f, func(_ int, asked Asker) error {
		c := asked.(*NodeCase)
		leaving := slices.ContainsFunc(c.Pods, func(p podOf) bool { return p.Terminating })
		for name, want := range c.Derived {
			if leaving && name == "seed" { // there what terminates was not gone yet
				continue
			}
			c.Options.Mode = name
			s, err := placement.NewSnapshot(c.state())
			if err != nil {
				return err
			}
			p, err := placement.New(c.config())
			if err != nil {
				return err
			}
			d, err := p.Decide(s, c.request())
			if err != nil {
				return err
			}
			if name == "seed" && sparesHigher(c, &d, len(want.Placement), want.Victims) {
				spared++
				continue
			}
			if got := victimPods(d.Victims); !slices.Equal(got, sorted(want.Victims)) {
				t.Errorf("%s, %s: victims %v, want %v (%+v)", c.Name, name, got, want.Victims, d)
			}
			placed := map[string]string{}
			for _, n := range d.Nominations {
				placed[n.Pod] = n.Node
			}
			if got, want := fmt.Sprint(placed), fmt.Sprint(want.Placement); d.Outcome != preemption.Wait && want != "map[]" && got != want {
				t.Errorf("%s, %s: placed %s, want %s", c.Name, name, got, want)
			}
			compared++
		}
		return nil
	})
	if err != nil || compared < 100 || spared == 0 {
		t.Errorf("%v; %d answers compared, %d spare a higher priority", err, compared, spared)
	}
}

// sparesHigher is the predicate of a departure: the group has a place for its minimum without a victim of the highest
// priority that yields when as many of its pods are placed as can be.
func sparesHigher(c *NodeCase, d *placement.Decision, placed int, victims []string) bool {
	highest := func(names []string) int64 {
		most := int64(math.MinInt64)
		for _, u := range c.state().Pods {
			if slices.Contains(names, u.ID) {
				most = max(most, int64(u.Priority))
			}
		}
		return most
	}
	least := max(1, c.request().MinCount)
	return placed > least && len(d.Nominations) >= least && highest(victimPods(d.Victims)) < highest(victims)
}
