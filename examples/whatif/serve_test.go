package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/dynamic"

	"github.com/cedesched/cede/examples/internal/cli"
)

// output is what a program has written so far.
type output struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}

// served runs serve on a free port, and returns its address. In the end it is interrupted, and its status is 0.
func served(t *testing.T, args ...string) (url string, stderr *output) {
	t.Helper()
	return serves(t, append([]string{"serve"}, args...)...)
}

// serves is served for any verb.
func serves(t *testing.T, args ...string) (url string, stderr *output) {
	t.Helper()
	return connected(t, nil, args...)
}

// connected is serves beside a cluster that can be followed.
func connected(t *testing.T, connect func(string) (dynamic.Interface, error), args ...string) (url string, stderr *output) {
	t.Helper()
	var stdout output
	stderr = new(output)
	ctx, interrupt := context.WithCancel(t.Context())
	status := make(chan int, 1)
	go func() {
		status <- run(append(args, "-addr", "127.0.0.1:0"), stdio{out: &stdout, err: stderr, screen: cli.Screen{}, name: "whatif", clock: noon, connect: connect,
			until: func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }})
	}()
	t.Cleanup(func() {
		interrupt()
		if got := <-status; got != 0 {
			t.Errorf("status %d: %s", got, stderr)
		}
	})
	address := regexp.MustCompile(`(?:Answers|The page is) on (http://[0-9.:]+)`)
	for since := time.Now(); ; time.Sleep(time.Millisecond) {
		if found := address.FindStringSubmatch(stdout.String()); found != nil {
			return found[1], stderr
		}
		if time.Since(since) > time.Minute {
			t.Fatalf("it does not serve: %s%s", &stdout, stderr)
		}
	}
}

func get(t *testing.T, url, host string) (status int, body string) {
	t.Helper()
	r := must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	r.Host = host
	answer := must(http.DefaultClient.Do(r))(t)
	defer answer.Body.Close()
	data := must(io.ReadAll(answer.Body))(t)
	return answer.StatusCode, string(data)
}

// Why a workload waits is what explain says. A name that leads here from elsewhere is refused.
func TestServe(t *testing.T) {
	url, _ := served(t)
	_, want, _ := call(nil, "explain", "-o", "json")
	status, got := get(t, url+"/v1/workloads/vision/detector-train/why", "")
	plain := func(text string) string { return strings.Join(strings.Fields(text), "") }
	if status != http.StatusOK || plain(got) != plain(want) {
		t.Errorf("status %d:\n%s\nwant\n%s", status, got, want)
	}
	for path, want := range map[string]string{
		"/v1/workloads/vision/detector/why":     "404 the nearest: vision/detector-train",
		"/v1/workloads/evals/arena-judge/why":   "409 it does not wait: evals/arena-judge holds quota",
		"/v1/workloads/nlp/lora-sweep%0A/why":   "404 ",
		"/v1/workloads/vision%2Fdetector/x/why": "404 ",
	} {
		code, text, _ := strings.Cut(want, " ")
		if status, got := get(t, url+path, ""); fmt.Sprint(status) != code || !strings.Contains(got, text) {
			t.Errorf("%s: status %d, %s, want %s", path, status, got, want)
		}
	}
	if status, _ := get(t, url+"/healthz", "evil.example"); status != http.StatusForbidden {
		t.Errorf("by another name: status %d", status)
	}
}

// What waits in the inputs of the tests and in the samples is answered over HTTP as the command answers.
func TestServeAnswersAsCommand(t *testing.T) {
	files := must(filepath.Glob("testdata/input/*"))(t)
	inputs := [][]string{{"-sample", "cluster"}, {"-sample", "trouble"}, {"-sample", "rules"}}
	for _, f := range files {
		if strings.HasSuffix(f, "escapes.json") { // its names are not printed as they are
			continue
		}
		inputs = append(inputs, []string{"-f", f})
	}
	plain := func(text string) (v any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return v
	}
	asked := 0
	for _, in := range inputs {
		in = append(in, "-at", now)
		_, names, _ := call(nil, append([]string{"overview", "-all", "-o", "name"}, in...)...)
		if names == "" {
			continue
		}
		url, _ := served(t, in...)
		for _, id := range strings.Fields(names) {
			status, want, stderr := call(nil, append([]string{"explain", "-o", "json", "-workload", id}, in...)...)
			if status == 2 {
				t.Errorf("%q %s: %s", in, id, stderr)
				continue
			}
			asked++
			code, got := get(t, url+"/v1/workloads/"+id+"/why", "")
			if diff := cmp.Diff(plain(want), plain(got)); code != http.StatusOK || diff != "" {
				t.Errorf("%q %s: status %d, - command, + HTTP:\n%s", in, id, code, diff)
			}
		}
	}
	if asked < 20 {
		t.Errorf("only %d workloads were asked about", asked)
	}
}

// With -live of KAI the cluster is read again. While it cannot be read, the answers are about the cluster as it was.
func TestServeLive(t *testing.T) {
	fakeCluster(t, kaiCluster)
	url, stderr := served(t, "-live", "-scheduler", "kai", "-refresh", "10ms")
	path := url + "/v1/workloads/a/serve/why"
	if status, got := get(t, path, ""); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, got)
	}
	configure(t, "http://127.0.0.1:1")
	until(t, stderr, "a reading fails", func() bool { return strings.Contains(stderr.String(), "whatif: the cluster was not read again: ") })
	if status, got := get(t, path, ""); status != http.StatusOK {
		t.Errorf("status %d: %s", status, got)
	}
	fakeCluster(t, strings.ReplaceAll(kaiCluster, `"serve"`, `"later"`))
	until(t, stderr, "the workload is another one", func() bool {
		status, _ := get(t, strings.Replace(path, "serve", "later", 1), "")
		return status == http.StatusOK
	})
	if status, got := get(t, path, ""); status != http.StatusNotFound {
		t.Errorf("status %d: %s", status, got)
	}
}

func until(t *testing.T, stderr *output, what string, is func() bool) {
	t.Helper()
	for since := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(since) > time.Minute {
			t.Fatalf("%s: %s", what, stderr)
		}
	}
}

func TestServeUsage(t *testing.T) {
	for want, args := range map[string][]string{
		`-addr ":8018": other machines reach it`:     {"-addr", ":8018"},
		`-addr "0.0.0.0:1": other machines reach it`: {"-addr", "0.0.0.0:1"},
		`-addr "8018": want an address as in`:        {"-addr", "8018"},
		`-max-body 0: want at least 1`:               {"-max-body", "0"},
		`-timeout 0s: want more than 0`:              {"-timeout", "0"},
		`-refresh -1s: want more than 0`:             {"-refresh", "-1s"},
		`testdata/none: no such file`:                {"-f", "testdata/none"},
		`listen tcp: address 99999: invalid port`:    {"-addr", "127.0.0.1:99999"},
	} {
		status, stdout, stderr := call(nil, append([]string{"serve"}, args...)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, %q, want %q", args, status, stdout, stderr, want)
		}
	}
}
