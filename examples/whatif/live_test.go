package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/bridge/kueue"
)

// apiServer is a cluster that is read by its API.
type apiServer struct {
	t       *testing.T
	objects []map[string]any
	// forbidden are resources that may not be listed in all namespaces, and with a star in none.
	forbidden []string
	mu        sync.Mutex
	asked     []string
}

// fakeCluster serves objects as an API server does, in every context of a configuration that the program finds. What is asked of it:
// CONTEXT: RESOURCE, with the namespace and the user that are named.
func fakeCluster(t *testing.T, objects string, forbidden ...string) (calls func() []string) {
	t.Helper()
	s := &apiServer{t: t, forbidden: forbidden}
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(objects), 1<<20); ; {
		var o map[string]any
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if items, is := o["items"].([]any); is {
			for _, item := range items {
				s.objects = append(s.objects, item.(map[string]any))
			}
			continue
		}
		s.objects = append(s.objects, o)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	configure(t, server.URL)
	return func() []string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Clone(s.asked)
	}
}

// configure writes a configuration of kubectl with three contexts at an address.
func configure(t *testing.T, url string) {
	t.Helper()
	text := "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
	clusters, contexts := "clusters:\n", "contexts:\n"
	for _, name := range []string{"here", "hub", "east", "west"} {
		clusters += "- {name: " + name + ", cluster: {server: '" + url + "/" + name + "'}}\n"
		contexts += "- {name: " + name + ", context: {cluster: " + name + ", user: me, namespace: a}}\n"
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text+clusters+contexts+"users: [{name: me, user: {token: x}}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	context, group, rest := parts[0], "", parts[3:] // CONTEXT/api/v1/...
	if parts[1] == "apis" {
		group, rest = parts[2], parts[4:]
	}
	version := parts[len(parts)-len(rest)-1]
	namespace := ""
	if len(rest) > 2 && rest[0] == "namespaces" {
		namespace, rest = rest[1], rest[2:]
	}
	all := slices.Concat(followed, placed, ofManagers, listedOfKAI, ofNodes)
	at := slices.IndexFunc(all, func(one resource) bool { return one.name == rest[0] && one.versions[0].Group == group })
	fail := func(code int, reason, message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%q,"code":%d}`, reason, message, code)
	}
	if at < 0 || r.Method != http.MethodGet {
		s.t.Errorf("%s %s", r.Method, r.URL)
		fail(http.StatusNotFound, "NotFound", "there is no such thing")
		return
	}
	of := all[at]
	var items []any
	installed := group != kueue.Group && group != kai.Group
	for _, o := range s.objects {
		head, _ := o["metadata"].(map[string]any)
		apiVersion, _ := o["apiVersion"].(string)
		its, _, grouped := strings.Cut(apiVersion, "/")
		installed = installed || its == group
		if o["kind"] == of.kind && (its == group || !grouped && group == "") && (namespace == "" || head["namespace"] == namespace) {
			items = append(items, o)
		}
	}
	if may := strings.HasPrefix(of.name, "preemption") || strings.HasPrefix(of.name, "multikueue"); may && len(items) == 0 || !installed || version != of.versions[0].Version {
		fail(http.StatusNotFound, "NotFound", "the server could not find the requested resource")
		return
	}
	call := context + ": " + of.full()
	if namespace != "" {
		call += " in " + namespace
	}
	if user := r.Header.Get("Impersonate-User"); user != "" {
		call += " as " + user
	}
	s.mu.Lock()
	s.asked = append(s.asked, call)
	s.mu.Unlock()
	if slices.Contains(s.forbidden, of.name+"*") || namespace == "" && slices.Contains(s.forbidden, of.name) {
		fail(http.StatusForbidden, "Forbidden", of.full()+" is forbidden: not you")
		return
	}
	first, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	next := ""
	if limit, _ := strconv.Atoi(r.URL.Query().Get("limit")); limit > 0 && first+limit < len(items) {
		next, items = strconv.Itoa(first+limit), items[:first+limit]
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": strings.Trim(group+"/"+version, "/"), "kind": of.kind + "List", "metadata": map[string]any{"continue": next}, "items": items[first:],
	})
}

const configMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kueue-manager-config","namespace":"kueue-system"},
"data":{"controller_manager_config.yaml":"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {}\n"}}`

const kaiShard = `{"apiVersion":"kai.scheduler/v1","kind":"SchedulingShard","metadata":{"name":"default"},"spec":{"placementStrategy":{"gpu":"spread"}}}`

// With -live the cluster is what its API lists, in the context and as the user that kubectl's flags name; -n names what is asked about.
func TestLive(t *testing.T) {
	for name, c := range map[string]struct {
		objects string
		args    []string
		status  int
		want    string
		call    string // one of the calls
	}{
		"the cluster":       {smallCluster, []string{"ask", "-live"}, 0, "It asks for 2 cpu", "here: workloads.kueue.x-k8s.io"},
		"its configuration": {smallCluster + configMap, []string{"ask", "-live"}, 0, "decided by fair sharing because of ConfigMap", "here: configmaps in kueue-system"},
		"of a context":      {smallCluster, []string{"ask", "-context", "east"}, 0, "It asks for 2 cpu", "east: clusterqueues.kueue.x-k8s.io"},
		"of a cluster":      {smallCluster, []string{"ask", "-cluster", "west"}, 0, "It asks for 2 cpu", "west: cohorts.kueue.x-k8s.io"},
		"as somebody":       {smallCluster, []string{"ask", "--as=jane", "--as-group=dev"}, 0, "It asks for 2 cpu", "here: workloads.kueue.x-k8s.io as jane"},
		"in a namespace":    {smallCluster, []string{"why", "next", "-n", "a"}, 0, "a/next fits once a/runs", "here: workloads.kueue.x-k8s.io"},
		"of this namespace": {smallCluster, []string{"why", "-live", "next"}, 0, "a/next fits once a/runs", "here: workloads.kueue.x-k8s.io"},
		"nothing waits":     {strings.ReplaceAll(smallCluster, `"name":"next","namespace":"a"`, `"name":"next","namespace":"c"`), []string{"overview", "-n", "a"}, 0, "No workload waits in namespace a.", "here: workloads.kueue.x-k8s.io"},
		"without a verb":    {smallCluster, []string{"-live"}, 0, "1 workload waits.", "here: workloads.kueue.x-k8s.io"},
		"KAI":               {kaiCluster, []string{"ask", "-live", "-scheduler", "kai", "-at", "2026-11-20T12:02:00Z"}, 0, "b/train", "here: podgroups.scheduling.run.ai"},
		"KAI's settings":    {kaiCluster + kaiShard, []string{"ask", "-live", "-scheduler", "kai"}, 3, "spec.placementStrategy.gpu", "here: schedulingshards.kai.scheduler"},
		"KAI alone":         {withoutKueue(kaiCluster), []string{"ask", "-live", "-at", "2026-11-20T12:02:00Z"}, 0, "b/train", "here: podgroups.scheduling.run.ai"},
	} {
		t.Run(name, func(t *testing.T) {
			calls := fakeCluster(t, c.objects)
			status, stdout, stderr := call(strings.NewReader("a pipe that is not read"), append([]string{"-live"}, c.args...)...)
			if status != c.status || stderr != "" || !strings.Contains(stdout, c.want) {
				t.Errorf("status %d, %q, want %q:\n%s", status, stderr, c.want, stdout)
			}
			if got := calls(); !slices.Contains(got, c.call) && !slices.Contains(got, c.call+" in a") {
				t.Errorf("calls %q, want %q", got, c.call)
			}
		})
	}
}

// A server gives its objects page by page, and all of them are read.
func TestLivePages(t *testing.T) {
	one := smallCluster[strings.Index(smallCluster, `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"next"`):]
	one = strings.TrimSuffix(strings.TrimSpace(one), "]}")
	objects := smallCluster
	for i := range 2*pageSize + 1 {
		objects += "\n" + strings.Replace(one, `"next"`, fmt.Sprintf(`"next-%d"`, i), 1)
	}
	fakeCluster(t, objects)
	if status, stdout, stderr := call(nil, "overview", "-live"); status == 2 || !strings.HasPrefix(stdout, "1002 workloads wait.") {
		t.Errorf("status %d, %s: %.200s", status, stderr, stdout)
	}
}

// Why a cluster cannot be read is the error, in one line.
func TestLiveFails(t *testing.T) {
	fakeCluster(t, configMap)
	for want, args := range map[string][]string{
		"the server has no clusterqueues.kueue.x-k8s.io": {"-live"},
		`context "nowhere" does not exist`:               {"-context", "nowhere"},
		"no such file":                                   {"-kubeconfig", "testdata/none"},
	} {
		if status, stdout, stderr := call(nil, args...); status != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
	configure(t, "http://127.0.0.1:1")
	if status, _, stderr := call(nil, "-live"); status != 2 || !strings.Contains(stderr, "connection refused") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// What may not be read is named with the right that is missing; the rest is answered as far as it is known.
func TestLiveWithFewerRights(t *testing.T) {
	for name, c := range map[string]struct {
		forbidden []string
		args      []string
		status    int
		begins    string
		has       string
	}{
		"workloads of other namespaces": {[]string{"workloads", "localqueues"}, []string{"why", "a/next"}, 3, "Whether a/next fits is unknown: the right to list workloads.kueue.x-k8s.io in all namespaces is missing",
			"the right to list workloads.kueue.x-k8s.io in all namespaces is missing: only namespace a was read"},
		"by name in this namespace": {[]string{"workloads", "localqueues"}, []string{"why", "next"}, 3, "Whether a/next fits is unknown: ", "As far as is known, it fits once a/runs yields."},
		"queues":                    {[]string{"clusterqueues*"}, []string{"why", "a/next"}, 3, "Whether a/next fits is unknown: the right to list clusterqueues.kueue.x-k8s.io is missing", ""},
		"rules": {[]string{"preemptionconfigs*"}, []string{"overview"}, 3, "1 workload waits.",
			"the right to list preemptionconfigs.kueue.x-k8s.io is missing: what depends on them is not known"},
		"the configuration": {[]string{"configmaps*"}, []string{"why", "a/next"}, 0, "a/next fits once a/runs yields.",
			"the right to get configmaps/kueue-manager-config in namespace kueue-system is missing: whether sharing is fair is known from the queues alone"},
		"nothing": {[]string{"clusterqueues*", "resourceflavors*", "cohorts*", "workloads*", "localqueues*", "topologies*", "admissionchecks*", "configmaps*"}, []string{"why", "a/next"}, 2, "",
			"the right to list clusterqueues.kueue.x-k8s.io is missing"},
	} {
		objects := smallCluster
		if name == "rules" {
			objects += `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"PreemptionConfig","metadata":{"name":"x"}}`
		}
		fakeCluster(t, objects, c.forbidden...)
		status, stdout, stderr := call(nil, append([]string{"-live"}, c.args...)...)
		if status != c.status || !strings.HasPrefix(stdout, c.begins) || !strings.Contains(strings.Join(strings.Fields(stdout+stderr), " "), c.has) {
			t.Errorf("%s: status %d, %q:\n%s", name, status, stderr, stdout)
		}
	}
}

// withoutKueue leaves out what only looks like Kueue's.
func withoutKueue(objects string) string {
	return strings.ReplaceAll(objects, "kueue.x-k8s.io", "example.com")
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
	calls := fakeCluster(t, smallCluster)
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
		{"", nil, "1 workload waits.", true},
		{"", []string{"why", "a/next"}, "a/next fits", true},
		{"", []string{"a/next"}, "a/next fits", true},
		{kaiCluster, []string{"-at", "2026-11-20T12:02:00Z"}, "b/train", false},
		{"", []string{"-live=false"}, "vision/detector-train fits", false},
		{"", []string{"-h"}, "\n  kubectl cede VERB [flags]\n", false},
		{"", []string{"ask", "-h"}, "\n  kubectl cede ask vision/detector-train -in 20m", false},
		{"", []string{"completion", "kubectl"}, "exec kubectl cede __complete \"$@\"\n", false},
		{"", []string{"completion", "bash"}, "bash completion V2 for kubectl-cede", false},
	} {
		before := len(calls())
		status, stdout, stderr := plugin(c.piped, c.args...)
		if status != 0 && c.piped == "" || !strings.Contains(stdout, c.want) || (len(calls()) > before) != c.reads {
			t.Errorf("%q: status %d, %q, calls %q:\n%s", c.args, status, stderr, calls(), stdout)
		}
	}
	if _, _, stderr := plugin("", "-frobnicate"); stderr != "kubectl cede: unknown flag: --frobnicate; usage: kubectl cede [NAMESPACE/NAME] [flags]; kubectl cede -h lists them\n" {
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
	for _, c := range []struct {
		forbidden []string
		args      []string
		status    int
		begins    string
		has       string
	}{
		{nil, nil, 0, "team/new fits once team/low", "team/low"},
		{[]string{"nodes*"}, nil, 3, "Whether team/new fits is unknown: ", "the right to list nodes is missing: what depends on them is not known"},
		{[]string{"topologies*"}, nil, 3, "Whether team/new fits is unknown: ", "the right to list topologies.kueue.x-k8s.io is missing"},
		{[]string{"workloads", "localqueues"}, []string{"-n", "team"}, 3, "Whether team/new fits is unknown: ", "only namespace team was read"},
	} {
		calls := fakeCluster(t, r.yaml(), c.forbidden...)
		status, stdout, stderr := call(nil, append([]string{"-live", "-workload", "team/new", "-at", now}, c.args...)...)
		if status != c.status || !strings.HasPrefix(stdout, c.begins) || !strings.Contains(strings.Join(strings.Fields(stdout), " "), c.has) || stderr != "" {
			t.Errorf("%+v: status %d, %q:\n%s", c, status, stderr, stdout)
		}
		if asked := slices.Contains(calls(), "here: pods"); asked != (len(c.args) == 0) {
			t.Errorf("%q: calls %q", c.forbidden, calls())
		}
	}
}

// Where a queue selects namespaces by their labels, -live reads namespaces too.
func TestLiveNamespaces(t *testing.T) {
	cluster := strings.Replace(smallCluster, `"namespaceSelector":{}`, `"namespaceSelector":{"matchLabels":{"team":"x"}}`, 1)
	for team, want := range map[string]struct {
		status int
		begins string
	}{"x": {0, "a/next fits once "}, "y": {1, "a/next is held: "}, "": {3, "Whether a/next fits is unknown: "}} {
		objects := cluster + `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","labels":{"team":"` + team + `"}}}`
		var forbidden []string
		if team == "" {
			forbidden = []string{"namespaces*"}
		}
		calls := fakeCluster(t, objects, forbidden...)
		status, stdout, stderr := call(nil, "-live", "-workload", "a/next", "-at", now)
		if status != want.status || !strings.HasPrefix(stdout, want.begins) || !slices.Contains(calls(), "here: namespaces") {
			t.Errorf("%q: status %d, calls %q:\n%s%s", team, status, calls(), stdout, stderr)
		}
	}
}
