//go:build unix || windows

package browser_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cedesched/cede/examples/playground/site"
)

// required is set where the tests must not be skipped.
const required = "CEDE_BROWSER"

var programs = sync.OnceValues(site.Build)

// need skips or fails where there is no browser, and returns the page's programs.
func need(t *testing.T) site.Programs {
	t.Helper()
	must := os.Getenv(required) == "required" || os.Getenv("CI") == "true" && !testing.Short()
	if _, err := Find(); errors.Is(err, ErrNone) {
		if must {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if testing.Short() && !must {
		t.Skip("it builds the WebAssembly and runs a browser")
	}
	p, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tab is a browser with the page, for one test.
type tab struct {
	*testing.T
	*Tab
	server *httptest.Server
	mu     sync.Mutex
	asked  []string // the paths that were asked for
}

// open serves the page and opens it, with what stands after the path of its address. At the end
// the console must have said nothing wrong.
func open(t *testing.T, fragment string) *tab {
	t.Helper()
	p := &tab{T: t}
	handler := site.Handler(site.Files(need(t)))
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.URL.Path)
		p.mu.Unlock()
		if r.URL.Path == "/favicon.ico" { // the browser asks for it by itself
			w.WriteHeader(http.StatusNoContent)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(p.server.Close)
	p.start(p.server.URL + "/" + fragment)
	return p
}

func (p *tab) start(url string) {
	p.Helper()
	var err error
	if p.Tab, err = Open(1300, 900); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if faults := p.Faults(); len(faults) > 0 {
			p.Errorf("the console says %q", faults)
		}
		p.Close()
	})
	p.must(p.Do(chromedp.Navigate(url)))
	p.must(p.Settled())
}

func (p *tab) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// value evaluates an expression on the page.
func value[T any](p *tab, expression string) T {
	p.Helper()
	v, err := Value[T](p.Tab, expression)
	if err != nil {
		p.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// run evaluates an expression and waits for the page.
func (p *tab) run(expression string) {
	p.Helper()
	value[bool](p, "(async () => { await ("+expression+"); return true })()")
	p.must(p.Settled())
}

// until waits for an expression to be true.
func (p *tab) until(expression string) {
	p.Helper()
	p.must(p.Until(expression))
}

// text is what an element says.
func (p *tab) text(selector string) string {
	p.Helper()
	return value[string](p, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// drop drops a file on the page.
func (p *tab) drop(name string, data []byte) {
	p.Helper()
	value[bool](p, fmt.Sprintf(`(() => { const d = new DataTransfer(); d.items.add(new File([%s], %s));
		const before = page.state.generation; dispatchEvent(new DragEvent("drop", { dataTransfer: d, cancelable: true })); window.dropped = before; return true })()`, quoted(string(data)), quoted(name)))
	p.until(`page.state.generation > window.dropped && (page.byId("progress").hidden)`)
	p.must(p.Settled())
}

// quoted is a text as JavaScript writes it.
func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func (p *tab) contains(got, want string) {
	p.Helper()
	if !strings.Contains(got, want) {
		p.Errorf("%q does not say %q", got, want)
	}
}
