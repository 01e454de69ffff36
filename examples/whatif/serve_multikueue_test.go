package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bodyOf is the body that asks about a situation.
func bodyOf(t *testing.T, w world, more map[string]any) string {
	t.Helper()
	body := map[string]any{"now": asked}
	var list []any
	for _, name := range []string{"c", "b", "a"} { // in any order
		if items, is := w[name]; is {
			list = append(list, map[string]any{"name": name, "objects": map[string]any{"apiVersion": "v1", "kind": "List", "items": items}})
		}
	}
	body["manager"], body["workers"] = w["manager"], list
	for name, value := range more {
		body[name] = value
	}
	return string(must(json.Marshal(body))(t))
}

func post(t *testing.T, url, body string) (status int, answer string) {
	t.Helper()
	r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(body))))(t)
	a := must(http.DefaultClient.Do(r))(t)
	defer a.Body.Close()
	return a.StatusCode, string(must(io.ReadAll(a.Body))(t))
}

// Over HTTP every situation has the answer that the command has.
func TestServeMultiKueue(t *testing.T) {
	url, _ := served(t)
	plain := func(text string) (v any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return v
	}
	dirs := must(filepath.Glob(filepath.Join(situations, "[0-9]*")))(t)
	for _, dir := range dirs {
		for _, asks := range [][]string{nil, {"until", "30m"}, {"order", "Cheapest", "grace", "1m", "until", "30m"}} {
			args, more := append(arguments(t, dir), "-o", "json"), map[string]any{}
			for i := 0; i+1 < len(asks); i += 2 {
				args, more[asks[i]] = append(args, "-"+asks[i], asks[i+1]), asks[i+1]
			}
			_, want, _ := call(nil, args...)
			status, got := post(t, url+"/v1/multikueue", bodyOf(t, worldOf(t, filepath.Base(dir)), more))
			if diff := cmp.Diff(plain(want), plain(got)); status != http.StatusOK || diff != "" {
				t.Errorf("%s: status %d, - command, + HTTP:\n%s", dir, status, diff)
			}
		}
	}
	if len(dirs) != 10 {
		t.Errorf("%d situations", len(dirs))
	}
}

// What is wrong with a body is said with its path, and a workload that was not sent out is not there.
func TestServeMultiKueueRefuses(t *testing.T) {
	url, _ := served(t, "-max-body", "1000000")
	w := worldOf(t, "03-victims-leaving")
	long := map[string]any{"workload": strings.Repeat("x", 1_000_000)}
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"nothing":              {`{}`, 400, `{"path":"manager","problem":"is missing`},
		"no worker":            {bodyOf(t, w, map[string]any{"workers": []any{}}), 400, `{"path":"workers","problem":"is empty`},
		"a worker twice":       {bodyOf(t, w, map[string]any{"workers": []any{map[string]any{"name": "a"}, map[string]any{"name": "a"}}}), 400, `{"path":"workers[1].name","problem":"\"a\" is there twice"}`},
		"no objects":           {bodyOf(t, w, map[string]any{"workers": []any{map[string]any{"name": "a"}}}), 400, `{"path":"workers[0].objects","problem":"is missing"}`},
		"objects of no kind":   {bodyOf(t, w, map[string]any{"manager": "x"}), 400, `"path":"manager"`},
		"a timeout of zero":    {bodyOf(t, w, map[string]any{"timeout": "0s"}), 400, `{"path":"timeout","problem":"0s: want more than 0`},
		"a number for a time":  {bodyOf(t, w, map[string]any{"until": 5}), 400, "until"},
		"to leave, not played": {bodyOf(t, w, map[string]any{"leave": "1m"}), 400, `{"path":"leave"`},
		"an unknown order":     {bodyOf(t, w, map[string]any{"order": "x"}), 400, "order"},
		"a negative grace":     {bodyOf(t, w, map[string]any{"grace": "-1s"}), 400, `{"path":"grace"`},
		"a cost of nothing":    {bodyOf(t, w, map[string]any{"cost": []string{""}}), 400, `{"path":"cost[0]"`},
		"an unknown field":     {bodyOf(t, w, map[string]any{"none": 1}), 400, "none"},
		"an unknown worker":    {bodyOf(t, w, map[string]any{"workers": []any{map[string]any{"name": "z", "objects": w["a"]}}}), 400, "worker z: the manager has no MultiKueueCluster of that name; it has a, b"},
		"an unknown workload":  {bodyOf(t, w, map[string]any{"workload": "team-speech/none"}), 404, "not among those that the manager sent out; the nearest: team-speech/job-asr"},
		"too much":             {bodyOf(t, w, long), 413, "more than 1000000 bytes"},
	} {
		if status, got := post(t, url+"/v1/multikueue", c.body); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: status %d, %s, want %s", name, status, got, c.want)
		}
	}
}
