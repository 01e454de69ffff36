package judge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/kueue/judge"
)

// In clusters that Kueue lets live whatif audit finds that what Kueue preempts is right, as far as it knows; a victim more is not.
func TestKueueIsNotAccused(t *testing.T) {
	clusters := max(*drawnClusters/10, 3)
	if testing.Short() {
		clusters = min(clusters, 3)
	}
	verdicts, spoilt, unknown, departs := map[string]int{}, map[string]int{}, named{}, 0
	for seed := *drawnSeed; seed < *drawnSeed+uint64(clusters); seed++ {
		l := &life{drawing: drawing{Rand: rand.New(rand.NewPCG(seed, 58))}, now: at, preempted: map[string][]string{}, spoilt: map[string]bool{}, leaving: map[string]bool{}}
		l.begin()
		for range 24 {
			l.step(t)
		}
		for key, p := range l.audited(t) {
			counts := verdicts
			if l.spoilt[key] {
				counts = spoilt
			}
			counts[p.Verdict]++
			switch {
			case p.Verdict == "Unknown":
				unknown.add(p.Unknown)
			case !l.spoilt[key] && l.leaving[key] && (p.Verdict == "Fitted" || p.Verdict == "TooMany"):
				departs++ // what leaves already is enough: Kueue may tell another all the same, as docs/departures.md says
			case l.spoilt[key] == (p.Verdict == "Right"):
				t.Errorf("seed %d, %s, of %v: %s, spoilt: %v", seed, key, l.preempted[key], p.Verdict, l.spoilt[key])
			}
			delete(l.preempted, key)
		}
		for key, victims := range l.preempted {
			t.Errorf("seed %d, %s, of %v: not found", seed, key, victims)
		}
	}
	t.Log("of Kueue:", verdicts, "of which depart:", departs, "with a victim more:", spoilt)
	unknown.log(t, verdicts["Unknown"]+spoilt["Unknown"], "unknown")
	if verdicts["Right"] < clusters || spoilt["TooMany"] == 0 || 20*departs > verdicts["Right"] {
		t.Errorf("too little is decided: %v, with a victim more %v", verdicts, spoilt)
	}
}

// life is a cluster in which Kueue decides: workloads come, get quota, are told to leave, and end. Each version of their objects is kept.
type life struct {
	drawing
	now       time.Time
	jobs      []*lived
	versions  bytes.Buffer
	preempted map[string][]string // by time and preemptor
	spoilt    map[string]bool     // those with a victim more
	leaving   map[string]bool     // those while others left
}

// lived is a workload of a life.
type lived struct {
	id, uid    string
	object     object
	per        []map[string]int // what a pod of each set asks for
	runs, over bool
	told       time.Time
}

// begin draws the queues.
func (l *life) begin() {
	if l.one(3) {
		l.configured = true
		text := "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nnamespace: kueue-system\nfairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}\n"
		l.add("v1", "ConfigMap", object{"namespace": "kueue-system", "name": "kueue-manager-config"}, object{"data": object{"controller_manager_config.yaml": text}})
	}
	l.drawNamespaces()
	for _, kind := range []string{"cpu", "gpu"} {
		name := l.named(kind, l.pick("on-demand", "reserved-eu-west-4"))
		l.flavors = append(l.flavors, name)
		l.add(kueueGroup+"v1beta2", "ResourceFlavor", object{"name": name}, object{"spec": object{}})
	}
	l.drawCohorts()
	l.cohorts = append(l.cohorts, "platform")
	for i := range 3 + l.IntN(4) {
		l.queue(i)
	}
	for _, o := range l.items {
		l.write(o)
	}
}

// queue draws a queue that is open, in a cohort.
func (l *life) queue(i int) {
	q := &drawnQueue{name: l.named("cluster-queue", fmt.Sprint(i)), groups: []drawnGroup{{[]string{"cpu", "nvidia.com/gpu"}, l.flavors}}}
	spec := object{"namespaceSelector": object{}, "cohortName": l.pick(l.cohorts...)}
	spec["resourceGroups"] = l.quotas(q.groups, func(amount int, quota object) int {
		if l.one(6) {
			quota["borrowingLimit"] = fmt.Sprint(l.IntN(10))
		}
		return amount
	})
	l.policies(spec, false)
	l.add(kueueGroup+"v1beta2", "ClusterQueue", object{"name": q.name}, object{"spec": spec})
	l.queues = append(l.queues, q)
	q.locals = [][2]string{{l.pick(drawnNamespaces...), l.named("user-queue")}}
	l.add(kueueGroup+"v1beta2", "LocalQueue", object{"namespace": q.locals[0][0], "name": q.locals[0][1]}, object{"spec": object{"clusterQueue": q.name}})
}

func (l *life) write(o object) {
	text, _ := json.Marshal(o) // maps and texts
	l.versions.Write(append(text, '\n'))
}

// step lets three minutes pass.
func (l *life) step(t *testing.T) {
	l.now = l.now.Add(3 * time.Minute)
	for _, j := range l.jobs {
		switch {
		case j.runs && !j.told.IsZero():
			j.runs = false
			l.set(j, condition("QuotaReserved", "False", "Pending", l.clock()), condition("Evicted", "True", "Preempted", j.told.Format(time.RFC3339)))
			delete(j.object["status"].(object), "admission")
			l.write(j.object)
		case j.runs && l.one(8):
			j.runs, j.over = false, true
			l.set(j, append(l.reserved(j), condition("Finished", "True", "Succeeded", l.clock()))...)
			l.write(j.object)
		}
	}
	for range 2 + l.IntN(5) {
		l.submit()
	}
	waiting := slices.DeleteFunc(slices.Clone(l.jobs), func(j *lived) bool { return j.runs || j.over })
	slices.SortStableFunc(waiting, func(a, b *lived) int { return l.priority(b) - l.priority(a) })
	for _, j := range waiting[:min(len(waiting), 6)] {
		l.now = l.now.Add(7 * time.Second)
		l.ask(t, j)
	}
}

