package records

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const (
	sacctHeader = "JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES|Priority\n"
	workload    = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"%s","namespace":"ns","uid":"%[1]s","creationTimestamp":"2026-09-20T06:00:00Z"},
		"spec":{"priority":50,"podSets":[{"name":"main","count":2,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"4","cpu":"1"}}}]}}}]},
		"status":{"admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main","count":2,"flavors":{"cpu":"h100","nvidia.com/gpu":"h100"}%s}]},"conditions":[%s]}}`
	usage    = `,"resourceUsage":{"nvidia.com/gpu":"16","cpu":"2500m"}`
	reserved = `{"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-09-20T06:05:00Z"}`
	finished = `{"type":"Finished","status":"True","lastTransitionTime":"2026-09-20T07:05:00Z"}`
)

// write writes a file of records.
func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func event(object string) string {
	return `{"kind":"Event","apiVersion":"audit.k8s.io/v1","verb":"update","stage":"ResponseComplete","stageTimestamp":"2026-09-20T08:00:00.000001Z",` +
		`"objectRef":{"resource":"workloads","apiGroup":"kueue.x-k8s.io"},"responseObject":` + strings.Join(strings.Fields(object), " ") + "}\n"
}

// Each format is told by its contents, and read into the same jobs. What is left out or changed is counted.
func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		text, format string
		jobs         []Job
		notes        []string
		unranked     bool
	}{
		"tenants": {"job,vc,submit_time,scale_factor,duration,priority\nb,q,7,0.5,10,3\na,q,7,1,10,-3\n", "a table",
			[]Job{{ID: "a", Queue: "q", GPU: 1000, Submit: 7, Work: 10, Priority: -3}, {ID: "b", Queue: "q", GPU: 500, Submit: 7, Work: 10, Priority: 3}}, nil, false},
		"epoch, not sorted": {"name,account,submitted,gpus,cpus,runtime,gpu_type\nb,q,1717200060,2,4,200,a100\na,q,1717200000,1,2,100,\n", "a table",
			[]Job{{ID: "a", Queue: "q", GPU: 1000, CPU: 2000, Work: 100}, {ID: "b", Queue: "q", GPU: 2000, CPU: 4000, Submit: 60, Work: 200, Flavor: "a100"}},
			[]string{"the first job came at 2024-06-01 00:00:00", "the jobs are not in the order of their submission: they are sorted"}, true},
		"dates, zones, CRLF, a mark, blanks": {"\ufeffID, Submit ,GPUs,Start,End\r\na,2024-06-01T02:00:00+02:00,1,2024-06-01 00:01:00,2024-06-01 00:02:00.5\r\nb,2024-06-01 00:00:01,1,,\r\n", "a table",
			[]Job{{ID: "a", Queue: "all", GPU: 1000, Work: 61}}, []string{"the first job came at 2024-06-01 00:00:00", "left out, never ran: 1", "with fractions of seconds, which are rounded: 1"}, true},
		"fractions, zero lengths": {"job,vc,submit,gpus,duration\na,q,0.0,1,100.0\nb,q,1,1,0\nc,q,2,1,0.2\nd,q,3,1,1-01:00:01\ne,q,4,0,5\n", "a table",
			[]Job{{ID: "a", Queue: "q", GPU: 1000, Work: 100}, {ID: "c", Queue: "q", GPU: 1000, Submit: 2, Work: 1}, {ID: "d", Queue: "q", GPU: 1000, Submit: 3, Work: 90001}},
			[]string{"left out, of zero length: 1", "left out, ask for nothing: 1", "with fractions of seconds, which are rounded: 1"}, true},
		"Chronus": {"job_id,user,num_gpu,submit_time,duration,job_type\n1,vc_x,2,3,4,soft\n", "Chronus", []Job{{ID: "1", Queue: "x", GPU: 2000, Submit: 180, Work: 240, Priority: 100}}, nil, false},
		"openb": {"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\np,6000,1,1,460,,LS,Running,5,12,7\nr,1,1,1,1,,BE,Pending,5,12,\n", "openb",
			[]Job{{ID: "p", Queue: "queue-2", GPU: 460, CPU: 6000, Submit: 5, Work: 5, Priority: 9500}}, []string{"left out, never ran: 1"}, false},
		"Helios": {"job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n" +
			"7,u,v,8,32,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:31,2020-06-09 18:42:31,60,30\n8,u,v,1,1,1,CANCELLED,2020-06-09 18:41:02,,2020-06-09 18:42:31,0,89\n", "Helios",
			[]Job{{ID: "7", Queue: "v", GPU: 8000, CPU: 32000, Work: 60}}, []string{"the first job came at 2020-06-09 18:41:01", "left out, never ran: 1"}, true},
		"sacct": {sacctHeader + "1|u|acct|gpu|COMPLETED|2024-06-01T00:00:00|2024-06-01T00:01:00|2024-06-01T01:01:00|3600|billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1|1000\n" +
			"1.batch||acct||COMPLETED|2024-06-01T00:01:00|2024-06-01T00:01:00|2024-06-01T01:01:00|3600|cpu=8,mem=64G,node=1|\n" +
			"2_3|u||gpu|CANCELLED by 1000|2024-06-01T00:00:09|2024-06-01T00:01:00|2024-06-01T00:01:30|30|cpu=1.50K,gres/gpu:a100=1,gres/gpu:v100=2|5\n" +
			"3|u|acct|gpu|PENDING|2024-06-01T00:00:09|Unknown|Unknown|0||5\n4|u|acct|gpu|RUNNING|2024-06-01T00:00:10|2024-06-01T00:01:00|Unknown|90|cpu=1,gres/gpu=1|5\n" +
			"5|u|acct|gpu|CANCELLED by 7|2024-06-01T00:00:09|None|2024-06-01T00:00:19|0||5\n" +
			"1|u|acct|gpu|COMPLETED|2024-06-01T00:30:00|2024-06-01T01:01:00|2024-06-01T01:02:00|60|cpu=8,gres/gpu=4|1000\n", "sacct",
			[]Job{{ID: "1", Queue: "acct", GPU: 4000, CPU: 8000, Work: 60, Priority: 1000, Partition: "gpu"}, {ID: "2_3", Queue: "gpu", GPU: 3000, CPU: 1500_000, Submit: 9, Work: 30, Priority: 5, Flavor: "v100", Partition: "gpu"},
				{ID: "4", Queue: "acct", GPU: 1000, CPU: 1000, Submit: 10, Work: 90, Priority: 5, Partition: "gpu"}},
			[]string{"the first job came at 2024-06-01 00:00:00", "left out, never ran: 1", "left out, wait or are suspended, so that their length is not known: 1", "left out, steps of jobs: 1",
				"still running, taken to end where the records end: 1", "there again as they were requeued, the last run counts: 1", "with GPUs of several kinds, taken as the kind that is the most: 1"}, false},
		"sacct, few columns": {"JobID|Partition|Submit|Elapsed|ReqTRES|\n1|gpu|2024-06-01T00:00:00|1-00:00:01|cpu=1,gres/gpu=2|\n", "sacct", []Job{{ID: "1", Queue: "gpu", GPU: 2000, CPU: 1000, Work: 86401, Partition: "gpu"}},
			[]string{"the first job came at 2024-06-01 00:00:00"}, true},
		"Philly": {`[{"status":"Pass","vc":"v","jobid":"j","submitted_time":"2017-10-09 07:02:09","user":"u","attempts":[{"start_time":"2017-10-09 07:04:35","end_time":"2017-10-09 07:05:35",
			"detail":[{"ip":"m","gpus":["gpu0","gpu1"]},{"ip":"n","gpus":["gpu0"]}]},{"start_time":"2017-10-09 08:00:00","end_time":"2017-10-09 08:00:30","detail":[]},{"start_time":null,"end_time":"None","detail":[]}]},
			{"status":"Killed","vc":"v","jobid":"k","submitted_time":"2017-10-09 07:02:10","attempts":[]}]`, "Philly", []Job{{ID: "j", Queue: "v", GPU: 3000, Work: 90}},
			[]string{"the first job came at 2017-10-09 07:02:09", "left out, never ran: 1"}, true},
		"Kueue, one after the other": {fmt.Sprintf(workload, "a", usage, reserved+","+finished) + "\n" + fmt.Sprintf(workload, "b", "", reserved) + "\n" + fmt.Sprintf(workload, "c", usage, ""), "Kueue",
			[]Job{{ID: "ns/a", Queue: "cq", GPU: 16000, CPU: 2500, Work: 3600, Priority: 50, Flavor: "h100"}, {ID: "ns/b", Queue: "cq", GPU: 8000, CPU: 2000, Work: 3600, Priority: 50, Flavor: "h100"}},
			[]string{"the first job came at 2026-09-20 06:00:00", "left out, wait or are suspended, so that their length is not known: 1", "still running, taken to end where the records end: 1"}, false},
		"Kueue, YAML": {"apiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\nmetadata: {name: a, creationTimestamp: 2026-09-20T06:00:00Z}\nspec: {priority: 2}\nstatus:\n  accumulatedPastExecutionTimeSeconds: 60\n" +
			"  admission: {clusterQueue: cq, podSetAssignments: [{name: main, flavors: {gpu: f}, resourceUsage: {gpu: 1}}]}\n  conditions: [" + reserved + ", " + finished + "]\n", "Kueue",
			[]Job{{ID: "a", Queue: "cq", GPU: 1000, Work: 3660, Priority: 2, Flavor: "f"}}, []string{"the first job came at 2026-09-20 06:00:00", "evicted before, their work includes what was lost then: 1"}, false},
		"audit log": {event(fmt.Sprintf(workload, "a", usage, reserved)) + event(fmt.Sprintf(workload, "a", usage, reserved+","+finished)) +
			`{"kind":"Event","apiVersion":"audit.k8s.io/v1","verb":"get","objectRef":{"resource":"pods"}}` + "\n", "Kueue",
			[]Job{{ID: "ns/a", Queue: "cq", GPU: 16000, CPU: 2500, Work: 3600, Priority: 50, Flavor: "h100"}}, []string{"the first job came at 2026-09-20 06:00:00", "left out, objects that are no Workload: 1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Read(write(t, c.text))
			if err != nil {
				t.Fatal(err)
			}
			if f.Format != c.format || !reflect.DeepEqual(f.Jobs, c.jobs) || f.Unranked != c.unranked {
				t.Errorf("%s: %+v, unranked %t", f.Format, f.Jobs, f.Unranked)
			}
			if !reflect.DeepEqual(f.Notes, c.notes) {
				t.Errorf("%q", f.Notes)
			}
		})
	}
}

// Every fault of a file is told with its line and field, up to a bound.
func TestFaults(t *testing.T) {
	const header = "job,vc,submit,gpus,duration,priority\n"
	for name, c := range map[string]struct {
		text string
		want []string // parts of the lines
	}{
		"empty":             {"", []string{"line 1: there is no header"}},
		"a mark alone":      {"\ufeff", []string{"line 1: there is no header"}},
		"no jobs":           {header + "a,q,0,1,0,0\n", []string{"line 2: there are no jobs (left out, of zero length: 1)"}},
		"several":           {header + "a,q,x,1,5,0\n,q,1,1,5,0\nb,q,1,1,5\nc,q,1,1e30,-5,0\n", []string{`line 2: submit: "x": want a date`, `line 3: job: "": want a name`, "line 4: wrong number of fields: 5, the header has 6", `line 5: gpus: "1e30": want`, `line 5: duration: "-5"`}},
		"huge":              {header + "a,q,99999999999999999999,1,5,0\nb,q,1e999999999,1,5,0\nc,q,1,1,5,9999999999999\nd,q,1,99999999999999,5,0\n", []string{"line 2: submit", "line 3: submit", "line 4: priority", "line 5: gpus"}},
		"work":              {header + "a,q,1,100000,300000000,0\nb,q,1,1,1,0\n", []string{"line 2: all jobs up to here are more work"}},
		"centuries":         {header + "a,q,2001-01-01,1,5,0\nb,q,2026-01-01,1,5,0\n", []string{"from the first submission to the last are 9131 days"}},
		"overlong":          {header + strings.Repeat("x", 2<<20), []string{"line 2: more than 1 MiB in one row"}},
		"overlong sacct":    {sacctHeader + strings.Repeat("x", 2<<20), []string{"line 2: more than 1 MiB in one row"}},
		"a long field":      {header + "a,q," + strings.Repeat("9", 5000) + ",1,5,0\n", []string{`…": want a date`}},
		"quotes":            {header + "a,\"q\nb,q,1,1,5,0\n", []string{`line 3: extraneous or missing " in quoted-field`}},
		"end before start":  {"job,vc,submit,gpus,start,end\na,q,0,1,9,8\n", []string{`line 2: end: "8": want a time that is not before start (9)`}},
		"two names":         {"job,id,submit,gpus,duration\n", []string{"line 1: the columns job and id say the same: leave one"}},
		"a column twice":    {"job,Job,submit,gpus,duration\n", []string{`line 1: the column "job" is there twice`}},
		"no length":         {"job,submit,gpus,end\n", []string{"line 1: there is no column duration, nor start and end"}},
		"no amounts":        {"job,submit,duration\n", []string{"line 1: there is no column gpus or cpus"}},
		"sacct, all odd":    {sacctHeader + "1|u|a|p|COMPLETED|x|y|z|-1|gres/gpu=many|1\n", []string{`line 2: there are no jobs (left out, odd in Submit: 1 (line 2: "x": want a date`}},
		"sacct without":     {"JobID|Submit\n1|2024-06-01\n", []string{"line 1: there is no column Account, nor Partition"}},
		"Philly":            {`[{"jobid":"a","vc":"v","submitted_time":"x","attempts":[]},{"jobid":"b","vc":"v","submitted_time":"2017-10-09 07:02:09","attempts":[{"start_time":"2017-10-09 07:04:35","end_time":"2017-10-09 07:04:34"}]},{"jobid":5}]`, []string{`item 1: submitted_time: "x": want a date`, `item 2: attempts[0].end_time: "2017-10-09 07:04:34": want a time from 0`, "item 3: jobid: want string, found number"}},
		"Philly, cut":       {`[{"jobid":"a","vc":"v","attempts":[`, []string{"item 1: unexpected EOF"}},
		"Kueue, backwards":  {fmt.Sprintf(workload, "a", usage, finished+","+strings.Replace(reserved, "T06", "T09", 1)), []string{"item 1 (Workload ns/a): status.conditions: Finished at 2026-09-20T07:05:00Z is before the start at 2026-09-20T09:05:00Z"}},
		"Kueue, wrong kind": {fmt.Sprintf(workload, "a", usage, `{"type":5}`), []string{"item 1 (Workload ns/a): status.conditions[0].type: want a string"}},
		"Kueue, no JSON":    {"{", []string{"JSON ends early"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.text)
			_, err := Read(path)
			if err == nil {
				t.Fatal("it is accepted")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("%d faults: %v", len(lines), err)
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, path+": ") || !strings.Contains(line, c.want[i]) || len(line) > 400 {
					t.Errorf("%q: want %q", line, c.want[i])
				}
			}
		})
	}
	_, err := Read(write(t, header+strings.Repeat("a,q,x,1,5,0\n", 1000)))
	if lines := strings.Split(err.Error(), "\n"); len(lines) != maxFaults+1 || !strings.HasSuffix(lines[maxFaults], ": and 980 more faults") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// Nothing that is read panics, and jobs are in their order and in their bounds.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"job,submit,gpus,duration\na,1,1,1\n", sacctHeader + "1|u|a|p|COMPLETED|2024-06-01|2024-06-01|2024-06-02|5|cpu=1|1\n",
		`[{"jobid":"a","vc":"v","submitted_time":"2017-10-09 07:02:09","attempts":[]}]`, fmt.Sprintf(workload, "a", usage, reserved), event(fmt.Sprintf(workload, "a", usage, finished))} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := read(strings.NewReader(text), "records")
		if err != nil {
			return
		}
		for i, j := range got.Jobs {
			if j.ID == "" || j.Queue == "" || j.Work < 1 || j.Work > 2*maxSeconds || j.Submit < 0 || j.Submit > maxSeconds || j.GPU < 0 || j.CPU < 0 || j.GPU+j.CPU == 0 || i > 0 && j.Submit < got.Jobs[i-1].Submit {
				t.Fatalf("%+v", j)
			}
		}
	})
}
