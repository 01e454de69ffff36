package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
	"github.com/cedesched/cede/examples/internal/history/historytest"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// asBuilt decides as package placement does in place, without what kube-scheduler looks at besides.
func asBuilt(list []byte, id string, now time.Time) (d historytest.Decision, err error) {
	var k read.Kubernetes
	if _, err := objects.Read([]objects.Source{{Name: "list", Reader: bytes.NewReader(list)}}, objects.Options{}, k.Add); err != nil {
		return d, err
	}
	c := k.Cluster()
	s, err := c.Snapshot()
	if err != nil {
		return d, err
	}
	p, err := placement.New(placement.Config{Mode: placement.ModeInPlace})
	if err != nil {
		return d, err
	}
	for _, one := range c.Pending {
		if one.ID != id {
			continue
		}
		one.Request.Now = now
		chosen, err := p.Decide(s, one.Request)
		if err != nil || len(chosen.Nominations) == 0 || chosen.Outcome == preemption.Wait {
			return d, err
		}
		d.Node = chosen.Nominations[0].Node
		for _, v := range chosen.Victims {
			for _, pod := range v.Pods {
				if p, _ := s.Find(pod); !p.Terminating {
					d.Victims = append(d.Victims, pod)
				}
			}
		}
		if chosen.Outcome == preemption.Preempt && len(d.Victims) == 0 {
			return historytest.Decision{}, nil // what was chosen leaves already
		}
		return d, nil
	}
	return d, fmt.Errorf("%s does not wait", id)
}

// livePods lets a cluster live, and writes what is left of its lines.
func livePods(t *testing.T, seed uint64, steps int, change func(*historytest.Life) []string) (l *historytest.Life, file string) {
	t.Helper()
	l = historytest.New(seed, asBuilt)
	for range steps {
		if err := l.Step(); err != nil {
			t.Fatal(err)
		}
	}
	file = filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(change(l), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return l, file
}

// podTally is how preemptions were judged.
type podTally struct {
	right, accused, found, missed, lost int
	unknown                             map[string]int
}

func (n *podTally) judge(t *testing.T, l *historytest.Life, file, name string) {
	t.Helper()
	status, out, said := call(nil, "audit", "-f", file, "-o", "json")
	if status == 2 {
		t.Fatalf("%s: %s", name, said)
	}
	var a struct {
		Preemptions []struct {
			At                          time.Time
			Preemptor, Verdict, Unknown string
		}
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatal(err)
	}
	if n.unknown == nil {
		n.unknown = map[string]int{}
	}
	for _, p := range a.Preemptions {
		key := p.At.UTC().Format(time.RFC3339) + " " + p.Preemptor
		_, known := l.Preempted[key]
		switch spoilt := l.Spoilt[key]; {
		case p.Verdict == "Unknown":
			words := strings.FieldsFunc(p.Unknown, func(r rune) bool { return r == ' ' })
			n.unknown[strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "/-0123456789") }), " ")]++
		case !known:
			n.lost++
		case spoilt && p.Verdict == "Right":
			n.missed++
		case spoilt:
			n.found++
		case p.Verdict == "Right":
			n.right++
		default:
			n.accused++
			t.Errorf("%s, %s, of %v: %s", name, key, l.Preempted[key], p.Verdict)
		}
	}
}

// podsFile is the versions of pods over ten minutes, in which some preemptions are not right.
const podsFile = "testdata/audit/pods.jsonl.gz"

func TestAuditOfPodsGolden(t *testing.T) {
	if flag.Lookup("update").Value.String() == "true" {
		l := historytest.New(9, asBuilt)
		for range 24 {
			if err := l.Step(); err != nil {
				t.Fatal(err)
			}
		}
		writeZipped(t, podsFile, l.Lines)
	}
	for name, c := range map[string]struct {
		width int
		args  []string
	}{
		"audit-pods-80":    {80, nil},
		"audit-pods-pipe":  {0, []string{"-checkpoint", "1m"}},
		"audit-pods-story": {80, []string{"-story", "team-a/web-103"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, said := callOn(cli.Screen{Width: c.width}, nil, append([]string{"audit", "-f", podsFile}, c.args...)...)
			if status != 1 || said != "" {
				t.Errorf("status %d: %s", status, said)
			}
			golden.Check(t, name, out)
		})
	}
}

// Flags that histories of kube-scheduler do not know are refused.
func TestAuditOfPodsRefusesFlags(t *testing.T) {
	status, _, said := call(nil, "audit", "-f", podsFile, "-policy", "q:withinClusterQueue=Never")
	if status != 2 || !strings.Contains(said, "not for histories of kube-scheduler") {
		t.Errorf("status %d: %s", status, said)
	}
}

