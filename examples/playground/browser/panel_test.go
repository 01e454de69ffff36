//go:build unix || windows

package browser_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/cedesched/cede/examples/playground/model"
)

// What is tapped opens right below it, also on a phone, and closes there. What a change does is said beside it.
func TestPanels(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	below := func(panel, row string) {
		t.Helper()
		p.until(`Math.abs(document.querySelector('` + panel + `').getBoundingClientRect().top - document.querySelector('` + row + `')?.getBoundingClientRect().bottom) < 2`)
		p.until(`(() => { const r = document.querySelector('` + row + `').getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight })()`)
	}
	for _, width := range []int64{1280, 390} {
		p.must(p.Do(chromedp.EmulateViewport(width, 800)))
		p.run(`new Promise((r) => setTimeout(r, 200))`)
		p.run(`[...document.querySelectorAll("#rows .row")].find((e) => e.textContent.startsWith("search")).click()`)
		p.until(`page.byId("node").innerText.startsWith("search")`)
		below("#node", "#rows .opened")
		if wide := value[int](p, `document.documentElement.scrollWidth`); int64(wide) > width {
			t.Errorf("at %d the page is %d wide", width, wide)
		}
		broken := value[[]string](p, `[...document.querySelectorAll("#node td:not(:first-child), #node th, #answer td:not(:first-child)")].filter((e) => {
			const r = document.createRange(); // a text of one word is in one line
			return [...e.childNodes].some((n) => n.nodeType === 3 && !/\s/.test(n.data) && (r.selectNode(n), r.getClientRects().length > 1));
		}).map((e) => e.textContent)`)
		if len(broken) > 0 {
			t.Errorf("at %d words are broken: %q", width, broken)
		}
		p.run(`document.querySelector("#rows .opened").click()`)
		p.until(`page.byId("node").hidden`)
	}
	p.run(`page.byId("pending").scrollIntoView()`)
	p.until(`[...document.querySelectorAll("#pending .row")].some((e) => e.textContent.startsWith("recsys/two-tower-xl"))`)
	p.run(`[...document.querySelectorAll("#pending .row")].find((e) => e.textContent.startsWith("recsys/two-tower-xl")).click()`)
	p.until(`page.byId("answer").textContent.startsWith("recsys/two-tower-xl")`)
	below("#answer", "#pending .selected")
	p.run(`page.select("vision/detector-train")`)
	p.run(`page.showNode(false, "vision")`)
	p.run(`page.edit([{ kind: "quota", node: "vision", flavor: "h100", resource: "nvidia.com/gpu", field: "nominal", value: "64" }])`)
	p.contains(p.text("#node"), "vision/detector-train: ✓ fits with the changes, ⇄ preempts without")
	p.contains(p.text("#answer .today"), "vision/detector-train fits once evals/arena-judge")
	p.must(p.Do(chromedp.EmulateViewport(1280, 800)))
	p.until(`page.byId("answer").parentElement === document.querySelector("main")`)
}

// The legend has what is drawn; the events beside the clock lead to their instants.
func TestLegendAndEvents(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	if got := p.text("#legend"); strings.Contains(got, "gone") || !strings.Contains(got, "yields") || !value[bool](p, `page.byId("events").hidden`) {
		t.Errorf("the legend is %q", got)
	}
	p.run(`document.querySelector("input[value=after]").click()`)
	p.until(`/gone/.test(page.byId("legend").innerText) && /admitted/.test(page.byId("legend").innerText) && !/yields/.test(page.byId("legend").innerText)`)
	data, err := os.ReadFile("../../whatif/testdata/input/teams.yaml")
	p.must(err)
	d, err := model.Read(strings.NewReader(string(data)), "teams.yaml", time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	p.must(err)
	d.Selected = "lab/equal"
	document, err := json.Marshal(d)
	p.must(err)
	p.drop("teams.json", document)
	p.contains(p.text("#events"), "in 30m lab/equal can run (RetryAt); until then WithinClusterQueue keeps lab/train")
	p.must(p.Do(chromedp.Click("#events button")))
	p.until(`page.state.summary.at.includes("12:30:00.000000001") && page.byId("answer").innerText.includes("preempts")`)
	p.must(p.Settled())
	if !value[bool](p, `page.byId("events").hidden`) {
		t.Errorf("after the last event: %q", p.text("#events"))
	}
}
