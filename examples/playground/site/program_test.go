package site

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/playground/model"
)

// The program answers pages, each with edits of its own; a request that a page of another origin may send is refused.
func TestProgram(t *testing.T) {
	d, err := model.Sample()
	if err != nil {
		t.Fatal(err)
	}
	h := Program(d)
	ask := func(page, path, kind, body string) (int, string) {
		t.Helper()
		var content io.Reader
		if body != "" {
			content = strings.NewReader(body)
		}
		r := httptest.NewRequest("POST", path, content)
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Cede-Page", page)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const raw, json = "application/octet-stream", "application/json"
	for _, c := range []struct {
		page, path, kind, body string
		status                 int
		want                   string
	}{
		{"a", "/call/ask", json, "{}", 200, `{"error":"too many pages are open: reload this one"}`},
		{"a", "/open", raw, "", 200, `{"result":null}`},
		{"b", "/open", raw, "", 200, `{"result":null}`},
		{"a", "/call/summary", json, "{}", 200, `"pending":4`},
		{"a", "/call/set", json, `{"edits":[{"kind":"sharing","value":"fair"}]}`, 200, `{"result":null}`},
		{"a", "/call/summary", json, "{}", 200, `"fair":true`},
		{"b", "/call/summary", json, "{}", 200, `"fair":false`},
		{"a", "/call/nothing", json, "{}", 200, `{"error":"there is no call \"nothing\""}`},
		{"a", "/call/node", json, "{", 200, `{"error":"unexpected end of JSON input"}`},
		{"a", "/open?name=x.yaml&now=2026-01-01T00:00:00Z", raw, "kind: Pod\nmetadata: {name: a}", 200, "no objects of Kueue or KAI"},
		{"a", "/open?now=noon", raw, "x", 200, "cannot parse"},
		{"a", "/call/summary", "text/plain", "{}", 415, "application/json"},
		{"", "/call/summary", json, "{}", 415, "Cede-Page"},
	} {
		if status, got := ask(c.page, c.path, c.kind, c.body); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %d, %.200s, want %s", c.page, c.path, status, got, c.want)
		}
	}
	for i := range maxPages { // a is the first that is forgotten
		ask(fmt.Sprint(i), "/open", raw, "")
	}
	if _, got := ask("a", "/call/ask", json, "{}"); !strings.Contains(got, "too many pages") {
		t.Errorf("%.200s", got)
	}
	for path, want := range map[string]int{"/": 200, "/main.js": 200, "/cede.wasm.gz": 404, "/worker.js": 404} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want || path == "/" && !strings.Contains(w.Body.String(), `data-engine="program"`) {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