// In clusters that live what is preempted is right, and a victim more is found; also where the order of the lines is lost, or some are.
func TestAuditOfPods(t *testing.T) {
	every := func(n int, is func(string) bool) func(*historytest.Life) []string {
		return func(l *historytest.Life) (kept []string) {
			for i, line := range l.Lines {
				if is(line) && i%n == n-1 {
					continue
				}
				kept = append(kept, line)
			}
			return kept
		}
	}
	event := func(line string) bool { return strings.Contains(line, `"kind":"Event"`) }
	for _, c := range []struct {
		name   string
		change func(*historytest.Life) []string
		least  int // how many of three preemptions are decided
	}{
		{"whole", func(l *historytest.Life) []string { return l.Lines }, 2},
		{"an audit log", asAuditLog, 2},
		{"in any order", func(l *historytest.Life) []string {
			lines := slices.Clone(l.Lines)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
			return lines
		}, 2},
		{"each twice", func(l *historytest.Life) []string { return slices.Concat(l.Lines, l.Lines) }, 2},
		{"cut off", func(l *historytest.Life) []string {
			lines := slices.Clone(l.Lines[:len(l.Lines)*2/3])
			lines[len(lines)-1] = lines[len(lines)-1][:30]
			return lines
		}, 2},
		{"without every twentieth line", every(20, func(string) bool { return true }), 0},
		{"without every third Event", every(3, event), 0},
		{"without Events", every(1, event), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n podTally
			for seed := range uint64(podLives) {
				l, file := livePods(t, seed, 40, c.change)
				n.judge(t, l, file, fmt.Sprint("seed ", seed))
			}
			t.Logf("%+v", n)
			all := n.right + n.found + n.missed
			for _, k := range n.unknown {
				all += k
			}
			if 3*(n.right+n.found) < c.least*all || n.missed > n.found {
				t.Errorf("too little is decided: %+v", n)
			}
		})
	}
}

// asAuditLog are the versions of pods as an audit log has them, and a list of those that are there in the end.
func asAuditLog(l *historytest.Life) (lines []string) {
	for i, line := range l.Lines {
		object, isVersion := strings.CutPrefix(line, `{"object":`)
		if !isVersion {
			lines = append(lines, line)
			continue
		}
		verb, end := "update", strings.LastIndex(object, `,"type":`)
		object, kind := object[:end], object[end:]
		if strings.Contains(kind, "DELETED") {
			verb, object = "delete", strings.Replace(object, `"deletionGracePeriodSeconds":30,`, `"deletionGracePeriodSeconds":0,`, 1)
		}
		lines = append(lines, fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete","verb":%q,"stageTimestamp":%q,"objectRef":{"resource":"pods"},"responseObject":%s}`,
			verb, l.Times[i].Format(time.RFC3339), object))
	}
	return append(lines, string(l.Objects()))
}

// podLives is how many clusters live.
var podLives = 3

