package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
)

// historyFile is the versions of the objects of a cluster over two hours, in which some preemptions are not right.
const historyFile = "testdata/audit/history.jsonl.gz"

func TestAuditGolden(t *testing.T) {
	if flag.Lookup("update").Value.String() == "true" {
		writeHistory(t)
	}
	for name, c := range map[string]struct {
		width  int
		args   []string
		status int
	}{
		"audit-80":      {80, nil, 1},
		"audit-200":     {200, nil, 1},
		"audit-pipe":    {0, nil, 1},
		"audit-story":   {80, []string{"-story", "nlp-training-eu-west/job-train-0-16f2f", "-checkpoint", "30m"}, 1},
		"audit-changed": {80, []string{"-policy", "vision-research-2026:reclaimWithinCohort=Never"}, 1},
		"audit-names":   {0, []string{"-o", "name"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, said := callOn(cli.Screen{Width: c.width}, nil, append([]string{"audit", "-f", historyFile}, c.args...)...)
			if status != c.status || said != "" {
				t.Errorf("status %d, want %d: %s", status, c.status, said)
			}
			golden.Check(t, name, out)
		})
	}
}

func writeHistory(t *testing.T) {
	l := newLived(4, true)
	l.live(40)
	writeZipped(t, historyFile, l.versions)
}

func writeZipped(t *testing.T, file string, lines []string) {
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte(strings.Join(lines, "\n") + "\n"))
	if err := errors.Join(err, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// A history is the same in each form in which it is kept: versions one after the other, events of a watch, a list, and the
// audit log of an API server beside the last version of each.
func TestAuditOfEachForm(t *testing.T) {
	l := newLived(7, true)
	l.live(80)
	settings, versions := l.versions[:2+2*len(queuesOfLived)], l.versions[2+2*len(queuesOfLived):]
	want, status := auditOf(t, strings.Join(l.versions, "\n"))
	if len(want.Preemptions) < 20 || status != 1 {
		t.Fatalf("only %d preemptions, status %d", len(want.Preemptions), status)
	}
	wrapped := func(format string) string {
		var b strings.Builder
		for _, v := range versions {
			fmt.Fprintf(&b, format+"\n", v)
		}
		return strings.Join(settings, "\n") + "\n" + b.String()
	}
	last := map[string]string{}
	for _, v := range versions {
		var o struct{ Metadata struct{ UID string } }
		if err := json.Unmarshal([]byte(v), &o); err != nil {
			t.Fatal(err)
		}
		last[o.Metadata.UID] = v
	}
	var list []string
	for _, j := range l.jobs {
		list = append(list, last[j.uid])
	}
	log := `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete","verb":"patch","stageTimestamp":"2026-11-20T23:00:00.123456Z",` +
		`"objectRef":{"apiGroup":"kueue.x-k8s.io","resource":"workloads","subresource":"status"},"responseObject":%s}`
	for name, text := range map[string]string{
		"watch":     wrapped(`{"type":"MODIFIED","object":%s}`),
		"list":      `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(l.versions, ",\n") + `]}`,
		"audit log": wrapped(log) + strings.Join(list, "\n"),
	} {
		if got, _ := auditOf(t, text); !cmp.Equal(got, want) {
			t.Errorf("%s: %s", name, cmp.Diff(want, got))
		}
	}
	alone, _ := auditOf(t, wrapped(log))
	for i, p := range alone.Preemptions {
		if p.Verdict != want.Preemptions[i].Verdict && p.Verdict != "Unknown" {
			t.Errorf("an audit log alone: %+v, want %+v or unknown", p, want.Preemptions[i])
		}
	}
}

// What a history does not say is unknown, and named.
func TestAuditUnknown(t *testing.T) {
	const (
		queueOf = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"%s},"spec":{"namespaceSelector":{},"preemption":{"withinClusterQueue":"LowerPriority"},` +
			`"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":%d}]}]}]}}` + "\n"
		rest = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq","namespace":"ns"},"spec":{"clusterQueue":"cq"}}` + "\n" +
			`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"},"spec":{}}` + "\n"
		workload = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":%q,"namespace":"ns","uid":%q,"creationTimestamp":"2026-11-20T08:00:00Z"},` +
			`"spec":{"queueName":"lq","priority":%d,"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}}}]},"status":{%s}}` + "\n"
		held   = `"admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main","count":1,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"4"}}]},"conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"","lastTransitionTime":"%s"}%s]`
		told   = `,{"type":"Evicted","status":"True","reason":"Preempted","message":"Preempted to accommodate a workload (UID: %s, JobUID: UNKNOWN) due to prioritization in the ClusterQueue","lastTransitionTime":"2026-11-20T10:00:00Z"}`
		eight  = "2026-11-20T08:30:00Z"
		before = `"conditions":[]`
	)
	running := func(name string, since, more string) string {
		return fmt.Sprintf(workload, name, name, 0, fmt.Sprintf(held, since, more))
	}
	victim, urgent := running("low", eight, fmt.Sprintf(told, "urgent")), fmt.Sprintf(workload, "urgent", "urgent", 100, before)
	gave := strings.Replace(running("other", eight, ""), `"admission"`, `"reclaimablePods":[{"name":"main","count":1}],"admission"`, 1)
	queue := fmt.Sprintf(queueOf, "", 4)
	leaving := running("other", eight, strings.ReplaceAll(fmt.Sprintf(told, "gone"), "10:00:00", "09:59:00"))
	if _, out, _ := call(strings.NewReader(fmt.Sprintf(queueOf, "", 8)+rest+victim+urgent+leaving), "audit"); !strings.Contains(out, "ns/urgent did not need ns/low: ns/other was leaving already") {
		t.Errorf("what was leaving already is enough: %s", out)
	}
	for name, c := range map[string]struct{ text, verdict, unknown string }{
		"right":                    {queue + rest + victim + urgent, "Right", ""},
		"for whom":                 {queue + rest + running("low", eight, strings.ReplaceAll(told, "(UID: %s, JobUID: UNKNOWN) ", "")) + urgent, "Unknown", "the history does not say for whom"},
		"who is not there":         {queue + rest + victim, "Unknown", "the preemptor, a Workload with UID urgent, is not in the history"},
		"what the victim held":     {queue + rest + urgent + fmt.Sprintf(workload, "low", "low", 0, `"conditions":[{"type":"QuotaReserved","status":"False","reason":"Pending","message":"","lastTransitionTime":"2026-11-20T10:00:30Z"}`+fmt.Sprintf(told, "urgent")+`]`), "Unknown", "what ns/low held is not in the history"},
		"a changed queue":          {fmt.Sprintf(queueOf, "", 8) + queue + rest + victim + urgent, "Unknown", "ClusterQueue cq was changed, and the history does not say how it was or when"},
		"changed when it is known": {fmt.Sprintf(queueOf, `,"generation":1,"creationTimestamp":"2026-11-20T07:00:00Z"`, 8) + fmt.Sprintf(queueOf, `,"generation":2,"managedFields":[{"time":"2026-11-20T09:00:00Z"}]`, 4) + rest + victim + urgent, "Right", ""},
		"changed since":            {fmt.Sprintf(queueOf, `,"generation":3,"managedFields":[{"time":"2026-11-20T11:00:00Z"}]`, 4) + rest + victim + urgent, "Unknown", "ClusterQueue cq was changed"},
		"another queue changed":    {strings.ReplaceAll(fmt.Sprintf(queueOf, `,"generation":3,"managedFields":[{"time":"2026-11-20T11:00:00Z"}]`, 4), `"cq"`, `"other"`) + queue + rest + victim + urgent, "Right", ""},
		"in the same second":       {fmt.Sprintf(queueOf, "", 12) + rest + victim + urgent + running("one", eight, "") + running("other", "2026-11-20T10:00:00Z", ""), "Unknown", "Fitted or Right: it is not known what ns/other held then"},
		"pods were given back":     {fmt.Sprintf(queueOf, "", 8) + rest + victim + urgent + gave, "Unknown", "Right or Fitted: it is not known what ns/other held then"},
		"and others came for them": {fmt.Sprintf(queueOf, "", 8) + rest + victim + urgent + gave + running("third", eight, ""), "Right", ""},
		"no pod was given back":    {fmt.Sprintf(queueOf, "", 8) + rest + victim + urgent + strings.ReplaceAll(gave, `"count":1}],"adm`, `"count":0}],"adm`), "Right", ""},
		"more than there is":       {queue + rest + victim + urgent + running("other", eight, ""), "Unknown", "cq holds more than it may"},
		"a missing flavor":         {queue + strings.SplitAfter(rest, "\n")[0] + victim + urgent, "Unknown", "ResourceFlavor f"},
		"an Event alone":           {queue + rest + urgent + `{"apiVersion":"v1","kind":"Event","metadata":{"name":"low.1","namespace":"ns"},"involvedObject":{"kind":"Workload","namespace":"ns","name":"low","uid":"low"},"reason":"Preempted","message":"Preempted to accommodate a workload (UID: urgent, JobUID: x) due to reclamation","lastTimestamp":"2026-11-20T10:00:00Z"}`, "Unknown", "what ns/low held is not in the history"},
	} {
		t.Run(name, func(t *testing.T) {
			a, status := auditOf(t, c.text)
			if len(a.Preemptions) != 1 || a.Preemptions[0].Verdict != c.verdict || !strings.Contains(a.Preemptions[0].Unknown, c.unknown) || (c.verdict == "Unknown") != (status == 3) {
				t.Errorf("status %d: %+v; want %s: %s", status, a.Preemptions, c.verdict, c.unknown)
			}
		})
	}
}

