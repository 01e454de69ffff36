package world

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/queue/rules"
)

const slurmHeader = "JobID|Account|Partition|QOS|State|Submit|Start|ElapsedRaw|AllocTRES|Priority\n"

func slurm(rows ...string) string { return slurmHeader + strings.Join(rows, "\n") + "\n" }

// row is a job of an account, a partition, a QOS and a state.
func slurmRow(id, partition, qos, state, priority string) string {
	return id + "|a|" + partition + "|" + qos + "|" + state + "|2026-01-05T09:00:00|2026-01-05T09:00:00|60|gres/gpu=2|" + priority
}

// QOS, or else partitions, become priorities: those with preempted runs below the others, then by the median of Slurm's priorities.
func TestRanks(t *testing.T) {
	for name, c := range map[string]struct {
		text, setting string
		want          []int64 // of the jobs by ID
		invented      string
	}{
		"by median": {slurm(slurmRow("1", "p", "normal", "COMPLETED", "100"), slurmRow("2", "p", "high", "COMPLETED", "500"), slurmRow("3", "p", "normal", "COMPLETED", "900"), slurmRow("4", "p", "high", "COMPLETED", "999"), slurmRow("5", "p", "normal", "COMPLETED", "7")),
			"", []int64{0, 1, 0, 1, 0}, "priorities by QOS (high 1; normal 0), ordered by the medians of Slurm's priorities (bands=N divides Slurm's priorities; -qos has the rights)"},
		"by what was preempted": {slurm(slurmRow("1", "p", "scavenger", "PREEMPTED", "900"), slurmRow("2", "p", "normal", "COMPLETED", "5")),
			"", []int64{0, 1}, "priorities by QOS (normal 1; scavenger 0), ordered by which were preempted, then by the medians of Slurm's priorities (bands=N divides Slurm's priorities; -qos has the rights)"},
		"one QOS, two partitions": {slurm(slurmRow("1", "long", "normal", "COMPLETED", "1"), slurmRow("2", "short", "normal", "COMPLETED", "2")),
			"", []int64{0, 1}, "priorities by partition (short 1; long 0), ordered by the medians of Slurm's priorities (bands=N divides Slurm's priorities)"},
		"one of each": {slurm(slurmRow("1", "p", "normal", "COMPLETED", "8"), slurmRow("2", "p", "normal", "COMPLETED", "9")), "", []int64{8, 9}, ""},
		"bands":       {slurm(slurmRow("1", "p", "normal", "COMPLETED", "8"), slurmRow("2", "p", "high", "COMPLETED", "9")), "+bands=0", []int64{8, 9}, ""},
	} {
		trace, err := Read(writeFile(t, "records", c.text), "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, settings, err := ParseName("x" + c.setting)
		if err != nil {
			t.Fatal(err)
		}
		w := New(trace, settings)
		var got []int64
		for _, j := range w.Jobs {
			got = append(got, j.Priority)
		}
		if !slices.Equal(got, c.want) || c.invented != "" && !slices.Contains(w.Invented, c.invented) {
			t.Errorf("%s: %v, %q", name, got, w.Invented)
		}
	}
}

// A file of QOS says whom each may preempt, and for how long it is exempt, in both forms.
func TestRights(t *testing.T) {
	records := writeFile(t, "records", slurm(slurmRow("1", "p", "scavenger", "PREEMPTED", "900"), slurmRow("2", "p", "high", "COMPLETED", "5"), slurmRow("3", "p", "odd", "COMPLETED", "5"), slurmRow("4", "p", "", "COMPLETED", "5")))
	table := "Name|Priority|GraceTime|Preempt|PreemptExemptTime|PreemptMode\nscavenger|1|00:02:00||00:30:00|requeue\nhigh|1000|00:00:00|scavenger,normal,kept|||\n"
	table = strings.Replace(table, "|||\n", "||cluster,within\n", 1) + "normal|10|00:00:00|scavenger||cluster\nkept|1|||UNLIMITED|cluster\n"
	trace, err := Read(records, "", "", writeFile(t, "qos", table))
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(trace.Notes, " ")
	for _, want := range []string{"high preempts kept, normal, scavenger, lower priorities of its own; normal preempts scavenger", "QOS that ", ": odd.", "GraceTime of QOS is not replayed"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q: want %q", notes, want)
		}
	}
	_, settings, _ := ParseName("x")
	w := New(trace, settings)
	if !strings.Contains(strings.Join(w.Notes, " "), "Preempted runs in the records: 1, of one job 1 at most; they held 0.0 GPU-hours.") || w.Priorities()[0] != 900 {
		t.Errorf("%q, %v", w.Notes, w.Priorities())
	}
	var got []string
	for _, r := range trace.Rights.Rules {
		for _, s := range r.CandidateSelectors {
			got = append(got, strings.Join(r.PreemptorPriorityClass.MatchNames, ",")+" > "+strings.Join(s.Priority.MatchNames, ",")+" "+s.Time.MinExecutionDuration.Or(0).String()+" "+string(s.Priority.Comparison))
		}
	}
	if want := []string{"high > normal 0s ", "high > scavenger 30m0s ", "high > high 0s LessThan", "normal > scavenger 30m0s "}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if faults := rules.Validate([]rules.Config{*trace.Rights}); faults != nil {
		t.Error(faults)
	}
	for name, c := range map[string]struct{ text, want string }{
		"json":    {`{"qos":[{"name":"high","preempt":{"list":["scavenger"],"mode":["DISABLED"],"exempt_time":{"set":false,"number":0}}},{"name":"scavenger","preempt":{"list":[],"exempt_time":{"set":true,"infinite":false,"number":1800}},"limits":{"grace_time":120}}]}`, ""},
		"empty":   {"", "there is no header"},
		"people":  {"      Name   Priority \n---------- ---------- \n    normal          0 \n", "want what this prints: sacctmgr --parsable2 show qos"},
		"odd":     {"Name|Preempt|PreemptExemptTime\na|b|soon\n|c|\na||\n", `line 2: PreemptExemptTime: "soon"`},
		"no json": {`{"qos":5}`, "want what this prints: sacctmgr"},
		"none":    {"Name|Preempt\n", "there is no QOS"},
	} {
		trace, err := Read(records, "", "", writeFile(t, "qos", c.text))
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", name, err)
		case c.want == "" && (err != nil || len(trace.Rights.Rules) != 1 || trace.Rights.Rules[0].CandidateSelectors[0].Time.MinExecutionDuration.Or(0).String() != "30m0s"):
			t.Errorf("%s: %+v, %v", name, trace.Rights, err)
		}
	}
	if _, err := Read(writeFile(t, "without", "JobID|Account|Submit|ElapsedRaw|AllocTRES\n1|a|2026-01-05T09:00:00|60|cpu=1\n"), "", "", writeFile(t, "qos", table)); err == nil || !strings.Contains(err.Error(), "no job has a QOS") {
		t.Error(err)
	}
	if found := filepath.Join("..", "..", "..", "..", "shared", "interop", "slurm-qos.json"); found != "" {
		if _, err := os.Stat(found); err != nil {
			return
		}
		if trace, err := Read(records, "", "", found); err != nil || len(trace.Rights.Rules) != 1 {
			t.Errorf("%v, %v", trace.Rights, err)
		}
	}
}
