//go:build unix || windows

package browser_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/cedesched/cede/examples/playground/model"
	"github.com/cedesched/cede/examples/playground/site"
)

// The page that a program serves and answers does what the page with WebAssembly does.
func TestProgram(t *testing.T) {
	t.Parallel()
	need(t)
	d := must(model.Sample())(t)
	p := &tab{T: t}
	program := site.Program(d)
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		program.ServeHTTP(w, r)
	}))
	t.Cleanup(p.server.Close)
	p.start(p.server.URL)
	p.contains(p.text("#answer"), "fits once evals/arena-judge (leaving already), evals/regression-suite")
	p.contains(p.text("footer"), "The program that serves this page answers, on its own machine")
	p.run(`page.edit([{ kind: "quota", node: "vision", flavor: "h100", resource: "nvidia.com/gpu", field: "nominal", value: "64" }])`)
	p.contains(p.text("#answer"), "vision/detector-train fits now")
	p.run(`page.edit([{ kind: "quota", node: "vision", flavor: "h100", resource: "nvidia.com/gpu", field: "nominal", value: "many" }])`)
	p.contains(p.text("#error"), "is not a quantity")
	link := value[string](p, `page.link()`)
	other := &tab{T: t}
	other.start(link)
	other.contains(other.text("#edits"), "vision: nominal of h100/nvidia.com/gpu is 64")
	data, err := os.ReadFile("../model/testdata/over.json")
	p.must(err)
	p.drop("over.json", data)
	p.contains(p.text("#excess"), "still over: 2 h100/nvidia.com/gpu of queue \"lab\"")
	other.contains(other.text("#about"), "6 queues in 3 cohorts")
}
