package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// fakeKubectl puts a kubectl on the PATH that writes down how it was called, and answers a
// get of the configuration with one text and any other with another.
func fakeKubectl(t *testing.T, objects, configuration, rest string) (calls func() []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake is a shell script")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"objects": objects, "configuration": configuration} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\necho \"$@\" >> '" + dir + "/calls'\n" +
		"case \"$*\" in *preemption*) echo \"error: ${FAKE_ERROR:-the server doesn't have a resource type}\" >&2; exit 1;; *configmap*) cat '" + dir + "/configuration'; exit 0;; *topologies* | *namespaces*) if [ -n \"$FAKE_NODES\" ]; then cat \"$FAKE_NODES\"; exit 0; fi; echo \"error: nodes are forbidden\" >&2; exit 1;; esac\ncat '" + dir + "/objects'\n" + rest + "\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() []string {
		text, _ := os.ReadFile(filepath.Join(dir, "calls"))
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		slices.Sort(lines) // they run side by side
		return lines
	}
}

const configMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kueue-manager-config","namespace":"kueue-system"},
"data":{"controller_manager_config.yaml":"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {}\n"}}`

// With -live the cluster is what kubectl get prints, and no verb of kubectl but get is run.
func TestLive(t *testing.T) {
	const kinds = "clusterqueues,cohorts,localqueues,resourceflavors,workloads.kueue.x-k8s.io"
	for name, c := range map[string]struct {
		objects, configuration string
		args, calls            []string
		status                 int
		want, more             string // more: how rules are asked for
	}{
		"the cluster": {smallCluster, "", []string{"-live"},
			[]string{"get " + kinds + " -o json -A", "get configmap kueue-manager-config -n kueue-system --ignore-not-found -o json"}, 0, "It asks for 2 cpu", "-A"},
		"its configuration": {smallCluster, configMap, []string{"-live"},
			[]string{"get " + kinds + " -o json -A", "get configmap kueue-manager-config -n kueue-system --ignore-not-found -o json"}, 0, "decided by fair sharing because of ConfigMap", "-A"},
		"context and namespace": {smallCluster, "", []string{"-context", "east", "-n", "a", "-workload", "a/next"},
			[]string{"get " + kinds + " -o json --context east -n a", "get configmap kueue-manager-config -n kueue-system --ignore-not-found -o json --context east"}, 3,
			"Whether a/next fits is unknown: only namespace a was read: what workloads of other namespaces hold does not count.\n", "--context east -n a"},
		"KAI": {kaiCluster, "", []string{"-live", "-scheduler", "kai", "-at", "2026-11-20T12:02:00Z"},
			[]string{"get queues.scheduling.run.ai,podgroups.scheduling.run.ai,bindrequests.scheduling.run.ai,pods,nodes,priorityclasses -o json -A"}, 0, "b/train", ""},
	} {
		t.Run(name, func(t *testing.T) {
			calls := fakeKubectl(t, c.objects, c.configuration, "")
			status, stdout, stderr := call(strings.NewReader("a pipe that is not read"), c.args...)
			if status != c.status || stderr != "" || !strings.Contains(stdout, c.want) {
				t.Errorf("status %d, %q, want %q:\n%s", status, stderr, c.want, stdout)
			}
			if c.more != "" {
				for _, kind := range rulesKinds {
					c.calls = append(c.calls, "get "+kind+" -o json "+c.more)
				}
				slices.Sort(c.calls)
			}
			if got := calls(); !slices.Equal(got, c.calls) {
				t.Errorf("calls %q, want %q", got, c.calls)
			}
		})
	}
}

// What kubectl says about its failure is the error.
func TestLiveFails(t *testing.T) {
	for name, c := range map[string]struct{ objects, rest, want string }{
		"refused":      {"", "echo 'The connection to the server was refused' >&2; echo more >&2; exit 1", "whatif: kubectl: The connection to the server was refused\n"},
		"forbidden":    {smallCluster, "echo 'Error from server (Forbidden): workloads' >&2; exit 1", "whatif: kubectl: Error from server (Forbidden): workloads\n"},
		"says nothing": {"", "exit 3", "whatif: kubectl: exit status 3\n"},
		"no objects":   {`{"kind":"List","items":[]}`, "", "whatif: there are no objects of Kueue or KAI in the input"},
	} {
		fakeKubectl(t, c.objects, "", c.rest)
		status, stdout, stderr := call(nil, "-live")
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q, %q", name, status, stdout, stderr)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if status, _, stderr := call(nil, "-live"); status != 2 || stderr != "whatif: kubectl is not on the PATH\n" {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// Rules and limits that may not be read are each said to be missing.
func TestLiveRulesForbidden(t *testing.T) {
	fakeKubectl(t, smallCluster, "", "")
	t.Setenv("FAKE_ERROR", "you may not list these")
	status, stdout, stderr := call(nil, "-live", "overview")
	for _, kind := range rulesKinds {
		want := kind + " were not read (kubectl: error: you may not list these): decided without them."
		if status == 2 || stderr != "" || !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
			t.Errorf("status %d, %q, want %q:\n%s", status, stderr, want, stdout)
		}
	}
}

// As a plugin of kubectl the program reads from kubectl by itself, unless it is given a
// cluster; usage and help have the name of the plugin.
func TestPlugin(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/bin/whatif": "whatif", "/tmp/go-build/exe/whatif": "whatif", "kubectl-": "whatif",
		"/usr/local/bin/kubectl-cede": "kubectl cede", "kubectl-ce_de.exe": "kubectl ce-de",
	} {
		if name, plugin := nameOf(path); name != want || plugin != (want != "whatif") {
			t.Errorf("%s: %q, %v", path, name, plugin)
		}
	}
	calls := fakeKubectl(t, smallCluster, "", "")
	plugin := func(piped string, args ...string) (status int, stdout, stderr string) {
		var out, err strings.Builder
		std := stdio{out: &out, err: &err, name: "kubectl cede", plugin: true, clock: noon}
		if piped != "" {
			std.in = strings.NewReader(piped)
		}
		return run(args, std), out.String(), err.String()
	}
	for _, c := range []struct {
		piped string
		args  []string
		want  string
		reads bool
	}{
		{"", nil, "a/next fits", true},
		{kaiCluster, []string{"-at", "2026-11-20T12:02:00Z"}, "b/train", false},
		{"", []string{"-live=false"}, "vision/detector-train fits", false},
		{"", []string{"-h"}, "\n  kubectl cede VERB [flags]\n", false},
		{"", []string{"ask", "-h"}, "\n  kubectl cede -live -workload", false},
		{"", []string{"completion", "kubectl"}, "exec kubectl cede __complete \"$@\"\n", false},
		{"", []string{"completion", "bash"}, "bash completion V2 for kubectl-cede", false},
	} {
		before := len(calls())
		status, stdout, stderr := plugin(c.piped, c.args...)
		if status != 0 && c.piped == "" || !strings.Contains(stdout, c.want) || (len(calls()) > before) != c.reads {
			t.Errorf("%q: status %d, %q, calls %q:\n%s", c.args, status, stderr, calls(), stdout)
		}
	}
	if _, _, stderr := plugin("", "-frobnicate"); stderr != "kubectl cede: unknown flag: --frobnicate; usage: kubectl cede [flags]; kubectl cede -h lists them\n" {
		t.Errorf("%q", stderr)
	}
}

// The scripts of all shells, what a shell asks for, and what is refused.
func TestCompletion(t *testing.T) {
	for shell, want := range map[string]string{"bash": "__start_whatif", "zsh": "#compdef whatif", "fish": "complete -c whatif"} {
		if status, stdout, stderr := call(nil, "completion", shell); status != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: status %d, %q", shell, status, stderr)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{""}, "ask\t"},
		{[]string{"--work"}, "--workload\t"},
		{[]string{"ask", "--scheduler", ""}, "kueue\nkai\n"},
		{[]string{"-o", ""}, "text\nwide\njson\nyaml\nname\n"},
		{[]string{"completion", ""}, "bash\nzsh\nfish\n"},
		{[]string{"ask", "--workload", "vision/"}, "vision/detector-train\n:4"},
		{[]string{"explain", "-f", "testdata/input/teams.yaml", "--workload", "lab/e"}, "lab/equal\n"},
		{[]string{"overview", "--queue", "v"}, "vision\nvision/"},
		{[]string{"overview", "-f", "testdata/none", "--queue", "v"}, ":1\n"},
	} {
		if status, stdout, _ := call(nil, append([]string{"__complete"}, c.args...)...); status != 0 || !strings.Contains(stdout, c.want) {
			t.Errorf("%q: status %d, %q", c.args, status, stdout)
		}
	}
	for _, args := range [][]string{{"completion"}, {"completion", "tcsh"}, {"completion", "kubectl"}, {"completion", "bash", "zsh"}, {"completion", "-x"}} {
		if status, stdout, stderr := call(nil, args...); status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
}

// Where a flavor has a topology, -live reads topologies, nodes and pods too; of one namespace no nodes.
func TestLiveNodes(t *testing.T) {
	r := racked{nominal: 16, nodes: "h0 h1 h2 h3", runs: []string{"low 1 1 h0", "high 9 1 h2"}, pods: busy("h0", 0, ""), ask: "{required: rack}", count: 2, gpus: 4}
	var quota, nodes []string
	for _, line := range strings.SplitAfter(r.yaml(), "\n- ") {
		switch one := "- " + strings.TrimSuffix(line, "- "); {
		case !strings.Contains(one, "apiVersion: ") || strings.Contains(one, "kind: List"):
		case strings.Contains(one, "kind: Node") || strings.Contains(one, "kind: Pod") || strings.Contains(one, "kind: Topology,"):
			nodes = append(nodes, one)
		default:
			quota = append(quota, one)
		}
	}
	list := func(items []string) string { return "apiVersion: v1\nkind: List\nitems:\n" + strings.Join(items, "") }
	file := filepath.Join(t.TempDir(), "nodes")
	if err := os.WriteFile(file, []byte(list(nodes)), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := fakeKubectl(t, list(quota), "", "")
	const get = "get topologies.kueue.x-k8s.io,nodes,pods -o json -A"
	for _, c := range []struct {
		file   string
		args   []string
		status int
		begins string
		has    string
	}{
		{file, nil, 0, "team/new fits once team/low", "team/low"},
		{"", nil, 3, "Whether team/new fits is unknown: ", "topologies.kueue.x-k8s.io,nodes,pods were not read (kubectl: error: nodes are forbidden): what depends on them is not known"},
		{file, []string{"-n", "team"}, 3, "Whether team/new fits is unknown: ", "only namespace team was read"},
	} {
		t.Setenv("FAKE_NODES", c.file)
		before := len(calls())
		status, stdout, stderr := call(nil, append([]string{"-live", "-workload", "team/new", "-at", now}, c.args...)...)
		if status != c.status || !strings.HasPrefix(stdout, c.begins) || !strings.Contains(strings.Join(strings.Fields(stdout), " "), c.has) || stderr != "" {
			t.Errorf("%+v: status %d, %q:\n%s", c, status, stderr, stdout)
		}
		if asked := slices.Contains(calls()[:], get); !asked || len(calls()) == before {
			t.Errorf("calls %q", calls())
		}
	}
	if got := calls(); len(got) != 3*4+3 {
		t.Errorf("%d calls: %q", len(got), got)
	}
}

// Where a queue selects namespaces by their labels, -live reads namespaces too.
func TestLiveNamespaces(t *testing.T) {
	cluster := strings.Replace(smallCluster, `"namespaceSelector":{}`, `"namespaceSelector":{"matchLabels":{"team":"x"}}`, 1)
	for team, want := range map[string]struct {
		status int
		begins string
	}{"x": {0, "a/next fits once "}, "y": {1, "a/next is held: "}, "": {3, "Whether a/next fits is unknown: "}} {
		file := filepath.Join(t.TempDir(), "namespaces")
		text := `{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","labels":{"team":"` + team + `"}}}]}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("FAKE_NODES", file)
		if team == "" {
			t.Setenv("FAKE_NODES", "")
		}
		calls := fakeKubectl(t, cluster, "", "")
		status, stdout, stderr := call(nil, "-live", "-workload", "a/next", "-at", now)
		if status != want.status || !strings.HasPrefix(stdout, want.begins) || !slices.Contains(calls(), "get namespaces -o json -A") {
			t.Errorf("%q: status %d, calls %q:\n%s%s", team, status, calls(), stdout, stderr)
		}
	}
}
