package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// lived is a cluster that lives: workloads come, wait, preempt, run and end. Each version of their objects is kept, as an API
// server would write it. Some preemptions are spoilt on purpose.
type lived struct {
	*rand.Rand
	now      time.Time
	snapshot *preemption.Snapshot
	preempt  *preemption.Preemptor
	jobs     []*job
	versions []string
	spoilt   map[string]string // what was done, by time and preemptor
	right    map[string]bool
	spoils   bool
}

// job is a workload of a lived cluster.
type job struct {
	workload.Workload
	uid                string
	runs               bool
	since, told, stops time.Time // zero: not
	ends               time.Time
	by                 *job
	reason             preemption.VictimReason
	finished           bool
	evictions          int
	gpus               int64
}

var queuesOfLived = []struct {
	name, within, reclaim string
	gpus                  int64
}{
	{"vision-research-2026", "LowerPriority", "Any", 6}, {"nlp-training-eu-west", "LowerOrNewerEqualPriority", "LowerPriority", 4},
	{"recsys-batch", "Never", "Any", 2}, {"shared-spot-pool", "LowerPriority", "Never", 0},
}

func newLived(seed uint64, spoils bool) *lived {
	l := &lived{Rand: rand.New(rand.NewPCG(seed, 58)), now: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC), spoilt: map[string]string{}, right: map[string]bool{}, spoils: spoils}
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "research"}}}
	policies := map[string]queue.VictimPolicy{"Never": queue.Never, "LowerPriority": queue.LowerPriority, "LowerOrNewerEqualPriority": queue.LowerOrNewerEqualPriority, "Any": queue.Any}
	l.versions = append(l.versions, `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"h100"},"spec":{}}`,
		`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"research"},"spec":{}}`)
	for _, q := range queuesOfLived {
		st.Queues = append(st.Queues, queue.Queue{Name: q.name, Cohort: "research", Quotas: []quota.Quota{{Flavor: "h100", Resource: "nvidia.com/gpu", Nominal: q.gpus}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: policies[q.within], ReclaimWithinCohort: policies[q.reclaim]}})
		l.versions = append(l.versions, fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":%q,"generation":1,"creationTimestamp":"2026-01-05T09:00:00Z"},
			"spec":{"cohortName":"research","namespaceSelector":{},"preemption":{"withinClusterQueue":%q,"reclaimWithinCohort":%q},
			"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"h100","resources":[{"name":"nvidia.com/gpu","nominalQuota":%d}]}]}]}}`, q.name, q.within, q.reclaim, q.gpus),
			fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq","namespace":%q},"spec":{"clusterQueue":%q}}`, q.name, q.name))
	}
	var err error
	if l.snapshot, err = preemption.NewSnapshot(st); err != nil {
		panic(err)
	}
	l.preempt, _ = preemption.New(preemption.Config{})
	return l
}

// live lets some time pass.
func (l *lived) live(steps int) {
	for range steps {
		l.now = l.now.Add(time.Duration(2+l.IntN(300)) * time.Second)
		for _, j := range l.jobs {
			switch {
			case !j.runs || j.finished:
			case !j.told.IsZero() && !l.now.Before(j.told.Add(40*time.Second)):
				l.edit(preemption.Remove(j.ID))
				j.runs, j.stops = false, l.now
				j.write(l)
			case j.told.IsZero() && l.now.After(j.ends):
				l.edit(preemption.Remove(j.ID))
				j.runs, j.finished = false, true
				j.write(l)
			}
		}
		if l.IntN(3) > 0 {
			l.submit()
		}
		l.cycle()
	}
}

func (l *lived) submit() {
	q := queuesOfLived[l.IntN(len(queuesOfLived))]
	n := len(l.jobs)
	j := &job{uid: fmt.Sprintf("uid-%04d", n), gpus: 1 + int64(l.IntN(4))}
	j.Workload = workload.Workload{ID: fmt.Sprintf("%s/job-train-%d-%05x", q.name, n, l.Uint32()&0xfffff), UID: j.uid, Queue: q.name, Priority: int64(l.IntN(3)) * 100, Created: l.now, Queued: l.now,
		PodSets: []workload.PodSet{{Name: "main", Count: j.gpus, Requests: []quota.Amount{{Resource: "nvidia.com/gpu", Amount: 1}}}}}
	l.jobs = append(l.jobs, j)
	j.write(l)
}

func (l *lived) edit(edits ...preemption.Edit) {
	next, err := l.snapshot.With(edits...)
	if err != nil {
		panic(err)
	}
	l.snapshot = next
}

// cycle decides about each workload that waits, the most important first.
func (l *lived) cycle() {
	waiting := slices.DeleteFunc(slices.Clone(l.jobs), func(j *job) bool { return j.runs || j.finished })
	slices.SortFunc(waiting, func(a, b *job) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Queued.Compare(b.Queued), cmp.Compare(a.ID, b.ID))
	})
	for _, j := range waiting {
		l.now = l.now.Add(2 * time.Second)
		d, err := l.preempt.Decide(l.snapshot, preemption.Request{Workload: j.Workload, Now: l.now})
		if err != nil {
			panic(err)
		}
		switch d.Outcome {
		case preemption.Fits:
			w := *d.Admitted
			l.edit(preemption.Admit(w))
			j.runs, j.since, j.told, j.by = true, l.now, time.Time{}, nil
			j.ends = l.now.Add(time.Duration(600+l.IntN(7200)) * time.Second)
			j.write(l)
		case preemption.Preempt:
			told := map[string]preemption.VictimReason{}
			for _, v := range d.Victims {
				if !v.Leaving {
					told[v.Workload] = v.Reason
				}
			}
			if len(told) == 0 {
				continue
			}
			key := l.now.Format(time.RFC3339) + " " + j.ID
			if kind := l.spoil(j, told); kind != "" {
				l.spoilt[key] = kind
			} else {
				l.right[key] = true
			}
			for _, v := range l.jobs {
				if reason, is := told[v.ID]; is {
					l.edit(preemption.StartEviction(v.ID))
					v.told, v.by, v.reason = l.now, j, reason
					v.evictions++
					v.write(l)
				}
			}
		}
	}
}