// handmade is a node with four GPUs, two pods that use them, and one that preempts; the Event says for whom.
func handmade(change func(string) string) string {
	pod := func(name, more, spec, status string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"ml","uid":"uid-%[1]s","creationTimestamp":"2026-12-01T08:00:00Z"%s},"spec":{%s,
			"containers":[{"name":"main","resources":{"requests":{"nvidia.com/gpu":"2"},"limits":{"nvidia.com/gpu":"2"}}}]},"status":{%s}}`+"\n", name, more, spec, status)
	}
	const scheduled = `{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-12-01T09:00:00Z"}`
	const told = `,{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","message":"default-scheduler: preempting to accommodate a higher priority pod","lastTransitionTime":"2026-12-01T10:00:00Z"}`
	return change(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","uid":"n1","creationTimestamp":"2026-11-01T00:00:00Z"},"spec":{},"status":{"allocatable":{"nvidia.com/gpu":"4","pods":"10"}}}
` + pod("old", "", `"nodeName":"n1","priority":0`, `"phase":"Running","startTime":"2026-12-01T09:00:00Z","conditions":[`+scheduled+`]`) +
		pod("victim", `,"deletionTimestamp":"2026-12-01T10:00:30Z","deletionGracePeriodSeconds":30`, `"nodeName":"n1","priority":5`,
			`"phase":"Running","startTime":"2026-12-01T09:00:00Z","conditions":[`+scheduled+told+`]`) +
		pod("urgent", "", `"priority":10,"preemptionPolicy":"PreemptLowerPriority"`, `"phase":"Pending","nominatedNodeName":"n1"`) +
		`{"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"ml"},"reason":"Preempted","involvedObject":{"kind":"Pod","namespace":"ml","name":"victim","uid":"uid-victim"},
			"message":"Preempted by pod uid-urgent on node n1","lastTimestamp":"2026-12-01T10:00:01Z"}` + "\n")
}

// What stands in the way, and what is not known, is said in words.
func TestAuditOfPodsSays(t *testing.T) {
	replace := func(pairs ...string) func(string) string {
		return func(text string) string {
			for i := 0; i < len(pairs); i += 2 {
				if !strings.Contains(text, pairs[i]) {
					panic("nothing to replace: " + pairs[i])
				}
				text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
			}
			return text
		}
	}
	// and adds an object after changes; second is another node like the first, changed.
	and := func(more string, pairs ...string) func(string) string {
		return func(text string) string { return replace(pairs...)(text) + more }
	}
	line := func(i int) string {
		return strings.SplitAfter(strings.ReplaceAll(handmade(replace()), ",\n\t\t\t", ","), "\n")[i]
	}
	second := func(pairs ...string) string { return replace(pairs...)(strings.ReplaceAll(line(0), "n1", "n2")) }
	const (
		inGroup  = `"schedulingGroup":{"podGroupName":"g"}`
		affinity = `"priority":10,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}},`
	)
	group := `{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"ml"},"spec":{"priority":3,"disruptionMode":{"all":{}},"schedulingPolicy":{"basic":{}}}}` + "\n"
	for name, c := range map[string]struct {
		change func(string) string
		want   string
	}{
		"right":               {replace(), "Of 1 preemption, in which 1 workload was told to leave, 1 was right."},
		"another node":        {and(second()), "ml/urgent fit while ml/victim stayed; 2.0 GPU hours lost."},
		"a node that came":    {and(second("2026-11-01", "2026-12-02")), "1 was right"},
		"a node that changed": {and(second() + second(`"spec":{}`, `"spec":{"unschedulable":true}`)), "right, or it fit while all stayed"},
		"one that is bound": {and(second() + strings.NewReplacer("old", "bound", `"nodeName":"n1"`, `"nodeName":"n2"`, "09:00:00", "10:00:20", `"2"`, `"4"`).Replace(line(1))),
			"ml/urgent fit while ml/victim stayed"},
		"one whose volume is bound": {and(second() + strings.NewReplacer("old", "bound", `"nodeName":"n1"`, `"nodeName":"n2","volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]`,
			"09:00:00", "10:00:20", `"2"`, `"4"`).Replace(line(1))), "Unknown (1): right, or it fit while all stayed"},
		"a higher priority": {replace(`"priority":5`, `"priority":50`), "ml/urgent may not preempt ml/victim: its priority of 50 is not lower than 10"},
		"an equal priority": {replace(`"priority":5`, `"priority":10`), "its priority of 10 is not lower than 10"},
		"never":             {replace("PreemptLowerPriority", "Never"), "ml/urgent may not preempt anybody: its preemption policy is Never"},
		"no Event":          {replace(`"reason":"Preempted"`, `"reason":"Killing"`), "the history does not say for whom: it has no Event of that"},
		"no preemptor":      {replace("by pod uid-urgent", "by pod uid-other"), "the preemptor, a Pod with UID uid-other, is not in the history"},
		"by name":           {replace("Preempted by pod uid-urgent on node n1", "by ml/urgent on node n1"), "1 was right"},
		"in memory":         {replace(`on node n1"`, `on node n1 (in kube-scheduler memory)."`), "1 was right"},
		"no node": {replace(`"message":"Preempted by pod uid-urgent on node n1"`, `"related":{"kind":"Pod","uid":"uid-urgent"},"message":"Preempted"`),
			"the history does not say for which node"},
		"another scheduler":            {replace(`"priority":10,`, `"priority":10,"schedulerName":"volcano",`), "spec.schedulerName is not modelled"},
		"of a group":                   {and(group, `"priority":10,`, `"priority":10,`+inGroup+`,`), "for which of its pods room was made is not known"},
		"victims of a group":           {and(group, `"priority":5`, `"priority":5,`+inGroup), "1 was right"},
		"some of a group, beside room": {and(second()+group, `"priority":5`, `"priority":5,`+inGroup, `"priority":0`, `"priority":0,`+inGroup), "1 had a victim that could stay"},
		"by groups a higher":           {and(strings.Replace(group, `"priority":3`, `"priority":30`, 1), `"priority":5`, `"priority":5,`+inGroup), "Unknown (1): right, or not permitted"},
		"affinity":                     {replace(`"priority":10,`, affinity), "1 was right"},
		"affinity, and a node":         {and(second(), `"priority":10,`, affinity), "is not modelled"},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, said := call(strings.NewReader(handmade(c.change)), "audit", "-f", "-")
			if !strings.Contains(out, c.want) || said != "" {
				t.Errorf("%s%s, want %q", out, said, c.want)
			}
		})
	}
}
