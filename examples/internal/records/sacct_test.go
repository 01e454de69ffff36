package records

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const right = "1|u|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T10:01:00|3600|cpu=8,gres/gpu=4|1000\n"

// An odd row is repaired from what stands beside it, or left out. It changes nothing of the others, and its line is named.
func TestOddRows(t *testing.T) {
	for name, c := range map[string]struct {
		row  string
		work int64 // of the job of the row; 0: it is left out
		note string
	}{
		"end before start, with a length":   {"2|u|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-11-01T01:50:00|2026-11-01T01:10:00|1200|gres/gpu=4|5", 1200, `repaired from what stands beside, odd in End: 1 (line 3: "2026-11-01T01:10:00": want a time that is not before Start (2026-11-01T01:50:00))`},
		"end before start, without":         {"2|u|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-11-01T01:50:00|2026-11-01T01:10:00||gres/gpu=4|5", 0, "left out, odd in End: 1 (line 3"},
		"an odd length":                     {"2|u|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|-5|gres/gpu=4|5", 60, "repaired from what stands beside, odd in ElapsedRaw: 1 (line 3"},
		"no account, nor partition":         {"2|u|||COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|60|gres/gpu=4|5", 0, `left out, odd in Account: 1 (line 3: "": want a name)`},
		"no account":                        {"2|u||gpu|COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|60|gres/gpu=4|5", 60, ""},
		"a runaway of ten years":            {"2|u|acct|gpu|RUNNING|2015-01-05T09:00:00|2015-01-05T09:01:00|Unknown|347000000|gres/gpu=4|5", 0, `left out, odd in ElapsedRaw: 1 (line 3: "347000000": want seconds`},
		"a runaway of two years":            {"2|u|acct|gpu|RUNNING|2024-01-05T09:00:00|2024-01-05T09:01:00|Unknown|63072000|gres/gpu=4|5", 0, "sacctmgr show runawayjobs"},
		"a runaway without a length":        {"2|u|acct|gpu|RUNNING|2024-01-05T09:00:00|2024-01-05T09:01:00|Unknown||gres/gpu=4|5", 0, "left out, odd in Start: 1 (line 3"},
		"a runaway with an end":             {"2|u|acct|gpu|RUNNING|2024-01-05T09:00:00|2024-01-05T09:01:00|2026-01-05T09:01:00||gres/gpu=4|5", 0, "left out, odd in End: 1 (line 3"},
		"submitted in another decade":       {"2|u|acct|gpu|COMPLETED|2009-01-05T09:00:00|2009-01-05T09:01:00|2009-01-05T09:02:00|60|gres/gpu=4|5", 0, "left out, odd in Submit: 1 (line 3: 2009-01-05: more than 3660 days from most other jobs)"},
		"submitted in the far future":       {"2|u|acct|gpu|COMPLETED|2099-01-05T09:00:00|2099-01-05T09:01:00|2099-01-05T09:02:00|60|gres/gpu=4|5", 0, "left out, odd in Submit: 1 (line 3: 2099-01-05"},
		"running without a length":          {"2|u|acct|gpu|RUNNING|2026-01-05T09:00:00|2026-01-05T09:31:00|Unknown||gres/gpu=4|5", 1800, "still running, taken to end where the records end: 1"},
		"no time of submission":             {"2|u|acct|gpu|COMPLETED|Unknown|2026-01-05T09:01:00|2026-01-05T09:02:00|60|gres/gpu=4|5", 60, "repaired from what stands beside, odd in Submit: 1"},
		"no priority":                       {"2|u|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|60|gres/gpu=4|", 60, "without priority, taken as 0: 1"},
		"an odd priority":                   {"2|u|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|60|gres/gpu=4|high", 60, `odd in Priority, taken as 0: 1 (line 3: "high"`},
		"odd resources":                     {"2|u|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|60|gres|5", 0, "left out, odd in AllocTRES: 1 (line 3"},
		"more than there can be":            {"2|u|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|300000000|gres/gpu=100000|5", 0, "left out, odd in a job: 1 (line 3: all jobs up to here are more work"},
		"a state that Slurm does not have":  {"2|u|acct|gpu|DONE|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|60|gres/gpu=4|5", 0, `left out, odd in State: 1 (line 3: "DONE": want a state of Slurm`},
		"ran elsewhere":                     {"2|u|acct|gpu|REVOKED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|60|gres/gpu=4|5", 0, "left out, ran in another cluster of the federation: 1"},
		"a separator in a name":             {"2|u|my|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|60|gres/gpu=4|5", 0, "left out, odd in a number of fields: 1 (line 3: 12, the header has 11)"},
		"no name":                           {"|u|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|60|gres/gpu=4|5", 0, "left out, odd in JobID: 1 (line 3"},
		"a message":                         {"sacct: error: slurmdbd: Sending message failed", 0, "left out, odd in a number of fields: 1 (line 3: 1, the header has 11)"},
		"a row without an end":              {strings.Repeat("x", 2<<20), 0, "left out, odd in a row: 1 (line 3: more than 1 MiB in one row)"},
		"fractions count where a row stays": {"2|u|acct|gpu|COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T09:02:00|60.5|gres|5", 0, "left out, odd in AllocTRES"},
	} {
		t.Run(name, func(t *testing.T) {
			alone, err := Read(write(t, sacctHeader+right+strings.ReplaceAll(right, "1|u", "3|u")))
			if err != nil {
				t.Fatal(err)
			}
			f, err := Read(write(t, sacctHeader+right+c.row+"\n"+strings.ReplaceAll(right, "1|u", "3|u")))
			if err != nil {
				t.Fatal(err)
			}
			var others []Job
			var work int64
			for _, j := range f.Jobs {
				if j.ID == "2" {
					work = j.Work
				} else {
					others = append(others, j)
				}
			}
			if work != c.work {
				t.Errorf("the job works %d s, want %d", work, c.work)
			}
			if !reflect.DeepEqual(others, alone.Jobs) {
				t.Errorf("others: %+v, want %+v", others, alone.Jobs)
			}
			notes := strings.Join(f.Notes, "; ")
			if !strings.Contains(notes, c.note) || strings.Contains(notes, "fractions") || (c.note == "") != (len(f.Notes) == len(alone.Notes)) {
				t.Errorf("%q, want %q", f.Notes, c.note)
			}
		})
	}
	// Many of a kind are one note, with the first lines.
	var text strings.Builder
	text.WriteString(sacctHeader + right)
	for range 100 {
		text.WriteString("9|u|acct\n")
	}
	f, err := Read(write(t, text.String()))
	if want := "left out, odd in a number of fields: 100 (line 3: 3, the header has 11; line 4; line 5; line 6; line 7; and more)"; err != nil || f.Notes[len(f.Notes)-1] != want {
		t.Errorf("%q, %v, want %q", f.Notes, err, want)
	}
}

