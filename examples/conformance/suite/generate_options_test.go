package suite

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/asrules"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// more uses the parts of a request that the generators leave out.
func more(r *rand.Rand, q *DecideQuestion) {
	w := &q.Request.Workload
	switch r.IntN(12) {
	case 0:
		for i := range w.PodSets {
			if p := &w.PodSets[i]; p.Count <= workload.MaxElasticCount {
				q.Request.MinCounts = append(q.Request.MinCounts, preemption.Replicas{PodSet: p.Name, Count: p.Count / 2})
			}
		}
	case 1:
		for i := range q.State.Admitted {
			if a := &q.State.Admitted[i]; a.Queue == w.Queue {
				q.Request.Replaces = a.ID
			}
		}
	case 2:
		q.Request.Now = q.Request.Now.Add(time.Hour)
	}
}

// addRules gives queues rules: those that say the same as their policies, or stories of the page about rules.
func addRules(r *rand.Rand, q *DecideQuestion) {
	if chance(r, 1, 3) {
		q.State, *q.Config = asrules.Of(q.State, *q.Config)
		return
	}
	story := pick(r, stories()...)
	q.State.Rules = []rules.Config{story}
	q.Config.Compat.RulesAlone = chance(r, 1, 2)
	labels := labelsOf(story)
	label := func(w *workload.Workload) {
		for _, key := range labels {
			if chance(r, 1, 2) {
				if w.Labels == nil {
					w.Labels = map[string]string{}
				}
				w.Labels[key] = pick(r, "true", "1", "3", "gold", "a")
			}
		}
		w.PriorityClass = pick(r, "", "", "system")
	}
	for i := range q.State.Queues {
		q.State.Queues[i].Rules = story.Name
		q.State.Queues[i].Labels = map[string]string{"team": pick(r, "vision", "other")}
		if chance(r, 1, 2) {
			q.State.Queues[i].Preemption.WithinClusterQueue, q.State.Queues[i].Preemption.MinAdmitDuration = 0, quota.OptionalDuration{}
		}
	}
	for i := range q.State.Admitted {
		label(&q.State.Admitted[i])
	}
	label(&q.Request.Workload)
	for _, trigger := range rules.Triggers() {
		if chance(r, 1, 3) {
			q.Request.TriggersSince = append(q.Request.TriggersSince, rules.Observation{Trigger: trigger, Since: minutesBefore(r, 90)})
		}
	}
}

// stories are the rules of docs/designs/rules.md.
var stories = sync.OnceValue(func() (list []rules.Config) {
	page, err := os.ReadFile("../../../docs/designs/rules.md")
	if err != nil {
		panic(err)
	}
	for _, part := range strings.Split(string(page), "```json\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		var c rules.Config
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			panic(err)
		}
		list = append(list, c)
	}
	return list
})

// labelsOf lists the keys that the selectors of rules ask for.
func labelsOf(c rules.Config) (keys []string) {
	of := func(s *workload.LabelSelector) {
		if s == nil {
			return
		}
		for key := range s.MatchLabels {
			keys = append(keys, key)
		}
		for _, e := range s.MatchExpressions {
			keys = append(keys, e.Key)
		}
	}
	for _, rule := range c.Rules {
		of(rule.PreemptorSelector)
		for _, s := range rule.CandidateSelectors {
			of(s.LabelSelector)
			for _, n := range s.NumericLabels {
				keys = append(keys, n.Key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// addLimits limits preemptions, and tells a history of some.
func addLimits(r *rand.Rand, q *DecideQuestion) {
	if !chance(r, 1, 2) {
		return
	}
	for i := range 1 + r.IntN(2) {
		q.Config.Limits = append(q.Config.Limits, limits.Limit{
			Name: fmt.Sprint("limit-", i), Scope: pick(r, limits.Global, limits.PreemptingClusterQueue, limits.PreemptedClusterQueue, limits.PreemptedWorkload), Limit: int64(r.IntN(3)), Window: quota.Some(time.Hour),
		})
	}
	for range r.IntN(4) {
		if len(q.State.Admitted) == 0 {
			return
		}
		v := pick(r, q.State.Admitted...)
		q.History = append(q.History, limits.Event{Preemptor: "ns/earlier", Victim: v.ID, At: minutesBefore(r, 80),
			Class: limits.Class{PreemptingQueue: pick(r, q.State.Queues...).Name, PreemptedQueue: v.Queue}})
	}
}
