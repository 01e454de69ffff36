package preemption_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// stories reads the rules of the page about rules, by name.
func stories(t *testing.T) map[string]rules.Config {
	t.Helper()
	page, err := os.ReadFile("../docs/designs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]rules.Config{}
	for _, part := range strings.Split(string(page), "```json\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		var c rules.Config
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		all[c.Name] = c
	}
	return all
}

// labelled gives a workload labels, written as key=value.
func labelled(w workload.Workload, labels ...string) workload.Workload {
	w.Labels = map[string]string{}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		w.Labels[key] = value
	}
	return w
}

// like returns a workload with a change.
func like(w workload.Workload, change func(*workload.Workload)) workload.Workload {
	change(&w)
	return w
}

func boost(w *workload.Workload) { w.PriorityBoost = 5 }

// Each story of the page: whom its rules let a workload take, and whom not.
func TestStories(t *testing.T) {
	read, met := stories(t), map[string]bool{}
	hour := []rules.Observation{{Trigger: rules.InsufficientQuota, Since: now.Add(-time.Hour)}}
	hours := []rules.Observation{{Trigger: rules.InsufficientQuota, Since: now.Add(-3 * time.Hour)}}
	for _, c := range []struct {
		story, about string
		running      []workload.Workload
		asks         workload.Workload
		since        []rules.Observation
		want         string
	}{
		{"hero", "also within nominal", []workload.Workload{job("runs", "b", 9, 4, started(5)), job("own", "a", 9, 4, started(5))},
			labelled(job("asks", "a", 0, 4, time.Time{}), "hero=true"), nil, "Preempt [runs]"},
		{"hero", "of another queue", []workload.Workload{job("runs", "b", 9, 4, started(5)), labelled(job("own", "a", 0, 4, started(5)), "hero=true")},
			labelled(job("asks", "a", 9, 4, time.Time{}), "hero=true"), nil, "Preempt [runs]"},
		{"hero", "nobody else may", []workload.Workload{job("runs", "b", 0, 4, started(5)), job("own", "a", 0, 4, started(5))}, job("asks", "a", 9, 4, time.Time{}), nil, "Impossible []"},
		{"fence", "of the team", []workload.Workload{job("runs", "b", 0, 4, started(5)), job("own", "a", 0, 4, started(9))}, job("asks", "a", 1, 4, time.Time{}), nil, "Preempt [runs]"},
		{"fence", "lower ones alone", []workload.Workload{job("runs", "b", 1, 4, started(5)), job("own", "a", 0, 4, started(5))}, job("asks", "a", 1, 4, time.Time{}), nil, "Impossible []"},
		{"never", "others", []workload.Workload{job("own", "a", 0, 8, started(5))}, job("asks", "a", 1, 4, time.Time{}), nil, "Preempt [own]"},
		{"never", "equals", []workload.Workload{job("own", "a", 0, 8, started(5))}, job("asks", "a", 0, 4, time.Time{}), nil, "Impossible []"},
		{"never", "with the label", []workload.Workload{labelled(job("own", "a", 0, 8, started(5)), "tier=gold")}, job("asks", "a", 9, 4, time.Time{}), nil, "Impossible []"},
		{"never", "of the class", []workload.Workload{like(job("own", "a", 0, 8, started(5)), func(w *workload.Workload) { w.PriorityClass = "system" })}, job("asks", "a", 9, 4, time.Time{}), nil, "Impossible []"},
		{"thresholds", "in the own queue", []workload.Workload{job("own", "a", 100, 8, started(5))}, job("asks", "a", 120, 4, time.Time{}), nil, "Preempt [own]"},
		{"thresholds", "over it", []workload.Workload{job("own", "a", 101, 8, started(5))}, job("asks", "a", 120, 4, time.Time{}), nil, "Impossible []"},
		{"thresholds", "reclaim", []workload.Workload{job("runs", "b", 50, 8, started(5))}, job("asks", "a", 0, 4, time.Time{}), nil, "Preempt [runs]"},
		{"thresholds", "reclaim over it", []workload.Workload{job("runs", "b", 51, 8, started(5))}, job("asks", "a", 90, 4, time.Time{}), nil, "Impossible []"},
		{"small", "two nodes", []workload.Workload{labelled(job("own", "a", 0, 8, started(5)), "nodes=2")}, job("asks", "a", 1, 4, time.Time{}), nil, "Preempt [own]"},
		{"small", "not said", []workload.Workload{job("own", "a", 0, 8, started(5))}, job("asks", "a", 1, 4, time.Time{}), nil, "Preempt [own]"},
		{"small", "three nodes", []workload.Workload{labelled(job("own", "a", 0, 8, started(5)), "nodes=3")}, job("asks", "a", 1, 4, time.Time{}), nil, "Impossible []"},
		{"small", "equals", []workload.Workload{job("own", "a", 1, 8, started(5))}, job("asks", "a", 1, 4, time.Time{}), nil, "Impossible []"},
		{"boosts", "in the own queue", []workload.Workload{like(job("own", "a", 0, 8, started(5)), boost)}, job("asks", "a", 3, 4, time.Time{}), nil, "Impossible []"},
		{"boosts", "in another queue", []workload.Workload{like(job("runs", "b", 0, 8, started(5)), boost)}, job("asks", "a", 3, 4, time.Time{}), nil, "Preempt [runs]"},
		{"exempt", "after its time", []workload.Workload{job("own", "a", 0, 8, started(31))}, job("asks", "a", 1, 4, time.Time{}), nil, "Preempt [own]"},
		{"exempt", "before", []workload.Workload{job("own", "a", 0, 8, started(20))}, job("asks", "a", 1, 4, time.Time{}), nil, "Wait [] 10m0.000000001s"},
		{"exempt", "equals never", []workload.Workload{job("own", "a", 1, 8, started(31))}, job("asks", "a", 1, 4, time.Time{}), nil, "Impossible []"},
		{"patient", "too early", []workload.Workload{job("own", "a", 0, 8, started(20))}, job("asks", "a", 1, 4, time.Time{}), hour, "Wait [] 1h0m0.000000001s"},
		{"patient", "first seen", []workload.Workload{job("own", "a", 0, 8, started(20))}, job("asks", "a", 1, 4, time.Time{}), nil, "Wait [] 2h0m0.000000001s"},
		{"patient", "long enough", []workload.Workload{job("own", "a", 0, 8, started(20))}, job("asks", "a", 1, 4, time.Time{}), hours, "Preempt [own]"},
		{"classical", "own queue", []workload.Workload{job("own", "a", 0, 4, started(5)), job("runs", "b", 0, 4, started(5))}, job("asks", "a", 1, 4, time.Time{}), nil, "Preempt [own]"},
		{"classical", "reclaim", []workload.Workload{job("runs", "b", 9, 8, started(5))}, job("asks", "a", 0, 4, time.Time{}), nil, "Preempt [runs]"},
		{"classical", "while borrowing", []workload.Workload{job("runs", "b", 100, 8, started(5))}, job("asks", "a", 101, 6, time.Time{}), nil, "Preempt [runs]"},
		{"classical", "while borrowing, over the threshold", []workload.Workload{job("runs", "b", 101, 8, started(5))}, job("asks", "a", 102, 6, time.Time{}), nil, "Impossible []"},
		{"fair", "own queue", []workload.Workload{job("own", "a", 0, 4, started(5)), job("runs", "b", 0, 4, started(5))}, job("asks", "a", 1, 4, time.Time{}), nil, "Preempt [own]"},
		{"fair", "within nominal", []workload.Workload{job("runs", "b", 9, 8, started(5))}, job("asks", "a", 0, 4, time.Time{}), nil, "Preempt [runs]"},
		{"fair", "the smaller share", []workload.Workload{job("runs", "b", 9, 8, started(5))}, job("asks", "a", 0, 6, time.Time{}), nil, "Preempt [runs]"},
		{"fair", "the same share", []workload.Workload{job("runs", "b", 9, 8, started(5))}, job("asks", "a", 0, 8, time.Time{}), nil, "Impossible []"},
		{"kai", "own queue", []workload.Workload{job("own", "a", 0, 8, started(31))}, job("asks", "a", 1, 4, time.Time{}), nil, "Preempt [own]"},
		{"kai", "own queue, before", []workload.Workload{job("own", "a", 0, 8, started(29))}, job("asks", "a", 1, 4, time.Time{}), nil, "Wait [] 1m0.000000001s"},
		{"kai", "own queue, equals", []workload.Workload{job("own", "a", 1, 8, started(31))}, job("asks", "a", 1, 4, time.Time{}), nil, "Impossible []"},
		{"kai", "reclaim", []workload.Workload{job("runs", "b", 9, 8, started(11))}, job("asks", "a", 0, 4, time.Time{}), nil, "Preempt [runs]"},
		{"kai", "reclaim, before", []workload.Workload{job("runs", "b", 0, 8, started(9))}, job("asks", "a", 9, 4, time.Time{}), nil, "Wait [] 1m0.000000001s"},
	} {
		met[c.story] = true
		st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Rules: []rules.Config{read[c.story]}, Admitted: c.running, Queues: []queue.Queue{
			{Name: "a", Cohort: "root", Quotas: gpus(4), Rules: c.story}, {Name: "b", Cohort: "root", Quotas: gpus(4), Labels: map[string]string{"team": "vision"}}}}
		d := decide(t, snapshotOf(t, st), preemption.Request{Workload: c.asks, Now: now, TriggersSince: c.since})
		got := fmt.Sprint(d.Outcome, " ", ids(d.Victims))
		if d.Outcome == preemption.Wait {
			got += fmt.Sprint(" ", d.RetryAt.Sub(now))
		}
		if got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.story, c.about, got, c.want)
		}
	}
	for name := range read {
		if !met[name] && name != "defragment" {
			t.Errorf("%s is not asked", name)
		}
	}
}