// The parts of a heterogeneous job are one job, requeued or not.
func TestParts(t *testing.T) {
	row := "%s|u|acct|gpu|%s|2026-01-05T09:00:00|2026-01-05T09:%s:00|Unknown|%d|cpu=8,gres/gpu:%s|1000\n"
	f, err := Read(write(t, sacctHeader+fmt.Sprintf(row, "7+0", "PREEMPTED", "01", 60, "a100=4")+fmt.Sprintf(row, "7+1", "PREEMPTED", "01", 60, "v100=8")+
		fmt.Sprintf(row, "7+0", "COMPLETED", "10", 600, "a100=4")+fmt.Sprintf(row, "7+1", "COMPLETED", "10", 601, "v100=8")))
	if err != nil {
		t.Fatal(err)
	}
	want := []Job{{ID: "7", Queue: "acct", Partition: "gpu", Priority: 1000, GPU: 12000, CPU: 16000, Flavor: "v100", Work: 601, Preempted: 1, PreemptedFor: 60}}
	if !reflect.DeepEqual(f.Jobs, want) {
		t.Errorf("%+v", f.Jobs)
	}
	notes := strings.Join(f.Notes, "; ")
	if !strings.Contains(notes, "parts of heterogeneous jobs, each joined with the others of its job: 2") {
		t.Errorf("%q", f.Notes)
	}
}