func (l *life) clock() string { return l.now.Format(time.RFC3339) }

func (l *life) priority(j *lived) int { return j.object["spec"].(object)["priority"].(int) }

// reserved are the conditions of a workload that runs.
func (l *life) reserved(j *lived) (list []object) {
	for _, c := range j.object["status"].(object)["conditions"].([]object) {
		if c["type"] == "QuotaReserved" || c["type"] == "Admitted" {
			list = append(list, c)
		}
	}
	return list
}

func (l *life) set(j *lived, conditions ...object) {
	j.object["status"].(object)["conditions"] = conditions
}

// submit draws a workload that waits from now on.
func (l *life) submit() {
	w, per := l.workload(l.queueOf(), l.pick("detector-pretrain", "churn-forecast", "tokenizer"), 1+l.IntN(5)/4)
	metadata := w["metadata"].(object)
	metadata["creationTimestamp"] = l.clock()
	j := &lived{id: fmt.Sprint(metadata["namespace"], "/", metadata["name"]), uid: fmt.Sprint(metadata["uid"]), object: w, per: per}
	l.set(j)
	l.jobs = append(l.jobs, j)
	l.write(w)
}

// ask asks Kueue about a workload, and does what it says.
func (l *life) ask(t *testing.T, j *lived) {
	objects, _ := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": l.items})
	k, err := judge.Ask(t.Context(), objects, j.id, l.now)
	if err != nil {
		t.Errorf("%s: %v", j.id, err)
		return
	}
	switch k.Verdict {
	case judge.Fits:
		l.admit(j, &k)
	case judge.Preempts:
		key := l.clock() + " " + j.id
		victims := k.Victims
		if others := slices.DeleteFunc(slices.Clone(l.jobs), func(o *lived) bool {
			return !o.runs || !o.told.IsZero() || slices.Contains(victims, o.id)
		}); l.one(4) && len(others) > 0 {
			victims = append(slices.Clone(victims), others[l.IntN(len(others))].id)
			l.spoilt[key] = true
		}
		l.preempted[key] = victims
		l.leaving[key] = slices.ContainsFunc(l.jobs, func(o *lived) bool { return o.runs && !o.told.IsZero() })
		for _, v := range l.jobs {
			if slices.Contains(victims, v.id) {
				l.tell(v, j.uid)
			}
		}
	}
}

// admit gives a workload the flavors that Kueue chose.
func (l *life) admit(j *lived, k *judge.Answer) {
	var assignments []object
	for i, set := range j.object["spec"].(object)["podSets"].([]object) {
		name, count := fmt.Sprint(set["name"]), set["count"].(int)
		usage := object{}
		for resource := range k.Flavors[name] {
			usage[resource] = amounts(resource, j.per[i][resource]*count)
		}
		assignments = append(assignments, object{"name": name, "count": count, "flavors": k.Flavors[name], "resourceUsage": usage})
	}
	queue := ""
	for _, q := range l.queues {
		if slices.ContainsFunc(q.locals, func(of [2]string) bool {
			return of[1] == j.object["spec"].(object)["queueName"] && strings.HasPrefix(j.id, of[0]+"/")
		}) {
			queue = q.name
		}
	}
	j.runs, j.told = true, time.Time{}
	l.set(j, condition("QuotaReserved", "True", "QuotaReserved", l.clock()), condition("Admitted", "True", "Admitted", l.clock()))
	j.object["status"].(object)["admission"] = object{"clusterQueue": queue, "podSetAssignments": assignments}
	l.write(j.object)
}

// tell tells a workload to leave, in Kueue's words.
func (l *life) tell(j *lived, by string) {
	j.told = l.now
	list := l.reserved(j)
	for _, c := range []object{condition("Evicted", "True", "Preempted", l.clock()), condition("Preempted", "True", "InCohortReclamation", l.clock())} {
		c["message"] = fmt.Sprintf("Preempted to accommodate a workload (UID: %s, JobUID: UNKNOWN) due to reclamation within the cohort", by)
		list = append(list, c)
	}
	l.set(j, list...)
	l.write(j.object)
}

// judgedByAudit is a preemption as whatif audit tells it.
type judgedByAudit struct {
	At                          time.Time
	Preemptor, Verdict, Unknown string
}

// audited is what whatif audit says of each preemption, by time and preemptor.
func (l *life) audited(t *testing.T) map[string]judgedByAudit {
	t.Helper()
	ask := exec.Command(*program, "audit", "-f", "-", "-o", "json")
	var out, said bytes.Buffer
	ask.Stdin, ask.Stdout, ask.Stderr = &l.versions, &out, &said
	var exit *exec.ExitError
	if err := ask.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2) {
		t.Fatalf("%v: %s", err, said.String())
	}
	var a struct{ Preemptions []judgedByAudit }
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	all := map[string]judgedByAudit{}
	for _, p := range a.Preemptions {
		all[p.At.UTC().Format(time.RFC3339)+" "+p.Preemptor] = p
	}
	return all
}
