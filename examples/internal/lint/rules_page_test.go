package lint

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// storyCluster is three queues of one tree that refer to a configuration, full of workloads of several
// kinds, and some that wait; nothing but the rules permits a preemption.
func storyCluster(t *testing.T, config rules.Config) *Cluster {
	t.Helper()
	return clusterOf(t, func(in *Cluster) {
		in.State.Rules = []rules.Config{config}
		in.State.Queues = append(in.State.Queues, queue.Queue{Name: "c", Cohort: "root", Quotas: in.State.Queues[0].Quotas})
		in.State.Admitted, in.Pending = nil, nil
		for i := range in.State.Queues {
			q := &in.State.Queues[i]
			q.Rules, q.Preemption = config.Name, queue.PreemptionPolicy{}
			q.Labels = map[string]string{"team": "vision"}
			for j := range 4 { // 10 of 8, 8 of 8, 6 of 8
				w := job(fmt.Sprintf("%s-%d", q.Name, j), q.Name, []int64{4, 2, 2, int64(2 - 2*i)}[j])
				w.Priority, w.ReservedAt, w.Created = []int64{0, 0, 60, 120}[j], now.Add(-time.Duration(j+1)*20*time.Minute), now.Add(-time.Duration(j+1)*30*time.Minute)
				w.Labels = []map[string]string{{"nodes": "2"}, {"tier": "silver"}, {"tier": "gold", "nodes": "1"}, {"hero": "true"}}[j]
				w.PriorityClass = []string{"batch", "batch", "system", "batch"}[j]
				if i < 2 || j < 3 {
					in.State.Admitted = append(in.State.Admitted, w)
				}
			}
			for j := range 3 {
				w := job(fmt.Sprintf("%s-waits-%d", q.Name, j), q.Name, 4)
				w.Priority, w.PriorityClass, w.Created = []int64{0, 60, 0}[j], "batch", now
				w.Labels = []map[string]string{{"nodes": "4"}, {"nodes": "2"}, {"hero": "true", "nodes": "4"}}[j]
				in.Pending = append(in.Pending, w)
			}
		}
		in.Topologies = map[string]string{"f": "racks"}
		in.Config.Compat.RulesAlone = true
	})
}

// No rule of lint finds anything in the stories of docs/designs/rules.md.
func TestStories(t *testing.T) {
	page, err := os.ReadFile("../../../docs/designs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	stories := strings.Split(string(page), "```json\n")[1:]
	for _, part := range stories {
		text, _, _ := strings.Cut(part, "```")
		var config rules.Config
		if err := json.Unmarshal([]byte(text), &config); err != nil {
			t.Fatal(err)
		}
		found, err := Run(storyCluster(t, config))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			t.Errorf("%s: %s: %s: %s (%s)", config.Name, f.Rule, f.Place, f.Problem, f.Example)
		}
	}
	if len(stories) < 12 {
		t.Errorf("%d stories", len(stories))
	}
}

// The cluster of the stories has who takes whom in turn, if rules compare nothing.
func TestStoriesAreLookedAt(t *testing.T) {
	config := rules.Config{Name: "c", Rules: []rules.Rule{{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always},
		CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinClusterQueue}}}}}
	for _, rule := range []string{"circle", "mutual"} {
		if found, err := Run(storyCluster(t, config), rule); err != nil || len(found) == 0 {
			t.Errorf("%s: %v, %v", rule, found, err)
		}
	}
}