// Bad usage and input end with status 2 and one line.
func TestAuditBadInput(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		text string
		args []string
	}{
		"whatif: no such file": {"", []string{"-f", "/nonexistent"}},
		"it is empty":          {"", []string{"-f", empty}},
		"there is no Workload of Kueue and no Pod in the input":                 {`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns"}}`, nil},
		"-checkpoint 1ms: want a second or more":                                {"", []string{"-checkpoint", "1ms"}},
		"-sample is a cluster at an instant":                                    {"", []string{"-sample", "cluster"}},
		"-live is a cluster as it is":                                           {"", []string{"-live"}},
		"-at and -in: a history has its own times":                              {"", []string{"-at", "2026-11-20T12:00:00Z"}},
		"-scheduler kai: histories of Kueue, kube-scheduler and Slurm are read": {"", []string{"-scheduler", "kai"}},
		"-cost: want the names of resources":                                    {"", []string{"-cost", "cpu,"}},
		"not JSON":                                                              {`{"kind" 5}`, nil},
		"there is no queue \"none\"":                                            {"", []string{"-f", historyFile, "-policy", "none:reclaimWithinCohort=Any"}},
	} {
		status, out, said := call(strings.NewReader(c.text), append([]string{"audit"}, c.args...)...)
		if status != 2 || out != "" || !strings.Contains(said, strings.TrimPrefix(want, "whatif: ")) || strings.Count(said, "\n") != 1 {
			t.Errorf("%q: status %d, %q, %q", want, status, out, said)
		}
	}
	if status, _, said := call(nil, "audit"); status != 2 || !strings.Contains(said, "standard input is a terminal") {
		t.Errorf("without input: status %d, %q", status, said)
	}
}