// Runs that were preempted are kept with the job, whatever became of it.
func TestPreempted(t *testing.T) {
	row := "%d|acct|%s|%s|2026-01-05T09:00:00|2026-01-05T09:%02d:00|%d|cpu=8,gres/gpu=2|1000\n"
	f, err := Read(write(t, "JobID|Account|QOS|State|Submit|Start|ElapsedRaw|AllocTRES|Priority\n"+
		fmt.Sprintf(row, 1, "low", "PREEMPTED", 1, 60)+fmt.Sprintf(row, 1, "low", "PREEMPTED", 5, 40)+fmt.Sprintf(row, 1, "low", "COMPLETED", 9, 3600)+
		fmt.Sprintf(row, 2, "low", "PREEMPTED", 1, 30)+fmt.Sprintf(row, 3, "high", "COMPLETED", 1, 30)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, j := range f.Jobs {
		got = append(got, fmt.Sprint(j.ID, j.QOS, j.Work, j.Preempted, j.PreemptedFor))
	}
	if want := []string{"1low3600 2 100", "2low30 1 30", "3high30 0 0"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if notes := strings.Join(f.Notes, "; "); !strings.Contains(notes, "preempted at last, their work is what they ran until then: 1") {
		t.Errorf("%q", f.Notes)
	}
}

// A file in another form of Slurm's is refused with the command that prints the right one.
func TestOtherForms(t *testing.T) {
	for name, c := range map[string]struct{ text, what string }{
		"squeue":                {"             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n              5001       gpu  train-b      bob  R    1:40:00      2 gpu[001-002]\n", "what squeue prints"},
		"squeue, own columns":   {"JOBID|PARTITION|NAME|USER|ST|TIME|NODES|NODELIST(REASON)\n5001|gpu|train-b|bob|R|1:40:00|2|gpu[001-002]\n", "what squeue prints"},
		"sacct for people":      {"JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n------------ ---------- ---------- ---------- ---------- ---------- -------- \n5001            train-b        gpu     team-b         96    RUNNING      0:0 \n", "the table that sacct prints for people"},
		"sacct, a few columns":  {"       JobID    Account \n------------ ---------- \n5001             team-b \n", "the table that sacct prints for people"},
		"sacct --json":          {`{"jobs": [{"account": "team-b", "array": {"job_id": 0}, "job_id": 5001, "state": {"current": ["RUNNING"]}}], "meta": {}}`, "JSON of Slurm's jobs"},
		"sacct --yaml":          {"jobs:\n- account: team-b\n  job_id: 5001\n", "YAML of Slurm's jobs"},
		"scontrol show job":     {"JobId=5001 JobName=train-b\n   UserId=bob(1000) GroupId=bob(1000) MCS_label=N/A\n", "what scontrol show job prints"},
		"sacctmgr show qos":     {"Name|Priority|GraceTime|Preempt|PreemptMode\nhigh|1000|00:00:00|low|cluster\n", "what sacctmgr show qos prints"},
		"sacct --delimiter=,":   {"JobID,Account,Submit,ElapsedRaw,AllocTRES\n1,a,2026-01-05T09:00:00,60,cpu=8\n", ""},
		"sacct --noheader":      {strings.TrimSpace(right) + "\n", ""},
		"sacct without Account": {"JobID|Submit|ElapsedRaw|AllocTRES\n1|2026-01-05T09:00:00|60|cpu=8\n", ""},
		"sacct without Submit":  {"JobID|Account|ElapsedRaw|AllocTRES\n1|a|60|cpu=8\n", ""},
	} {
		_, err := Read(write(t, c.text))
		if err == nil || !strings.Contains(err.Error(), "sacct --allusers --allocations --duplicates --parsable2") || !strings.Contains(err.Error(), c.what) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The records that were found to be refused for one odd row are read.
func TestFoundRecords(t *testing.T) {
	folder := "../../../../shared/found/records"
	files, err := filepath.Glob(folder + "/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the found records are not beside this checkout")
	}
	for _, file := range files {
		f, err := Read(file)
		if err != nil || len(f.Jobs) < 2 || !strings.Contains(strings.Join(f.Notes, "; "), "line 4") {
			t.Errorf("%s: %d jobs, %q, %v", file, len(f.Jobs), f.Notes, err)
		}
	}
	for _, file := range []string{"slurm-squeue.json", "slurm-partitions.json", "slurm-qos.json"} {
		if _, err := Read("../../../../shared/interop/" + file); err == nil || !strings.Contains(err.Error(), wantSacct) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Of a table of QOS as JSON all faults are told.
func TestFaultsOfQOSAsJSON(t *testing.T) {
	_, err := ReadQOS(write(t, `{"qos": [{"name": "a", "preempt": {"exempt_time": {"set": true, "number": -7}}},
		{"name": "b"}, {"name": "b", "limits": {"grace_time": {"set": true, "number": 99999999999}}}]}`))
	for _, want := range []string{`QOS "a": exempt_time -7`, `QOS "b": exempt_time 0, grace_time 99999999999`, `QOS "b" is there twice`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
