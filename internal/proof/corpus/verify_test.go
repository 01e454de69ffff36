package corpus

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

// Verify finds faults in these answers of Kueue, and in no others. Kueue tests the fit only
// after the first removal and so names a victim for a request that fits already.
var found = map[string]string{
	"random-fair-0427": `decision.outcome: Preempt, but the request fits now; decision.victims[0]: "ns/w08", or a replica of it, can stay`,
}

// TestVerifyKueue judges what Kueue answered.
func TestVerifyKueue(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{
		"testdata/random-classical.jsonl.gz", "testdata/random-fair.jsonl.gz",
		"../../../../shared/cases/kueue/suite-classical.jsonl.gz", "../../../../shared/cases/kueue/suite-fair.jsonl.gz",
	} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cases := 0
		err = Read(name, f, func(_ int, asked Asker) error {
			c := asked.(*Case)
			cases++
			problem := ""
			if err := c.Verify(); err != nil {
				problem = err.Error()
			}
			seen[c.Name] = true
			if is, err := c.departsByLeaving(); err != nil || is {
				return err // Verify wants nothing else told to stop
			}
			if problem != found[c.Name] {
				t.Errorf("%s: %s\nwant %s", c.Name, problem, found[c.Name])
			}
			return nil
		})
		if err != nil || cases < 19 {
			t.Errorf("%s: %d cases, %v", name, cases, err)
		}
	}
	t.Logf("%d answers", len(seen))
}

// TestVerifyKubernetes judges the victims that kube-scheduler's own tests expect.
func TestVerifyKubernetes(t *testing.T) {
	skipWithoutKubernetesCases(t)
	f, err := os.Open(kubernetesCases)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	judged := 0
	err = Read(kubernetesCases, f, func(_ int, asked Asker) error {
		c, ok := asked.(*NodeCase)
		if !ok {
			return nil
		}
		done, err := c.Verify()
		if done {
			judged++
		}
		if err != nil {
			t.Errorf("%s: %v", c.ID(), err)
		}
		return nil
	})
	if err != nil || judged < 10 {
		t.Errorf("%d judged, %v", judged, err)
	}
	t.Logf("%d judged", judged)
}
