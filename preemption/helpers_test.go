package preemption_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// now is the time of the scenarios; started(n) is n minutes before it.
var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func started(minutesAgo int) time.Time { return now.Add(-time.Duration(minutesAgo) * time.Minute) }

func gpus(nominal int64) []quota.Quota {
	return []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: nominal}}
}

func job(id, queueName string, priority, gpus int64, at time.Time) workload.Workload {
	return workload.Workload{
		ID: id, Queue: queueName, Priority: priority, Created: at, Queued: at, ReservedAt: at,
		PodSets: []workload.PodSet{{Name: "main", Count: gpus, Requests: []quota.Amount{
			{Flavor: "h100", Resource: "gpu", Amount: 1},
		}}},
	}
}

func pending(queueName string, priority, gpus int64) preemption.Request {
	return preemption.Request{Workload: job("pending", queueName, priority, gpus, now), Now: now}
}

var reclaims = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.LowerPriority}

func text(d preemption.Decision) string {
	var list []string
	for _, v := range d.Victims {
		list = append(list, v.Workload+" "+v.Reason.String())
	}
	for _, b := range d.Blockers {
		list = append(list, strings.TrimSpace(b.Rule.String()+" "+b.Queue+" "+b.Workload))
	}
	if len(list) == 0 {
		return d.Outcome.String()
	}
	return d.Outcome.String() + ": " + strings.Join(list, ", ")
}

// shared is a queue of 4 GPUs whose equals may be preempted after the duration, and what
// runs in it.
func shared(after time.Duration, admitted ...workload.Workload) preemption.State {
	q := queue.Queue{Name: "a", Quotas: gpus(4), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}}
	if after > 0 {
		q.Preemption.MinAdmitDuration = quota.Some(after)
	}
	return preemption.State{Queues: []queue.Queue{q}, Admitted: admitted}
}

// at returns a request for gpus GPUs, queued and asked that many minutes after now.
func at(minutes int, gpus int64) preemption.Request {
	r := pending("a", 10, gpus)
	r.Now = now.Add(time.Duration(minutes) * time.Minute)
	r.Workload.Queued, r.Workload.Created = r.Now, r.Now
	return r
}

func readJSON[T any](t *testing.T, name string) (v T) {
	t.Helper()
	data := must(os.ReadFile("testdata/" + name))(t)
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func quotaOf(resource string, nominal int64) quota.Quota {
	return quota.Quota{Flavor: "h100", Resource: resource, Nominal: nominal}
}

func taking(w workload.Workload, resource string, n int64) workload.Workload {
	w.PodSets = append(w.PodSets, workload.PodSet{Name: resource, Count: 1, Requests: []quota.Amount{
		{Flavor: "h100", Resource: resource, Amount: n},
	}})
	return w
}

// searches are those that a configuration can name: in order, by exchanges alone, and the best.
var searches = []preemption.Config{{}, {Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}}, {Search: preemption.Best}}

// searchOf names the search of a configuration.
func searchOf(c preemption.Config) string {
	if c.Best.Steps < 0 {
		return "exchanges alone"
	}
	return c.Search.String()
}

// wantText fails if a text is another than wanted; about says of what.
func wantText(t *testing.T, got, want string, about ...any) {
	t.Helper()
	if got == want {
		return
	}
	what := ""
	if len(about) > 0 {
		what = fmt.Sprintf(about[0].(string), about[1:]...) + ": "
	}
	t.Errorf("%s%q, want %q", what, got, want)
}
