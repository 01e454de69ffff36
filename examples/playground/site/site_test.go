package site

import (
	"bytes"
	"encoding/base64"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// Outside of a checkout, and without the go tool, Build says what it needs.
func TestBuildFails(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Build(); err == nil || !strings.Contains(err.Error(), "in a checkout of cede") {
		t.Errorf("outside of a checkout: %v", err)
	}
	t.Setenv("PATH", "")
	if _, err := Build(); err == nil || !strings.Contains(err.Error(), "with the go tool") {
		t.Errorf("without the go tool: %v", err)
	}
}

var fake = Programs{Wasm: []byte("wasm"), Worker: []byte("worker")}

// All files that the page names are there, and all that are there are named or are the page.
func TestFiles(t *testing.T) {
	files := Files(fake)
	index := string(files["index.html"])
	named := regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllStringSubmatch(index, -1)
	seen := map[string]bool{"index.html": true, "cede.wasm.gz": true, "worker.js": true}
	for _, n := range named {
		if files[n[1]] == nil {
			t.Errorf("%s is not there", n[1])
		}
		seen[n[1]] = true
	}
	for name := range files {
		if !seen[name] {
			t.Errorf("nothing names %s", name)
		}
	}
	embedded, err := static.ReadDir("static")
	if err != nil {
		t.Fatal(err)
	}
	if len(embedded) != len(files)-1 { // the WebAssembly is built
		t.Errorf("%d files are embedded, %d are in the page", len(embedded), len(files))
	}
}

// Nothing of the page comes from elsewhere, and no script stands in its markup.
func TestNothingFromElsewhere(t *testing.T) {
	single := string(Single(fake, nil))
	for name, text := range map[string]string{"index.html": string(Files(fake)["index.html"]), "the file": single} {
		if strings.Contains(text, "unsafe-inline") || strings.Contains(text, "'unsafe-eval'") || !strings.Contains(text, "default-src") {
			t.Errorf("%s: the policy is not strict", name)
		}
		if m := regexp.MustCompile(`\son[a-z]+=|\sstyle=|javascript:`).FindString(regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>`).ReplaceAllString(text, "")); m != "" {
			t.Errorf("%s holds %q", name, m)
		}
	}
	for _, name := range append(scripts, "worker.js", "style.css", "index.html") {
		for _, line := range strings.Split(string(read(name)), "\n") {
			if strings.Contains(line, "://") && !strings.Contains(line, "http://www.w3.org/2000/svg") {
				t.Errorf("%s: %s", name, line)
			}
		}
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "setAttribute(\"style\""} {
			if strings.Contains(string(read(name)), bad) {
				t.Errorf("%s uses %s", name, bad)
			}
		}
	}
}

// The one file holds all that it needs; the hashes of its policy are those of its script and
// its style; a hostile document ends no element.
func TestSingle(t *testing.T) {
	hostile := []byte(`{"name":"</script><script>alert(1)</script>"}`)
	single := Single(fake, hostile)
	if bytes.Contains(single, []byte("alert(1)")) || regexp.MustCompile(`(?:src|href)="[^"#]`).Match(single) {
		t.Error("the file holds more than itself")
	}
	for _, element := range []string{"script", "style"} {
		inline := regexp.MustCompile(`(?s)<` + element + `>(.*?)</` + element + `>`).FindSubmatch(single)
		if inline == nil || !bytes.Contains(single, []byte(hash(inline[1]))) {
			t.Errorf("the policy does not name the %s", element)
		}
	}
	if got := bytes.Count(single, []byte(`type="text/plain"`)); got != 3 {
		t.Errorf("%d parts are embedded", got)
	}
	if !bytes.Contains(single, []byte(base64.StdEncoding.EncodeToString(fake.Wasm))) {
		t.Error("the WebAssembly is not in the file")
	}
}

func TestHandler(t *testing.T) {
	h := Handler(Files(fake))
	for path, want := range map[string]int{"/": 200, "/main.js": 200, "/cede.wasm.gz": 200, "/none": 404, "/../site.go": 404, "/static/main.js": 404} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want || want == 200 && (w.Header().Get("Content-Security-Policy") != Policy || w.Header().Get("Content-Type") == "") {
			t.Errorf("%s: %d, %v", path, w.Code, w.Header())
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	if w.Code != 404 {
		t.Errorf("POST: %d", w.Code)
	}
}
