package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
)

// slurmFiles are files of a history of Slurm.
func slurmFiles(names ...string) (args []string) {
	args = []string{"audit"}
	for _, name := range names {
		args = append(args, "-f", filepath.Join("testdata/audit/slurm", name))
	}
	return args
}

var allOfSlurm = slices.Clip(slurmFiles("jobs.txt", "qos.txt", "nodes.json", "partitions.json", "config.txt", "slurmctld.log"))

func TestAuditOfSlurmGolden(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		width  int
		status int
	}{
		"audit-slurm":         {allOfSlurm, 100, 1},
		"audit-slurm-story":   {append(allOfSlurm, "-story", "5002", "-checkpoint", "30m"), 100, 1},
		"audit-slurm-no-log":  {slurmFiles("jobs.txt", "qos.txt", "nodes.json", "partitions.json", "config.txt"), 100, 1},
		"audit-slurm-no-node": {slurmFiles("jobs.txt", "qos.txt", "config.txt", "slurmctld.log"), 100, 1},
		"audit-slurm-jobs":    {slurmFiles("jobs.txt"), 100, 3},
		"audit-slurm-json":    {append(allOfSlurm, "-o", "json"), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, said := callOn(cli.Screen{Width: c.width}, nil, c.args...)
			if status != c.status || said != "" {
				t.Errorf("status %d, want %d: %s", status, c.status, said)
			}
			golden.Check(t, name, out)
		})
	}
}

// A victim that later preempts who preempted it is a circle, and what cannot be read says so in one line.
func TestAuditOfSlurm(t *testing.T) {
	header := "JobID|JobIDRaw|Account|QOS|State|Submit|Start|End|AllocTRES|Priority|NodeList\n"
	rows := header + "1|1|a|left|PREEMPTED|2026-01-05T09:00:00|2026-01-05T09:00:00|2026-01-05T10:00:00|cpu=8,node=1|5|n1\n" +
		"2|2|b|right|PREEMPTED|2026-01-05T09:59:00|2026-01-05T10:00:02|2026-01-05T11:00:00|cpu=8,node=1|5|n1\n" +
		"1|1|a|left|COMPLETED|2026-01-05T10:00:00|2026-01-05T11:00:03|2026-01-05T12:00:00|cpu=8,node=1|5|n1\n" +
		"2|2|b|right|PENDING|2026-01-05T11:00:00|Unknown|Unknown||5|None assigned\n"
	qos := "Name|Preempt\nleft|right\nright|left\n"
	nodes := `{"nodes": [{"name": "n1", "tres": "cpu=8"}]}`
	log := "[2026-01-05T10:00:00] preempted job 1 has been requeued to reclaim resources for job 2\n" +
		"[2026-01-05T11:00:00] preempted job 2 has been requeued to reclaim resources for job 1\n"
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "part.txt")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	status, out, said := call(nil, "audit", "-f", file(rows), "-f", file(qos), "-f", file(nodes), "-f", file(log), "-o", "json")
	var a struct {
		All         tally
		Preemptions []judged
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil || status != 0 || a.All.Right != 2 || a.All.TakenBack != 1 || len(a.Preemptions[0].Circle) != 1 {
		t.Errorf("status %d: %v, %+v, %s", status, err, a.All, said)
	}
	for name, c := range map[string]struct {
		files []string
		args  string
		want  string
	}{
		"no rows":          {[]string{qos, log}, "", "there are no rows of sacct: want what this prints: sacct --allusers"},
		"no nodes of jobs": {[]string{"JobID|Submit|State|Start|End|AllocTRES\n1|2026-01-05T09:00:00|PENDING|||\n"}, "", "there is no column NodeList: want what this prints"},
		"odd QOS":          {[]string{rows, "Name|Preempt\n|x\n"}, "", "QOS 1: the name is empty"},
		"odd nodes":        {[]string{rows, `{"nodes": [{"name": "n1", "tres": "cpu"}]}`}, "", `node "n1": tres: "cpu"`},
		"for people":       {[]string{"JobID           JobName  Partition \n------------ ---------- ---------- \n"}, "", "this is the table that sacct prints for people: want what this prints"},
		"changes":          {[]string{rows}, "-policy=a:b=c", "change a cluster of Kueue"},
		"beside Kueue":     {[]string{rows, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}`}, "", "there is no Workload of Kueue"},
	} {
		args := []string{"audit"}
		for _, text := range c.files {
			args = append(args, "-f", file(text))
		}
		if c.args != "" {
			args = append(args, c.args)
		}
		status, _, said := call(nil, args...)
		if status != 2 || !strings.Contains(said, c.want) || strings.Count(strings.TrimSpace(said), "\n") > 0 {
			t.Errorf("%s: status %d: %s", name, status, said)
		}
	}
}
