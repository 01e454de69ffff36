package slurm

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestExpand(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"login":                     "login",
		"node[01-03,07],gpu-a[1-2]": "node01 node02 node03 node07 gpu-a1 gpu-a2",
		"n[8-11]":                   "n8 n9 n10 n11",
		"n[08-11]":                  "n08 n09 n10 n11",
		"r[1-2]n[1,3]x":             "r1n1x r1n3x r2n1x r2n3x",
		"a,b[1],c":                  "a b1 c",
		"n[2-1]":                    `error: "n[2-1]": "2-1" is no range of numbers`,
		"n[1-2":                     `error: "n[1-2": "[1-2" is no node`,
		"n[[1]]":                    `error: "n[[1]]": "[[1]]" is no node`,
		"n]":                        `error: "n]": "]" is no node`,
		"n1,,n2":                    `error: "n1,,n2": ",n2" is no node`,
		"n1,":                       `error: "n1,": 1 nodes: want 100000 at most, each with a name`,
		"n[1-4000000000]":           `error: "n[1-4000000000]": more than 100000 nodes`,
		"n[1-1000]m[1-1000]":        `error: "n[1-1000]m[1-1000]": more than 100000 nodes`,
		"n[00000000001]":            `error: "n[00000000001]": "00000000001" is no range of numbers`,
		strings.Repeat("n", 256):    `error: "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn": a name of more than 255 letters`,
		"n[-1]":                     `error: "n[-1]": "-1" is no range of numbers`,
	} {
		nodes, err := Expand(text)
		got := strings.Join(nodes, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("node[01-04,07],gpu-a[1-2]")
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := Expand(text)
		if again, _ := Expand(strings.Join(nodes, ",")); err == nil && !reflect.DeepEqual(again, nodes) {
			t.Errorf("%q: %q, and these again %q", text, nodes, again)
		}
	})
}

// The wordings of Slurm over its versions.
func TestLog(t *testing.T) {
	at := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC).Unix()
	for line, want := range map[string]sign{
		"[2026-01-05T10:00:00.123] preempted job 7 has been killed to reclaim resources for job 9":                                          {at: at, victim: "7", by: "9"},
		"[2026-01-05T10:00:00] preempted job 7 has been checkpointed to reclaim resources for job 9":                                        {at: at, victim: "7", by: "9"},
		"[2026-01-05T10:00:00.123] preempted JobId=7 has been requeued to reclaim resources for JobId=9":                                    {at: at, victim: "7", by: "9", requeued: true},
		"[2026-01-05T10:00:00.123+01:00] preempted JobId=7_2(8) has been killed to reclaim resources for JobId=9+1(10)":                     {at: at, victim: "7_2", by: "9+1"},
		"2026-01-05T10:00:00.123+01:00 ctl slurmctld[9]: preempted JobId=7 has been killed to reclaim resources for JobId=9_*\r":            {at: at, victim: "7", by: "9_*"},
		"[2026-01-05T10:00:00.123] debug:  setting 120 sec preemption grace time for JobId=7 to reclaim resources for JobId=9":              {at: at, victim: "7", by: "9", grace: 120},
		"[2026-01-05T10:00:00.123] debug:  preempted JobId=7 suspended by gang scheduler to reclaim resources for JobId=9":                  {at: at, victim: "7", by: "9"},
		"Jan  5 10:00:00 ctl slurmctld[9]: preempted JobId=7 has been killed to reclaim resources for JobId=9":                              {victim: "7", by: "9"},
		"[2026-01-05T10:00:00.123] preempted JobId=7 had to be killed":                                                                      {},
		"[2026-01-05T10:00:00.123] " + strings.Repeat("x", maxLine) + " preempted JobId=7 has been killed to reclaim resources for JobId=9": {},
	} {
		h := &History{}
		if err := h.readLog(strings.NewReader("[2026-01-05T09:00:00] slurmctld version 25.05\n" + line + "\n")); err != nil {
			t.Fatal(err)
		}
		var got sign
		if len(h.signs) > 0 {
			got = h.signs[0]
		}
		if got != want {
			t.Errorf("%.120s: %+v, want %+v", line, got, want)
		}
	}
}

// Each file is known by its contents.
func TestKind(t *testing.T) {
	for text, want := range map[string]string{
		header:             "rows",
		"Account|JobID|x|": "rows",
		qosRows:            "qos",
		configLines:        "config",
		"PreemptType=x\n":  "config",
		`{"nodes": [`:      "nodes",
		"{\n \"last_update\": 1, \"partitions\": [": "partitions",
		"[2026-01-05T10:00:00.123] x\n":             "log",
		`{"apiVersion": "v1", "nodes": []}`:         "",
		`{"kind": "Workload"}`:                      "",
		"kind: Workload\n":                          "",
		"JobID       JobName\n------------\n":       "",
		"":                                          "",
	} {
		if got := kind([]byte(text)); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
	for file, want := range map[string]string{"slurm-qos.json": "qos", "slurm-partitions.json": "partitions"} {
		text, err := os.ReadFile("../../../../shared/interop/" + file)
		if err != nil {
			t.Skip("the samples are not beside this checkout")
		}
		if got := kind(text); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// The rights of partitions count where the configuration says so.
func TestRightsOfPartitions(t *testing.T) {
	rows := "JobID|JobIDRaw|Partition|State|Submit|Start|End|AllocTRES|NodeList\n" +
		"1|1|low|PREEMPTED|2026-01-05T09:00:00|2026-01-05T09:00:00|2026-01-05T10:00:00|cpu=8,node=1|n1\n" +
		"2|2|high|COMPLETED|2026-01-05T09:59:00|2026-01-05T10:00:02|2026-01-05T11:00:00|cpu=8,node=1|n1\n"
	partitions := `{"partitions": [{"name": "low", "priority": {"tier": 1}}, {"name": "high", "priority": {"tier": %TIER}}]}`
	for tier, want := range map[string]string{"5": "right", "1": "1: partition high has the tier 1, and low has 1"} {
		log := "[2026-01-05T10:00:00] preempted JobId=1 has been killed to reclaim resources for JobId=2\n"
		h := history(t, 0, rows, "PreemptType = preempt/partition_prio\nPreemptExemptTime = 00:30:00\n", strings.ReplaceAll(partitions, "%TIER", tier), log, `{"nodes": [{"name": "n1", "tres": "cpu=8"}]}`)
		p := h.Preemptions()[0]
		if got := strings.Join(p.Why, "; "); got != want && (got != "" || p.Verdict != 1) {
			t.Errorf("tier %s: %+v", tier, p)
		}
	}
	h := history(t, 0, rows, "PreemptType = preempt/partition_prio\nPreemptExemptTime = 01:30:00\n", partitions[:0]+`{"partitions": [{"name": "low"}]}`)
	if p := h.Preemptions()[0]; len(p.Why) != 1 || !strings.Contains(p.Why[0], "PreemptExemptTime is 1h30m0s, and it ran for 1h0m0s") {
		t.Errorf("%+v", p)
	}
}