// spoil makes some preemptions wrong: a victim too many, or one that no rule permits in place of others.
func (l *lived) spoil(j *job, told map[string]preemption.VictimReason) string {
	if !l.spoils || l.IntN(4) > 0 {
		return ""
	}
	for _, v := range l.jobs {
		if _, is := told[v.ID]; is || !v.runs || !v.told.IsZero() {
			continue
		}
		protected := v.Queue == j.Queue && v.Priority > j.Priority
		if l.IntN(2) == 0 {
			told[v.ID] = preemption.InClusterQueue
			return "TooMany"
		}
		freed := int64(0)
		for id := range told {
			freed += l.jobs[slices.IndexFunc(l.jobs, func(o *job) bool { return o.ID == id })].gpus
		}
		if protected && v.gpus >= freed {
			clear(told)
			told[v.ID] = preemption.InClusterQueue
			return "NotPermitted"
		}
	}
	return ""
}

// write keeps a version of the object.
func (j *job) write(l *lived) {
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	condition := func(kind, status, reason, message string, t time.Time) string {
		return fmt.Sprintf(`{"type":%q,"status":%q,"reason":%q,"message":%q,"lastTransitionTime":%q,"observedGeneration":1}`, kind, status, reason, message, at(t))
	}
	var conditions []string
	admission := ""
	switch {
	case j.runs || j.finished && j.stops.Before(j.since):
		conditions = append(conditions, condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue "+j.Queue, j.since), condition("Admitted", "True", "Admitted", "The workload is admitted", j.since))
		admission = fmt.Sprintf(`,"admission":{"clusterQueue":%q,"podSetAssignments":[{"name":"main","count":%d,"flavors":{"nvidia.com/gpu":"h100"},"resourceUsage":{"nvidia.com/gpu":"%d"}}]}`, j.Queue, j.gpus, j.gpus)
	case !j.stops.IsZero():
		conditions = append(conditions, condition("QuotaReserved", "False", "Pending", "The workload waits", j.stops))
	}
	if !j.told.IsZero() {
		why := fmt.Sprintf("Preempted to accommodate a workload (UID: %s, JobUID: UNKNOWN) due to reclamation within the cohort; preemptor path: /research/%s; preemptee path: /research/%s", j.by.uid, j.by.Queue, j.Queue)
		conditions = append(conditions, condition("Evicted", "True", "Preempted", why, j.told), condition("Preempted", "True", j.reason.String(), why, j.told))
	}
	if j.finished {
		conditions = append(conditions, condition("Finished", "True", "Succeeded", "Job finished successfully", l.now))
	}
	namespace, name, _ := strings.Cut(j.ID, "/")
	text := fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":%q,"namespace":%q,"uid":%q,"creationTimestamp":%q,"generation":1},
		"spec":{"active":true,"queueName":"lq","priority":%d,"podSets":[{"name":"main","count":%d,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"1"}}}]}}}]},
		"status":{"conditions":[%s]%s,"schedulingStats":{"evictions":[{"reason":"Preempted","underlyingCause":"","count":%d}]}}}`, name, namespace, j.uid, at(j.Created), j.Priority, j.gpus, strings.Join(conditions, ","), admission, j.evictions)
	l.versions = append(l.versions, strings.ReplaceAll(text, "\n\t\t", ""))
}

// audited is what audit says of a history with -o json.
type audited struct {
	All         tally
	Preemptions []struct {
		At                          time.Time
		Preemptor, Verdict, Unknown string
	}
}

func auditOf(t *testing.T, history string, args ...string) (a audited, status int) {
	t.Helper()
	status, out, errors := call(strings.NewReader(history), append([]string{"audit", "-o", "json"}, args...)...)
	if status == 2 || json.Unmarshal([]byte(out), &a) != nil {
		t.Fatalf("status %d: %s", status, errors)
	}
	return a, status
}

// count is what became of the preemptions of lived clusters.
type count struct{ spoilt, found, right, accused, unknown, missing int }

// compare counts what is said of a lived cluster.
func (c *count) compare(t *testing.T, seed uint64, l *lived, a audited) {
	for _, p := range a.Preemptions {
		key := p.At.UTC().Format(time.RFC3339) + " " + p.Preemptor
		kind, is := l.spoilt[key]
		switch {
		case p.Verdict == "Unknown":
			c.unknown++
		case !is && !l.right[key]:
			t.Errorf("seed %d: %s did not happen", seed, key)
		case is:
			c.spoilt++
			if p.Verdict != "Right" {
				c.found++
			} else {
				t.Logf("seed %d: %s is %s, judged %s", seed, key, kind, p.Verdict)
			}
		default:
			c.right++
			if p.Verdict != "Right" {
				c.accused++
				t.Logf("seed %d: %s is right, judged %s", seed, key, p.Verdict)
			}
		}
	}
	c.missing += len(l.spoilt) + len(l.right) - len(a.Preemptions)
}

// Faults that were put into histories are found, and none is invented: of whole histories in any order, and of those that
// were cut off.
func TestAuditFindsWhatWasSpoilt(t *testing.T) {
	var whole, shuffled, cut count
	for seed := range uint64(20) {
		l := newLived(seed, true)
		l.live(120)
		a, _ := auditOf(t, strings.Join(l.versions, "\n"))
		whole.compare(t, seed, l, a)
		l.Shuffle(len(l.versions), func(i, j int) { l.versions[i], l.versions[j] = l.versions[j], l.versions[i] })
		a, _ = auditOf(t, strings.Join(l.versions, "\n"))
		shuffled.compare(t, seed, l, a)
	}
	if whole.found != whole.spoilt || whole.spoilt < 400 || whole.accused > 0 || whole.right < 1000 || whole.unknown > 20 || whole.missing != 0 {
		t.Errorf("whole: %+v", whole)
	}
	if shuffled != whole {
		t.Errorf("in another order: %+v, want %+v", shuffled, whole)
	}
	for seed := range uint64(20) {
		l := newLived(seed, true)
		l.live(120)
		text := strings.Join(l.versions, "\n")
		a, _ := auditOf(t, text[:len(text)*2/3])
		cut.compare(t, seed, l, a)
		settings := filepath.Join(t.TempDir(), "settings.jsonl")
		if err := os.WriteFile(settings, []byte(strings.Join(l.versions[:10], "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		a, _ = auditOf(t, text[len(text)/3:], "-f", settings, "-f", "-")
		cut.compare(t, seed, l, a)
	}
	if cut.found < cut.spoilt-5 || cut.accused > 0 || cut.right < 500 { // of some the second victim was cut off
		t.Errorf("cut off: %+v", cut)
	}
}

// Where versions are lost, what the others show to be lost is not guessed.
func TestAuditOfGaps(t *testing.T) {
	var gaps count
	for seed := range uint64(20) {
		l := newLived(seed, false)
		l.live(120)
		kept := slices.DeleteFunc(slices.Clone(l.versions), func(v string) bool { return strings.Contains(v, `"Workload"`) && l.IntN(10) == 0 })
		a, _ := auditOf(t, strings.Join(kept, "\n"))
		gaps.compare(t, seed, l, a)
	}
	if gaps.accused > 2 || gaps.right < 300 {
		t.Errorf("%+v", gaps)
	}
}
