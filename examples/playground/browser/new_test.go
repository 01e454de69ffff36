//go:build unix || windows

package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The form asks about a new workload; what is wrong with it is said; it can be undone. On a phone names are whole.
func TestNewWorkload(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	p.must(p.Do(chromedp.Click("#new summary"), chromedp.SendKeys("#new-queue", "nlp"), chromedp.SendKeys("#new-each", "nvidia.com/gpu=lots"),
		chromedp.SetValue("#new-priority", "900"), chromedp.Click("#new button")))
	p.until(`!page.byId("error").hidden`)
	p.contains(p.text("#error"), "nvidia.com/gpu=lots")
	p.until(`document.querySelectorAll("#new-queues option").length === 6`)
	p.must(p.Do(chromedp.SetValue("#new-each", "nvidia.com/gpu=8"), chromedp.SetValue("#new-replicas", "3"), chromedp.Click("#new button")))
	p.until(`page.byId("error").hidden && page.byId("answer").textContent.startsWith("new")`)
	p.contains(p.text("#answer"), "3 × main: 8 nvidia.com/gpu")
	p.contains(p.text("#about"), "5 waiting")
	p.contains(p.text("#edits"), "new waits in nlp: 3 × nvidia.com/gpu=8")
	p.must(p.Do(chromedp.Click("#reset")))
	p.until(`page.byId("about").textContent.endsWith("4 waiting")`)
	p.must(p.Do(chromedp.EmulateViewport(390, 844)))
	p.until(`document.querySelector("#pending .row").offsetHeight === 72`)
	if cut := value[[]string](p, `[...document.querySelectorAll("#pending .name, #pending .head, #rows .name, #rows .head")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)`); len(cut) > 0 {
		t.Errorf("names are cut: %s", strings.Join(cut, ", "))
	}
	if wide := value[int](p, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d wide", wide)
	}
}
