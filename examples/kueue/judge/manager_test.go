package judge_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/kueue/judge"
)

// fleets is how many drawn managers and workers are asked about.
var fleets = flag.Int("fleets", 60, "ask Kueue's manager about `N` drawn fleets")

// gated turns on the gate of the feature in a worker.
const gated = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kueue-manager-config","namespace":"kueue-system"},"data":{"c":"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates:\n  MultiKueueOrchestratedPreemption: true\n"}}`

var asked = time.Date(2026, 11, 27, 9, 30, 0, 0, time.UTC)

// fleet are the objects of a manager ("manager") and its workers.
type fleet map[string][]map[string]any

// situation reads a situation, and the workload that it is about.
func situation(t *testing.T, dir string) (f fleet, workload string) {
	f = fleet{}
	files, err := filepath.Glob(filepath.Join(dir, "*.gz"))
	for _, file := range files {
		data, wrong := os.ReadFile(file)
		unzip, also := gzip.NewReader(bytes.NewReader(data))
		if err = errors.Join(err, wrong, also); err != nil {
			t.Fatal(err)
		}
		var list struct{ Items []map[string]any }
		err = json.NewDecoder(unzip).Decode(&list)
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		f[name] = list.Items
	}
	var answer struct{ Workload string }
	data, wrong := os.ReadFile(filepath.Join(dir, "answer.json"))
	if err = errors.Join(err, wrong, json.Unmarshal(data, &answer)); err != nil {
		t.Fatal(err)
	}
	return f, answer.Workload
}

func (f fleet) text(name string) []byte {
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": f[name]})
	if err != nil {
		panic(err)
	}
	return text
}

func (f fleet) workers() map[string][]byte {
	list := map[string][]byte{}
	for name := range f {
		if name != "manager" {
			list[name] = f.text(name)
		}
	}
	return list
}

// find is an object of a cluster; nil: it has none of that kind and name.
func (f fleet) find(cluster, kind, id string) map[string]any {
	for _, o := range f[cluster] {
		meta := o["metadata"].(map[string]any)
		if name := strings.TrimPrefix(fmt.Sprintf("%v/%v", meta["namespace"], meta["name"]), "<nil>/"); o["kind"] == kind && name == id {
			return o
		}
	}
	return nil
}

// told is what whatif says of a fleet.
type told struct {
	Verdict  string
	Cluster  *string
	At       *time.Time
	Victims  map[string][]string
	Sentence string
	Doubts   []string
	Workers  []struct {
		Worker  string
		Signal  time.Time
		Opens   time.Time
		Leaving []string
	}
}

func (a *told) String() string {
	where, at := "nowhere", ""
	if a.Cluster != nil {
		where = *a.Cluster
	}
	if a.At != nil {
		at = a.At.Format(" at 15:04:05")
	}
	return a.Verdict + " " + where + at
}

