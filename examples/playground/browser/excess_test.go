//go:build unix || windows

package browser_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A quota below usage: the page says who has to leave and marks them. Nothing is shown when nothing is over.
func TestExcess(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	marked := `document.querySelectorAll("#rows .leaves-hatch").length`
	if shown := value[bool](p, `!page.byId("excess").hidden || `+marked+` > 0`); shown {
		t.Error("something is over in the sample")
	}
	p.run(`page.edit([{ kind: "quota", node: "recsys", flavor: "h100", resource: "nvidia.com/gpu", field: "nominal", value: "4" }])`)
	text := p.text("#excess")
	p.contains(text, "Running work does not leave by itself")
	p.contains(text, "To leave: recsys/ctr-backfill, recsys/ltv-batch.")
	p.contains(text, "Without the changes: All usage is within what is allowed.")
	p.contains(text, `queue "recsys": 4 h100/nvidia.com/gpu over`)
	p.contains(text, "recsys/ltv-batch leaves: it runs in the queue, which uses more than it may")
	if n := value[int](p, marked); n != 2 {
		t.Errorf("%d are marked", n)
	}
	p.run(`page.byId("reset").click()`)
	p.until(`page.byId("excess").hidden && ` + marked + ` === 0`)

	document, err := os.ReadFile("../model/testdata/over.json")
	p.must(err)
	p.drop("over.json", document)
	p.contains(p.text("#excess"), "still over: 2 h100/nvidia.com/gpu of queue \"lab\"")
	p.run(`document.querySelector("#excess-times button").focus()`) // by keyboard: to the time at which the rest may leave
	p.must(p.Do(chromedp.KeyEvent(kb.Enter)))
	p.until(`page.byId("excess").innerText.includes("To leave: lab/young.")`)
	p.run(`page.showNode(false, "lab")`)
	for _, width := range []int64{1280, 390} {
		p.must(p.Do(chromedp.EmulateViewport(width, 800)))
		if over := value[bool](p, `(() => { // below the answer on a phone
			const [one, other] = [page.byId("excess"), document.querySelector("main")].map((e) => e.getBoundingClientRect()).sort((a, b) => a.top - b.top);
			return one.bottom > other.top;
		})() || document.documentElement.scrollWidth > innerWidth`); over {
			t.Errorf("at %d: the parts of the page overlap or do not fit", width)
		}
	}
}
