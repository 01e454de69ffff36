package records

import (
	"strings"
	"testing"
)

// Each row is a run, also one that waits, is there again, or stopped; an odd one is left out and counted.
func TestRuns(t *testing.T) {
	text := "JobID|JobIDRaw|Account|Partition|QOS|State|Submit|Start|End|AllocTRES|ReqTRES|Priority|NodeList|Reservation\n" +
		"7_1|8|a|gpu|low|PREEMPTED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T10:01:00|cpu=8,gres/gpu=4,mem=1.50G,node=2||10|n[1-2]|r\n" +
		"7_1.batch|8.batch||||COMPLETED|2026-01-05T09:00:00|2026-01-05T09:01:00|2026-01-05T10:01:00|cpu=8|||n1|\n" +
		"7_1|8||gpu|low|CANCELLED by 7|2026-01-05T10:01:00|None|2026-01-05T10:05:00||cpu=8,mem=1000K,node=2|10|None assigned|\n" +
		"9|9|a|gpu|low|PENDING|2026-01-05T10:01:00|2027-01-05T10:01:00|Unknown||cpu=8|10|None assigned|\n" +
		"10|10|a|gpu|low|RUNNING|2026-01-05T10:01:00|2026-01-05T10:02:00|2026-01-06T10:02:00|cpu=1|cpu=1|10|n1|\n" +
		"11|11|a|gpu|low|ASLEEP|2026-01-05T10:01:00|Unknown|Unknown|||10||\n" +
		"12|12|a|gpu|low|COMPLETED|2026-01-05T10:01:00|2026-01-05T10:01:00|2026-01-05T09:01:00|cpu=1||10|n1|\n"
	runs, lost, notes, err := Runs(strings.NewReader(text), "jobs.txt")
	if err != nil || len(runs) != 4 || lost != 2 || len(notes) != 3 {
		t.Fatalf("%+v, %d, %q, %v", runs, lost, notes, err)
	}
	at := runs[0].Submit
	for i, want := range []Run{
		{Job: Job{ID: "7_1", Queue: "a", Priority: 10, GPU: 4000, CPU: 8000, Submit: at, QOS: "low", Partition: "gpu", Preempted: 1}, Raw: "8", State: "PREEMPTED", Start: at + 60, End: at + 3660, Nodes: "n[1-2]", Count: 2, Memory: 1536, Reserve: "r"},
		{Job: Job{ID: "7_1", Queue: "gpu", Priority: 10, CPU: 8000, Submit: at + 3660, QOS: "low", Partition: "gpu"}, Raw: "8", State: "CANCELLED", End: at + 3900, Count: 2},
		{Job: Job{ID: "9", Queue: "a", Priority: 10, CPU: 8000, Submit: at + 3660, QOS: "low", Partition: "gpu"}, Raw: "9", State: "PENDING"},
		{Job: Job{ID: "10", Queue: "a", Priority: 10, CPU: 1000, Submit: at + 3660, QOS: "low", Partition: "gpu"}, Raw: "10", State: "RUNNING", Start: at + 3720, Nodes: "n1"},
	} {
		if runs[i] != want {
			t.Errorf("%+v, want %+v", runs[i], want)
		}
	}
	if cpu, gpu, memory, ok := TRES("cpu=64,mem=2T,billing=1,gres/gpu=8"); cpu != 64000 || gpu != 8000 || memory != 2<<20 || !ok {
		t.Error(cpu, gpu, memory, ok)
	}
	if _, _, _, ok := TRES("cpu"); ok {
		t.Error("cpu alone is a list")
	}
}
