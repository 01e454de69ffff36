package answers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cedesched/cede/queue"
)

// maxSteps limits the workloads that the decisions about all that waits may go over: in a cluster without
// room each decision goes over most that runs.
const maxSteps = 16_000_000

// MaxDecisions is how many different workloads are decided about in a cluster of this size, so that it
// takes some seconds.
func (c *Cluster) MaxDecisions() int { return maxSteps / (1 + len(c.State.Admitted)) }

// ShortenAll is [Cluster.Shorten] of a list. Workloads about which every decision is the same are decided
// about once. At most so many different ones are: the first of each queue, then the second; the answers
// about the rest are nil. progress is told about each answer, from any goroutine.
func (c *Cluster) ShortenAll(list []Waiting, most int, progress func()) ([]*Short, error) {
	answers := make([]*Short, len(list))
	first := map[string]int{} // of each kind
	var distinct []int
	kind := make([]string, len(list))
	key := c.alike()
	for i := range list {
		if w := &list[i]; w.decided() {
			kind[i] = key(w)
		} else {
			kind[i] = fmt.Sprint(i) // answered at once
		}
		if _, known := first[kind[i]]; !known {
			first[kind[i]] = i
			distinct = append(distinct, i)
		}
	}
	slices.SortStableFunc(distinct, func(a, b int) int { return cmp.Compare(list[a].Position, list[b].Position) })
	for n, i := range distinct {
		if list[i].decided() {
			if most--; most < 0 {
				distinct = distinct[:n]
				break
			}
		}
	}
	errs := make([]error, len(list))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(distinct); n = int(next.Add(1)) - 1 {
				i := distinct[n]
				var s Short
				s, errs[i] = c.Shorten(&list[i])
				answers[i] = &s
				progress()
			}
		})
	}
	workers.Wait()
	for i := range list {
		at := first[kind[i]]
		if errs[at] != nil {
			return nil, fmt.Errorf("workload %s: %w", list[i].Workload.ID, errs[at])
		}
		answers[i] = answers[at]
	}
	return answers, nil
}

// alike returns what is the same text for waiting workloads only if every decision about them is.
func (c *Cluster) alike() func(*Waiting) string {
	queues := map[string]*queue.Queue{}
	for i := range c.State.Queues {
		queues[c.State.Queues[i].Name] = &c.State.Queues[i]
	}
	ruled := len(c.State.Rules) > 0 || len(c.Config.Limits) > 0
	return func(w *Waiting) string {
		r := w.Request
		of := &r.Workload
		if q := queues[of.Queue]; q == nil || ruled && q.Rules != "" || len(c.Config.Limits) > 0 || len(c.Config.Guards) > 0 || r.Room != nil {
			return "\x00" + of.ID // rules may read anything
		} else if q.Preemption.WithinClusterQueue != queue.LowerOrNewerEqualPriority {
			of.Queued, of.Created = time.Time{}, time.Time{}
		}
		of.ID, of.UID, of.LocalQueue, of.PriorityClass, of.Labels = "", "", "", "", nil
		text, err := json.Marshal([]any{r, w.Doubts, w.NoStands})
		if err != nil {
			return "\x00" + w.Workload.ID
		}
		return string(text)
	}
}
