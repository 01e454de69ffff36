package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
)

// call runs the command; the environment has the variables given as name=value.
func call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, bad bytes.Buffer
	status = command(args, &out, &bad, cli.Screen{Width: 80})
	return status, out.String(), bad.String()
}

// tiny is a sweep that takes a second.
var tiny = []string{"-world", "philly-vc+days=1+capacity=40,openb+days=1+capacity=50", "-policy", "greedy,best+checkpoint", "-seeds", "1-2"}

// The table is the same on every run and every machine, no wider than the screen, and names
// what was asked for.
func TestTable(t *testing.T) {
	status, stdout, stderr := call(t, tiny...)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %q", status, stderr)
	}
	golden.Check(t, "tiny", stdout)
	_, divided, _ := call(t, append(slices.Clone(tiny), "-by", "queue,size,priority")...)
	for line := range strings.Lines(stdout + divided) {
		if n := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, part := range strings.SplitAfter(stdout, "\n\n") {
		if !strings.Contains(divided, part) {
			t.Errorf("-by changes more than how the jobs are divided:\n%s", part)
		}
	}
	for _, column := range []string{"QUEUE", "SIZE", "PRIORITY"} {
		if n := strings.Count(divided, "\n"+column) + strings.Count(divided, "\n "+column) + strings.Count(divided, "\n  "+column); n != 4 {
			t.Errorf("%d tables by %s, want one of waits and one of completion in each world:\n%s", n, column, divided)
		}
	}
	status, stdout, stderr = call(t, append(slices.Clone(tiny), "-markdown")...)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %q", status, stderr)
	}
	golden.Check(t, "tiny-markdown", stdout)
}

// The results in a file give the table of the sweep; what -times adds changes nothing unless it is asked for.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "results.jsonl")
	_, timed, _ := call(t, append(slices.Clone(tiny), "-times", "-o", file)...)
	if status, got, stderr := call(t, "-results", file, "-times"); status != 0 || got != timed || stderr != "" {
		t.Errorf("status %d, %q; of the file:\n%s\nof the sweep:\n%s", status, stderr, got, timed)
	}
	status, got, _ := call(t, "-results", file)
	if table, _, cut := strings.Cut(timed, got); status != 0 || !cut || table != "" || strings.Contains(got, "LONGEST") {
		t.Errorf("without times:\n%s", got)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, bad := range map[string]struct{ data, want string }{
		"missing":   {strings.Join(strings.SplitAfter(text, "\n")[1:], ""), " of 8 is missing"},
		"twice":     {text + strings.SplitAfter(text, "\n")[0], " is also at "},
		"other":     {text + strings.Replace(text, `"sweep":"`, `"sweep":"0`, 1), "line 9: sweep: "},
		"no JSON":   {"{", "there are no results; the first line that is no result: "},
		"misspelt":  {`{"swep":"x"}`, `line 1: no result of replay: swep: is not a field`},
		"text":      {`{"jobs":"x"}`, "line 1: no result of replay: jobs: want an integer, found a string"},
		"cell":      {`{"cell":1,"of":1}`, "line 1: cell: 1 of 1"},
		"no series": {`{"of":1}`, "parts of 0 seconds, want 60"},
		"empty":     {"", "there are no results"},
	} {
		file := filepath.Join(dir, "bad.jsonl")
		if err := os.WriteFile(file, []byte(bad.data), 0o644); err != nil {
			t.Fatal(err)
		}
		if status, stdout, stderr := call(t, "-results", file); status != 2 || stdout != "" || !strings.Contains(stderr, bad.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q, %q", name, status, stdout, stderr)
		}
	}
}

// Two sweeps of one name are the same only if the files that they read have the same contents.
func TestSweepsOfOtherContents(t *testing.T) {
	const header = "job,vc,submit_time,scale_factor,duration,priority\n"
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rules := func(label string) string {
		return "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: PreemptionConfig\nmetadata: {name: c}\nspec: {rules: [{name: r, activationPolicy: {trigger: Always}, " +
			"candidateSelectors: [{scope: WithinClusterQueue, labelSelector: {matchLabels: {team: " + label + "}}}]}]}\n"
	}
	jobs := header + "a,q,0,1,60,0\nb,q,5,1,60,0\n"
	file := filepath.Join(dir, "results.jsonl")
	name := func() string {
		t.Helper()
		args := []string{"-world", filepath.Join(dir, "jobs.csv"), "-policy", "greedy,rules=" + filepath.Join(dir, "rules.yaml"), "-o", file}
		if status, _, stderr := call(t, args...); status != 0 {
			t.Fatal(stderr)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`"sweep":"[^"]+"`).FindString(string(data))
	}
	for what, change := range map[string]func(){
		"nothing": func() {},
		"jobs":    func() { write("jobs.csv", jobs+"c,q,9,1,60,0\n") },
		"quotas":  func() { write("vc_nodes.csv", "vc,node num\nq,1\nother,2\n") },
		"rules":   func() { write("rules.yaml", rules("b")) },
	} {
		write("jobs.csv", jobs)
		write("rules.yaml", rules("a"))
		write("vc_nodes.csv", "vc,node num\nq,1\nother,1\n")
		first := name()
		change()
		if second := name(); first == "" || (what == "nothing") != (first == second) {
			t.Errorf("%s differ: %s and %s", what, first, second)
		}
	}
}

