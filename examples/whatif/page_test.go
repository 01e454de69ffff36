package main

import (
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/playground/model"
	"github.com/cedesched/cede/examples/playground/site"
)

// The page holds the cluster of the command line, with its time and sharing.
func TestPage(t *testing.T) {
	build := buildPage
	t.Cleanup(func() { buildPage = build })
	buildPage = func() (site.Programs, error) { return site.Programs{Wasm: []byte("w"), Worker: []byte("s")}, nil }
	file := filepath.Join(t.TempDir(), "report.html")
	status, stdout, stderr := call(nil, "page", "-f", "testdata/input/teams.yaml", "-at", now, "-in", "20m", "-fair", "-workload", "lab/equal", "-o", file)
	if status != 0 || stderr != "" || !strings.Contains(stdout, "report.html holds the page") {
		t.Fatalf("status %d, %s%s", status, stdout, stderr)
	}
	data := must(os.ReadFile(file))(t)
	d := embedded(t, string(data))
	if at := d.Now.Format(time.RFC3339); at != "2026-11-20T12:20:00Z" || !d.Fair || d.Selected != "lab/equal" || d.Name != "testdata/input/teams.yaml" {
		t.Errorf("the page is of %s, fair %v, shows %q of %q", at, d.Fair, d.Selected, d.Name)
	}
	m := must(model.New(d))(t)
	if a := m.Ask(); a == nil || a.Decision == nil {
		t.Errorf("%+v", a)
	}
	status, stdout, stderr = call(nil, "page", "-o", "-")
	if d := embedded(t, stdout); status != 0 || stderr != "" || d.Selected == "" || len(d.Waiting) != 4 {
		t.Errorf("status %d, %s, %d wait", status, stderr, len(d.Waiting))
	}
}

// Without -o the program serves the page itself, and needs nothing that is built.
func TestPageServed(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "")
	url, _ := serves(t, "page")
	ask := func(path, kind, body string) string {
		request := must(http.NewRequest("POST", url+path, strings.NewReader(body)))(t)
		request.Header.Set("Content-Type", kind)
		request.Header.Set("Cede-Page", "a page")
		response := must(http.DefaultClient.Do(request))(t)
		defer response.Body.Close()
		text := must(io.ReadAll(response.Body))(t)
		return string(text)
	}
	if got := ask("/open", "application/octet-stream", ""); got != `{"result":null}`+"\n" {
		t.Errorf("open: %s", got)
	}
	if got := ask("/call/ask", "application/json", "{}"); !strings.Contains(got, "fits once evals/arena-judge (leaving already)") {
		t.Errorf("ask: %s", got)
	}
	status, _, stderr := call(nil, "page", "-o", "report.html")
	if status != 2 || !strings.Contains(stderr, "in a checkout of cede") || !strings.Contains(stderr, "without -o the program serves the page itself") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

func embedded(t *testing.T, page string) model.Document {
	t.Helper()
	found := regexp.MustCompile(`id="embedded-document">([^<]+)<`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page has no document")
	}
	unzipped := must(gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(found[1]))))(t)
	return must(model.Read(unzipped, "", time.Time{}))(t)
}

func TestPageErrors(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"page", "-workload", "vision/detector-trian", "-o", "none.html"}, `no workload "vision/detector-trian" waits in the input; the nearest: vision/detector-train`},
		{[]string{"page", "-f", "/nonexistent", "-o", "none.html"}, "no such file"},
		{[]string{"page", "-addr", "0.0.0.0:80"}, `-addr "0.0.0.0:80": want an address of this machine alone`},
		{[]string{"page", "-o", "report.txt"}, "want a file whose name ends in .html"},
		{[]string{"page", "extra"}, "unexpected argument"},
	} {
		status, stdout, stderr := call(nil, c.args...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, %s%s", c.args, status, stdout, stderr)
		}
	}
	if _, err := os.Stat("none.html"); err == nil {
		t.Error("a page was written")
	}
}