// multikueue asks whatif.
func (f fleet) multikueue(t *testing.T, workload string) *told {
	t.Helper()
	dir := t.TempDir()
	args := []string{"multikueue", "-at", asked.Format(time.RFC3339), "-workload", workload, "-o", "json"}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		file := filepath.Join(dir, name+".json")
		if err := os.WriteFile(file, f.text(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "manager" {
			args = append(args, "-manager", file)
		} else {
			args = append(args, "-worker", name+"="+file)
		}
	}
	var out, said bytes.Buffer
	ask := exec.Command(*program, args...)
	ask.Stdout, ask.Stderr = &out, &said
	err := ask.Run()
	var exit *exec.ExitError
	var answers struct{ Workloads []told }
	if err != nil && !errors.As(err, &exit) || json.Unmarshal(out.Bytes(), &answers) != nil || len(answers.Workloads) != 1 {
		t.Fatalf("%v: %s%s", err, &out, &said)
	}
	return &answers.Workloads[0]
}

// manage lets Kueue's manager look at a time.
func (f fleet) manage(t *testing.T, workload string, at time.Time) judge.Managed {
	t.Helper()
	m, err := judge.Manage(t.Context(), f.text("manager"), f.workers(), workload, at)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// gates compares what whatif says of gates with what Kueue's manager does at the times of it; empty: the same.
func (f fleet) gates(t *testing.T, workload string, a *told) string {
	opens, at := "", time.Time{}
	for _, w := range a.Workers {
		if !w.Opens.IsZero() && (at.IsZero() || w.Opens.Before(at)) {
			opens, at = w.Worker, w.Opens
		}
	}
	equal := func(got string) bool { // of equal signals Kueue takes any
		signal := func(name string) time.Time {
			return a.Workers[slices.IndexFunc(a.Workers, func(w struct {
				Worker  string
				Signal  time.Time
				Opens   time.Time
				Leaving []string
			}) bool {
				return w.Worker == name
			})].Signal
		}
		return got == opens || got != "" && opens != "" && signal(got).Equal(signal(opens))
	}
	for _, look := range []time.Time{asked, at.Add(-time.Second), at, asked.Add(time.Hour)} {
		switch {
		case look.Before(asked), opens != "" && look.After(at):
			continue
		}
		m := f.manage(t, workload, look)
		switch {
		case opens != "" && !look.Before(at) && !equal(m.Opens):
			return fmt.Sprintf("at %s whatif opens %s, Kueue %q", look.Format(time.TimeOnly), opens, m.Opens)
		case (opens == "" || look.Before(at)) && m.Opens != "":
			return fmt.Sprintf("at %s Kueue opens %s, whatif %q at %s", look.Format(time.TimeOnly), m.Opens, opens, at.Format(time.TimeOnly))
		case m.Error == "" && look.Equal(asked) && at.After(asked) && m.Again != at.Sub(asked):
			return fmt.Sprintf("Kueue looks again in %v, whatif says at %s", m.Again, at.Format(time.TimeOnly))
		}
	}
	return ""
}

// schedules compares what whatif says of each worker with Kueue's scheduler there, and what it says in all; empty: the same.
func (f fleet) schedules(t *testing.T, workload string, a *told) string {
	var waits, fits []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		copied := f.find(name, "Workload", workload)
		if name == "manager" || copied == nil || a.Victims[name] == nil {
			continue
		}
		text := append(f.text(name), gated...)
		if slices.ContainsFunc(a.Doubts, func(d string) bool { return strings.HasSuffix(d, name+" does not obey gates") }) {
			text = f.text(name) // the feature is off there: it tells victims, and its gate has no state
		}
		k, err := judge.Ask(t.Context(), text, workload, asked)
		if err != nil || k.Verdict == judge.Unknown {
			continue // it has its quota there, or is finished
		}
		yield := slices.Sorted(slices.Values(append(slices.Clip(k.Victims), k.Leaving...)))
		if k.Verdict != judge.Preempts && k.Verdict != judge.Gated && k.Verdict != judge.Waits {
			yield = nil
		}
		if !slices.Equal(yield, slices.Sorted(slices.Values(a.Victims[name]))) {
			return fmt.Sprintf("in %s Kueue: %s %v, whatif %v", name, k.Verdict, yield, a.Victims[name])
		}
		switch {
		case k.Verdict == judge.Fits:
			fits = append(fits, name)
		case (k.Verdict == judge.Waits || k.Verdict == judge.Preempts) && len(k.Leaving) > 0:
			waits = append(waits, name)
		}
	}
	switch a.Verdict {
	case "waits-for-victims":
		if len(waits) == 0 {
			return "nobody is leaving for it"
		}
	case "fits":
		if len(fits) == 0 || len(waits) > 0 {
			return fmt.Sprintf("it fits in %v, waits in %v", fits, waits)
		}
	case "gate-opens-now", "gate-opens-at":
		if len(waits)+len(fits) > 0 {
			return fmt.Sprintf("it fits in %v, waits in %v", fits, waits)
		}
	}
	return ""
}

const situations = "../../whatif/testdata/multikueue"

// Of each situation Kueue's manager opens the gate that whatif says, when it says it, and Kueue's scheduler in each worker gives the
// same victims.
func TestSituationsOfManagers(t *testing.T) {
	dirs, _ := filepath.Glob(filepath.Join(situations, "[0-9]*"))
	asks := 0
	for _, dir := range dirs {
		f, workload := situation(t, dir)
		a := f.multikueue(t, workload)
		if a.Verdict == "unknown" {
			continue // files that are mixed up
		}
		asks++
		if wrong := f.gates(t, workload, a); wrong != "" {
			t.Errorf("%s: %s: %s", filepath.Base(dir), a, wrong)
		}
		if wrong := f.schedules(t, workload, a); wrong != "" {
			t.Errorf("%s: %s: %s", filepath.Base(dir), a, wrong)
		}
	}
	if asks != 9 {
		t.Errorf("%d situations were asked about", asks)
	}
}

// Of drawn fleets the same.
func TestDrawnManagers(t *testing.T) {
	dirs, _ := filepath.Glob(filepath.Join(situations, "[0-9]*"))
	counts := map[string]int{}
	for seed := range *fleets {
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		dir := dirs[r.IntN(len(dirs)-1)] // but for the last, in which files are mixed up
		f, workload := situation(t, dir)
		f.draw(r, workload)
		a := f.multikueue(t, workload)
		counts[a.Verdict]++
		if a.Verdict == "unknown" {
			continue
		}
		wrong := f.gates(t, workload, a)
		if wrong == "" {
			wrong = f.schedules(t, workload, a)
		}
		if wrong != "" {
			t.Errorf("fleet %d, from %s: %s: %s\n%s", seed, filepath.Base(dir), a, wrong, a.Sentence)
		}
	}
	t.Logf("%v", counts)
	if counts["unknown"] > *fleets/4 || len(counts) < 5 {
		t.Errorf("verdicts: %v", counts)
	}
}

// draw changes what the manager looks at: gates, signals, times, evictions, quota, checks, and which workers it reaches.
func (f fleet) draw(r *rand.Rand, workload string) {
	times := func() string { // on both sides of a turn and of the present, many of them equal
		return asked.Add(time.Duration([]int{-600, -301, -300, -299, -240, -180, -120, -61, -60, -30, -1, 0, 60, 200}[r.IntN(14)]) * time.Second).Format(time.RFC3339)
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if name == "manager" {
			continue
		}
		if c := f.find("manager", "MultiKueueCluster", name); c != nil && r.IntN(8) == 0 {
			setCondition(c, "Active", "False", times())
		}
		w := f.find(name, "Workload", workload)
		if w == nil || strings.HasSuffix(w["apiVersion"].(string), "v1beta1") || r.IntN(3) == 0 { // of v1beta1 nobody reads gates
			continue
		}
		status := w["status"].(map[string]any)
		switch state := []string{"", "Closed", "Open"}[r.IntN(3)]; state {
		case "":
			delete(status, "preemptionGates")
		default:
			status["preemptionGates"] = []any{map[string]any{"name": "kueue.x-k8s.io/multikueue", "position": state, "lastTransitionTime": times()}}
		}
		if r.IntN(12) == 0 {
			delete(w["spec"].(map[string]any), "preemptionGates")
		} else {
			w["spec"].(map[string]any)["preemptionGates"] = []any{map[string]any{"name": "kueue.x-k8s.io/multikueue"}}
		}
		setCondition(w, "BlockedOnPreemptionGates", []string{"", "True", "True", "False"}[r.IntN(4)], times())
		switch r.IntN(14) {
		case 0:
			setCondition(w, "Evicted", "True", times())
		case 1, 2:
			setCondition(w, "QuotaReserved", "True", times())
			status["admission"] = map[string]any{"clusterQueue": "q", "podSetAssignments": []any{}}
			if r.IntN(2) == 0 {
				setCondition(w, "Admitted", "True", times())
			}
		}
	}
	m := f.find("manager", "Workload", workload)
	switch r.IntN(16) {
	case 0:
		setCondition(m, "QuotaReserved", "False", times())
	case 1, 2:
		status := m["status"].(map[string]any)
		state := []string{"Ready", "Retry", "Rejected"}[r.IntN(3)]
		if status["admissionChecks"].([]any)[0].(map[string]any)["state"] = state; state == "Ready" { // without the name Kueue panics
			status["clusterName"] = "a"
			delete(status, "nominatedClusterNames")
		}
	}
}

// setCondition sets a condition; an empty status takes it away.
func setCondition(o map[string]any, kind, status, at string) {
	of := o["status"].(map[string]any)
	list, _ := of["conditions"].([]any)
	list = slices.DeleteFunc(list, func(c any) bool { return c.(map[string]any)["type"] == kind })
	if status != "" {
		list = append(list, map[string]any{"type": kind, "status": status, "reason": "PreemptionGated", "lastTransitionTime": at, "message": ""})
	}
	of["conditions"] = list
}
