package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cedesched/cede/examples/internal/cli"
)

// agent starts the program as an agent does, and returns a session with it. In the end the agent goes, and the status is 0.
func agent(t *testing.T, args ...string) *mcp.ClientSession {
	t.Helper()
	fromAgent, toProgram := io.Pipe()
	fromProgram, toAgent := io.Pipe()
	status, stderr := make(chan int, 1), new(output)
	go func() {
		status <- run(append([]string{"mcp"}, args...), stdio{in: fromAgent, out: toAgent, err: stderr, screen: cli.Screen{}, name: "whatif", clock: noon})
		_ = toAgent.Close()
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromProgram, Writer: toProgram}, nil)
	if err != nil {
		t.Fatal(err, stderr)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if got := <-status; got != 0 {
			t.Errorf("status %d: %s", got, stderr)
		}
	})
	return session
}

// use calls a tool, and returns its text.
func use(t *testing.T, session *mcp.ClientSession, name string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatal(name, err)
	}
	text = r.Content[0].(*mcp.TextContent).Text
	if structured, _ := json.Marshal(r.StructuredContent); !r.IsError && !cmp.Equal(decoded(t, string(structured)), decoded(t, text)) {
		t.Errorf("%s: %s is not %s", name, structured, text)
	}
	return text, r.IsError
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// An agent has the answers of serve: the same JSON for the same parameters. Each tool says that it only reads.
func TestAgentsHaveTheAnswersOfServe(t *testing.T) {
	for sample, calls := range map[string][]struct {
		tool      string
		arguments map[string]any
	}{
		"cluster": {
			{"overview", nil}, {"overview", map[string]any{"queue": "nlp", "outcome": []string{"Fits", "Held"}, "limit": 1}}, {"why", map[string]any{"namespace": "vision", "name": "detector-train"}},
			{"ask", map[string]any{"request": "nvidia.com/gpu=8", "queue": "vision", "priority": 900, "count": 2}}, {"next", map[string]any{"cycles": 3}}, {"lint", map[string]any{}},
			{"diff", map[string]any{"quota": "vision:h100:nvidia.com/gpu=64"}}, {"safe", map[string]any{"workload": "recsys/ltv-batch", "requests": "new"}}, {"settle", map[string]any{"quota": []string{"recsys:h100:nvidia.com/gpu=4"}}},
		},
		"kai": {{"drain", map[string]any{"node": []string{"gpu-node-1"}}}, {"next", nil}},
	} {
		session := agent(t, "-sample", sample)
		address, _ := served(t, "-sample", sample)
		listed := must(session.ListTools(t.Context(), nil))(t)
		paths := map[string]string{}
		for _, of := range must(tools())(t) {
			paths[of.OperationID] = of.path
		}
		for _, tool := range listed.Tools {
			if !tool.Annotations.ReadOnlyHint || tool.Description == "" || paths[tool.Name] == "" {
				t.Errorf("%+v", tool)
			}
		}
		if len(listed.Tools) != 9 {
			t.Errorf("%d tools", len(listed.Tools))
		}
		for _, c := range calls {
			path, query := paths[c.tool], url.Values{}
			for name, value := range c.arguments {
				texts := must(textsOf(name, must(json.Marshal(value))(t)))(t)
				if in := "{" + name + "}"; strings.Contains(path, in) {
					path = strings.ReplaceAll(path, in, texts[0])
				} else {
					query[name] = texts
				}
			}
			code, want := get(t, address+path+"?"+query.Encode(), "")
			got, failed := use(t, session, c.tool, c.arguments)
			a, b := decoded(t, want), decoded(t, got)
			for _, of := range []any{a, b} {
				delete(of.(map[string]any), "cluster") // of the process
			}
			if diff := cmp.Diff(a, b); code != http.StatusOK || failed || diff != "" {
				t.Errorf("%s: status %d, - HTTP, + agent:\n%s", c.tool, code, diff)
			}
		}
	}
}

// What is wrong is said in the answer, so that the agent can mend it; the schema of a tool says what it takes.
func TestAgentsAreToldWhatIsWrong(t *testing.T) {
	session := agent(t, "-sample", "cluster")
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"why", map[string]any{"namespace": "vision", "name": "detector"}, "the nearest: vision/detector-train"},
		{"why", map[string]any{"namespace": "evals", "name": "arena-judge"}, "holds quota"},
		{"why", map[string]any{"namespace": "vision/detector-train"}, "name: want one name"},
		{"why", map[string]any{"namespace": "..", "name": "x"}, "namespace: want one name"},
		{"ask", map[string]any{"queue": "vision"}, `{"path":"request","problem":"is missing"}`},
		{"overview", map[string]any{"limit": "many"}, `want a number`},
		{"overview", map[string]any{"limit": true}, `limit: want a text, a number, or a list of them`},
		{"overview", map[string]any{"q": "vision"}, `is not known`},
		{"next", map[string]any{"cycles": 20000}, "cycles 20000: want 1 to 10000"},
	} {
		if text, failed := use(t, session, c.tool, c.arguments); !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s %v: %v, %s, want %s", c.tool, c.arguments, failed, text, c.want)
		}
	}
	for _, tool := range must(session.ListTools(t.Context(), nil))(t).Tools {
		if tool.Name != "ask" {
			continue
		}
		in := tool.InputSchema.(map[string]any)
		count := in["properties"].(map[string]any)["count"].(map[string]any)
		if !cmp.Equal(in["required"], []any{"request", "queue"}) || count["type"] != "integer" || count["description"] == "" {
			t.Errorf("%v", in)
		}
	}
}

func TestAgentUsage(t *testing.T) {
	for _, c := range []struct {
		in   io.Reader
		args []string
		want string
	}{
		{nil, []string{"-sample", "cluster"}, "standard input, and that is a terminal"},
		{strings.NewReader(""), nil, "name the cluster that agents are told about"},
		{strings.NewReader(""), []string{"-f", "testdata/none"}, "no such file"},
		{strings.NewReader(""), []string{"-sample", "cluster", "-timeout", "0"}, "-timeout 0s: want more than 0"},
	} {
		status, stdout, stderr := call(c.in, append([]string{"mcp"}, c.args...)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, %q, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
	if status, stdout, stderr := call(strings.NewReader(""), "mcp", "-sample", "cluster"); status != 0 || stdout != "" || stderr != "" {
		t.Errorf("an agent that goes at once: status %d, %q, %q", status, stdout, stderr)
	}
}

// An agent that is interrupted by the user ends without an error, and with -live its answers follow the cluster.
func TestAgentFollowsTheCluster(t *testing.T) {
	fakeCluster(t, kaiCluster)
	session := agent(t, "-live", "-scheduler", "kai", "-refresh", "10ms")
	why := func(name string) bool {
		_, failed := use(t, session, "why", map[string]any{"namespace": "a", "name": name})
		return !failed
	}
	if !why("serve") {
		t.Fatal("a/serve does not wait")
	}
	fakeCluster(t, strings.ReplaceAll(kaiCluster, `"serve"`, `"later"`))
	until(t, new(output), "the workload is another one", func() bool { return why("later") })
	ctx, interrupt := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- run([]string{"mcp", "-sample", "cluster"}, stdio{in: in, out: io.Discard, err: io.Discard, screen: cli.Screen{}, name: "whatif", clock: noon,
			until: func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }})
	}()
	interrupt()
	_ = in.Close()
	if got := <-status; got != 0 {
		t.Errorf("interrupted: status %d", got)
	}
}