// Two racks of four nodes with one small job on each: a job of four nodes gets a rack whole, the
// small one gets a place on the other rack, and takes no room back.
func TestDefragmentation(t *testing.T) {
	small := func(id string) workload.Workload { return labelled(job(id, "a", 0, 1, started(5)), "nodes=1") }
	st := preemption.State{
		Rules: []rules.Config{stories(t)["defragment"]}, Admitted: []workload.Workload{small("s1"), small("s2")},
		Queues: []queue.Queue{{Name: "a", Quotas: gpus(8), Rules: "defragment"}},
	}
	one := workload.Resources{"gpu": 1}
	var n nodes
	var racks [2]placement.Domain
	for i := range 8 {
		name := fmt.Sprint("n", i)
		n.state.Nodes = append(n.state.Nodes, workload.Node{Name: name, Capacity: one})
		racks[i/4].Nodes = append(racks[i/4].Nodes, name)
	}
	racks[0].Name, racks[1].Name = "r0", "r1"
	n.state.Pods = []workload.Pod{{ID: "s1-0", Group: "s1", Node: "n0", Requests: one}, {ID: "s2-0", Group: "s2", Node: "n4", Requests: one}}
	n.request = placement.Request{Group: "large", MinCount: 4, Domains: racks[:]}
	for i := range 4 {
		n.request.Pods = append(n.request.Pods, workload.Pod{ID: fmt.Sprint("large-", i), Requests: one})
	}
	large := labelled(job("large", "a", 0, 4, time.Time{}), "nodes=4")
	d := decide(t, snapshotOf(t, st), preemption.Request{Workload: large, Now: now, Room: n.room(t)})
	if d.Outcome != preemption.Preempt || len(d.Victims) != 1 || d.Victims[0].Reason != preemption.ConfigurablePreemption {
		t.Fatalf("%v %+v", d.Outcome, d.Victims)
	}
	// The large job has the rack of its victim, and others fill the other rack but for a node.
	gone := d.Victims[0].Workload
	rack, free := racks[0].Nodes, "n5"
	if gone == "s2" {
		rack, free = racks[1].Nodes, "n1"
	}
	n.state.Pods = n.state.Pods[:0]
	for i, name := range rack {
		n.state.Pods = append(n.state.Pods, workload.Pod{ID: fmt.Sprint("large-", i), Group: "large", Node: name, Requests: one})
	}
	other := map[string]string{"s1": "n4", "s2": "n0"}[gone]
	n.state.Pods = append(n.state.Pods, workload.Pod{ID: "other-0", Group: "other", Node: other, Requests: one})
	n.request = placement.Request{Group: gone, MinCount: 1, Pods: []workload.Pod{{ID: gone + "-0", Requests: one}}}
	large.ReservedAt = now
	st.Admitted = []workload.Workload{large, small(map[string]string{"s1": "s2", "s2": "s1"}[gone])}
	again := preemption.Request{Workload: small(gone), Now: now, Room: n.room(t)}
	again.Workload.ReservedAt = time.Time{}
	if d := decide(t, snapshotOf(t, st), again); d.Outcome != preemption.Fits {
		t.Errorf("the small one on the other rack: %v", d.Outcome)
	}
	for _, name := range append(racks[0].Nodes, racks[1].Nodes...) {
		if name == free || !n.holds(name) {
			n.state.Pods = append(n.state.Pods, workload.Pod{ID: "filler-" + name, Group: "filler", Node: name, Requests: one})
		}
	}
	again.Room = n.room(t)
	if d := decide(t, snapshotOf(t, st), again); d.Outcome != preemption.Impossible {
		t.Errorf("the small one when all is full: %v %v", d.Outcome, ids(d.Victims))
	}
}

// holds reports whether a pod runs on a node.
func (n nodes) holds(name string) bool {
	for _, p := range n.state.Pods {
		if p.Node == name {
			return true
		}
	}
	return false
}