// A replay that jobs in a circle never end is broken off and marked; the others of the sweep go on.
func TestCircles(t *testing.T) {
	status, stdout, stderr := call(t, "-world", "philly-vc+days=1+capacity=40+grace=0s", "-policy", "greedy,fair")
	if status != 1 || !strings.Contains(stderr, `policy "fair": jobs evict each other in a circle: broken off at second `) {
		t.Errorf("status %d, %q", status, stderr)
	}
	for _, want := range []string{"fair circles: ", "take the same room from each other", "philly-vc-0", "fair is not compared: it was broken off."} {
		if text := strings.Join(strings.Fields(stdout), " "); !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, stdout)
		}
	}
	if !regexp.MustCompile(`(?m)^fair .* – .* \d+\* .* –`).MatchString(stdout) || !regexp.MustCompile(`(?m)^greedy .* \d+ .* d$`).MatchString(stdout) {
		t.Errorf("the cell is not marked, or another is:\n%s", stdout)
	}
}

// Charts and the page are written, and the page needs nothing else.
func TestCharts(t *testing.T) {
	dir := t.TempDir()
	lines := filepath.Join(dir, "lines.jsonl")
	call(t, append(slices.Clone(tiny), "-times", "-o", lines)...)
	for file, begins := range map[string]string{"a.svg": "<?xml", "a.png": "\x89PNG", "a.html": "<!doctype html>"} {
		path := filepath.Join(dir, file)
		option := "-plot"
		if strings.HasSuffix(file, "html") {
			option = "-html"
		}
		status, _, stderr := call(t, "-times", option, path, "-results", lines)
		data, err := os.ReadFile(path)
		if status != 0 || err != nil || !strings.HasPrefix(string(data), begins) || len(data) < 5000 {
			t.Errorf("%s: status %d, %q, %v, %d bytes", file, status, stderr, err, len(data))
		}
		if file == "a.html" {
			for _, outside := range []string{"<script", "<link", "src=", "url("} {
				if strings.Contains(string(data), outside) {
					t.Errorf("the page has %s", outside)
				}
			}
			if n := strings.Count(string(data), "<svg"); n != 2 || !strings.Contains(string(data), "best&#43;checkpoint") {
				t.Errorf("the page has %d charts", n)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const header = "job,vc,submit_time,scale_factor,duration,priority\n"
	var rows strings.Builder
	for i := range 130 {
		fmt.Fprintf(&rows, "%d,q,0,1,60,%s\n", i, strings.Repeat("x", 1<<19))
	}
	never := file("never.csv", header+"a,q,0,1,60,0\nb,q,5,2,60,0\n")
	for want, args := range map[string][]string{
		"unknown flag: --nosuch":                     {"-nosuch"},
		`unexpected argument "x"`:                    {"x"},
		`-resume: name the file`:                     {"-resume"},
		`unknown source "nosuch"`:                    {"-world", "nosuch"},
		`unknown setting "size"`:                     {"-world", "openb+size=3"},
		`days: "0": want 1 to 400`:                   {"-world", "openb+days=0"},
		`grace: "soon": want whole`:                  {"-world", "openb+grace=soon"},
		`days is set twice`:                          {"-world", "openb+days=1+days=2"},
		`reclaim: "Some`:                             {"-world", "openb+reclaim=Sometimes"},
		`unknown word "optimal"`:                     {"-policy", "greedy,optimal"},
		`named twice`:                                {"-policy", "greedy,greedy"},
		`-seeds "0"`:                                 {"-seeds", "0"},
		`-seeds "3-1"`:                               {"-seeds", "3-1"},
		`-by "age": want some of`:                    {"-by", "age"},
		`-plot "a.gif"`:                              {"-plot", "a.gif"},
		`-html "a"`:                                  {"-html", "a"},
		`-seeds has no meaning with`:                 {"-seeds", "1", "-results", "x"},
		`-quotas is for worlds`:                      {"-quotas", "x.csv"},
		`no such file`:                               {"-world", filepath.Join(dir, "none.csv")},
		`line 1: there is no header`:                 {"-world", file("empty.csv", "")},
		`line 1: the columns are of no known`:        {"-world", file("columns.csv", "a,b\n1,2\n")},
		`line 1: there are no jobs`:                  {"-world", file("nojobs.csv", header)},
		`line 2: duration: "-1": want`:               {"-world", file("duration.csv", header+"a,q,0,1,-1,0\n")},
		`line 3: job "a" is there twice, first at 2`: {"-world", file("twice.csv", header+"a,q,0,1,60,0\na,q,0,1,60,0\n")},
		`line 2: wrong number of`:                    {"-world", file("fields.csv", header+"a,q\n")},
		`line 2: vc: "": want a name`:                {"-world", file("noqueue.csv", header+"a,,0,1,60,0\n")},
		`line 2: job_type: "x": want`:                {"-world", file("class.csv", "job_id,user,num_gpu,submit_time,duration,job_type\n1,vc_a,1,0,5,x\n")},
		`line 2: qos: "Best": want`:                  {"-world", file("qos.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\np,1,1,1,1000,Best,0,9,1\n")},
		`line 1: there is no column`:                 {"-world", never, "-quotas", file("quotas.csv", "vc,nodes\nq,1\n")},
		`line 2: scale_factor: "": want a number`:    {"-world", file("nogpus.csv", header+"a,q,0,,60,0\n")},
		`line 2: scale_factor: ".": want a number`:   {"-world", file("point.csv", header+"a,q,0,.,60,0\n")},
		`line 2: num_gpu: "": want a number`:         {"-world", file("blank.csv", "job_id,user,num_gpu,submit_time,duration,job_type\n1,vc_a, ,0,5,best\n")},
		`line 1: more than 1 MiB in one row`:         {"-world", file("long.csv", strings.Repeat(" ", 3<<20))},
		`line 2: more than 1 MiB in one row`:         {"-world", file("quoted.csv", header+`"`+strings.Repeat("x\n", 1<<20)+"\n")},
		`line 3: more than 1 MiB in one row`:         {"-world", file("stray.csv", header+"a,q,0,1,60,0\n"+`x"`+strings.Repeat(",", 2<<20)+"\n")},
		`longquotas.csv: line 2: more than 1 MiB`:    {"-world", never, "-quotas", file("longquotas.csv", "vc,node num\n"+strings.Repeat(",", 2<<20))},
		`all quotas are zero`:                        {"-world", never, "-quotas", file("zero.csv", "vc,node num\nq,0\n")},
		`the gzip is damaged: `:                      {"-world", file("no.csv.gz", "\x1f\x8b"+header)},
		`-qos is for worlds`:                         {"-qos", "x.txt"},
		`-qos has no meaning with -cluster`:          {"-world", never, "-qos", "x", "-cluster", "y"},
		`no job has a QOS`:                           {"-world", never, "-qos", file("qos.txt", "Name|Preempt\nhigh|low\nlow|\n")},
		`qos.bad: line 2: PreemptExemptTime: "soon"`: {"-world", never, "-qos", file("qos.bad", "Name|Preempt|PreemptExemptTime\nhigh|low|soon\n")},
		`this is what squeue prints`:                 {"-world", file("squeue.txt", "  JOBID PARTITION NAME\n  1 gpu a\n")},
		`-cluster is for worlds`:                     {"-cluster", "x.yaml"},
		`-quotas has no meaning with -cluster`:       {"-world", never, "-quotas", "x", "-cluster", "y"},
		`there is no ClusterQueue`:                   {"-world", never, "-cluster", file("cohort.yaml", "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: a}\n")},
		`gpus: "0": want 1 to`:                       {"-world", never + "+gpus=0"},
		`gpus.a100: no job is of that flavor`:        {"-world", never + "+gpus.a100=8"},
	} {
		if status, stdout, stderr := call(t, args...); status != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
	_, help, _ := call(t, "-h")
	golden.Help(t, help)
	if status, stdout, _ := call(t, "-words"); status != 0 || !strings.Contains(help, "-results") || !strings.Contains(stdout, "+checkpoint=") || !strings.Contains(stdout, "wait=TIME") {
		t.Errorf("-h: status %d, %q", status, stdout)
	}
	// No: with one percent of the peak there is no GPU at all.
	status, stdout, stderr := call(t, "-world", never+"+capacity=1", "-policy", "greedy")
	if status != 1 || !strings.Contains(stderr, "none of 2 jobs could ever run") || !strings.Contains(stdout, "2 never") {
		t.Errorf("nothing ever runs: status %d, %q, %q", status, stdout, stderr)
	}
	// The quotas of a trace are beside it.
	file("vc_nodes.csv", "vc,node num\nq,1\nother,3\n")
	if status, stdout, stderr := call(t, "-world", never+"+capacity=100", "-policy", "greedy"); status != 0 || strings.Contains(stdout, "never ran") {
		t.Errorf("with quotas beside it: status %d, %q, %q", status, stdout, stderr)
	}
}
