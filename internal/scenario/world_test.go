package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
)

// record is what Kueue answered on a world.
type record struct {
	ID          string
	StateSha256 string
	Scenarios   []question
	Results     []struct {
		Scenario, Mode string
		Victims        int
		Sha256         string
		Reasons        map[string]int
	}
}

type question struct {
	Name, ClusterQueue string
	Priority           int64
	Request            Size
}

func records(t *testing.T) map[string]record {
	t.Helper()
	data, err := os.ReadFile("../../../shared/bench/scenarios.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("Kueue's answers on these worlds are not beside this checkout")
	}
	var file struct{ Worlds []record }
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]record{}
	for _, r := range file.Worlds {
		byID[r.ID] = r
	}
	return byID
}

// TestAsKueueDecides builds each world, checks that it is the one that Kueue was asked
// about, and compares victims and reasons of every classical scenario.
func TestAsKueueDecides(t *testing.T) {
	known := records(t)
	p, err := preemption.New(preemption.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range Worlds {
		t.Run(w.ID, func(t *testing.T) {
			if testing.Short() && w.Workloads() > 10_000 {
				t.Skip("large")
			}
			r, st := known[w.ID], w.State()
			if got := hash(describe(st)); got != r.StateSha256 {
				t.Fatalf("another world: %s, want %s", got, r.StateSha256)
			}
			s, err := preemption.NewSnapshot(st)
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			for _, result := range r.Results {
				if result.Mode != "classical" {
					continue
				}
				asked++
				i := slices.IndexFunc(r.Scenarios, func(q question) bool { return q.Name == result.Scenario })
				sc := r.Scenarios[i]
				if k, ok := strings.CutPrefix(sc.Name, "within-k"); ok && w.First(int(k[0]-'0'), 1) != sc.Request {
					t.Errorf("%s asks for %v", sc.Name, sc.Request)
				}
				if k, ok := strings.CutPrefix(sc.Name, "reclaim-k"); ok && len(k) == 1 && w.First(int(k[0]-'0'), -1) != sc.Request {
					t.Errorf("%s asks for %v", sc.Name, sc.Request)
				}
				d, err := p.Decide(s, Request(sc.ClusterQueue, sc.Priority, sc.Request))
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				reasons := map[string]int{}
				for _, v := range d.Victims {
					names = append(names, strings.TrimPrefix(v.Workload, "bench/"))
					reasons[v.Reason.String()]++
				}
				if len(names) != result.Victims || hash(strings.Join(names, "\n")) != result.Sha256 || !maps.Equal(reasons, result.Reasons) {
					t.Errorf("%s: %d victims %v, want %d %v", sc.Name, len(names), reasons, result.Victims, result.Reasons)
				}
			}
			if asked < 10 {
				t.Errorf("only %d scenarios", asked)
			}
		})
	}
}

// describe is the text of a world whose hash Kueue's run recorded.
func describe(st preemption.State) string {
	var b strings.Builder
	for _, q := range st.Queues {
		fmt.Fprintf(&b, "cq %s %s %d %d\n", q.Name, q.Cohort, q.Quotas[0].Nominal, q.Quotas[1].Nominal)
	}
	for _, w := range st.Admitted {
		r := w.PodSets[0].Requests
		fmt.Fprintf(&b, "wl %s %s %d %d %d %d %d\n", strings.TrimPrefix(w.ID, "bench/"), w.Queue, w.Priority,
			r[0].Amount, r[1].Amount, w.Created.Unix(), w.ReservedAt.Unix())
	}
	return b.String()
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
