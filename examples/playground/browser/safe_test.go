//go:build unix || windows

package browser_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cedesched/cede/examples/playground/model"
)

// Until when what runs is safe is said in words where it is listed, and in the sentence of `whatif safe` behind them and where it is pointed at.
func TestSafe(t *testing.T) {
	t.Parallel()
	d := must(model.Sample())(t)
	m := must(model.New(d))(t)
	p := open(t, "")
	for _, width := range []int64{1280, 390} {
		p.must(p.Do(chromedp.EmulateViewport(width, 800)))
		p.run(`page.showNode(false, "vision")`)
		for i, w := range must(m.Node(false, "vision"))(t).Workloads {
			want := must(m.Safe(w.ID))(t)
			cell := fmt.Sprintf(`document.querySelectorAll("#node .safe")[%d]`, i)
			p.run(cell + `.scrollIntoView({ block: "center" })`)
			p.until(cell + `.querySelector("summary") !== null`)
			if got := value[string](p, cell+`.querySelector("summary").innerText`); got != want.Short {
				t.Errorf("%s at %d: %q, want %q", w.ID, width, got, want.Short)
			}
			p.run(cell + `.querySelector("summary").click()`)
			if got := value[string](p, cell+`.querySelector("p").innerText`); got != want.Words {
				t.Errorf("%s at %d: %q, want %q", w.ID, width, got, want.Words)
			}
		}
		if wide := value[int](p, `document.documentElement.scrollWidth`); int64(wide) > width {
			t.Errorf("at %d the page is %d wide", width, wide)
		}
		p.run(`page.showNode(false, "vision")`)
	}
	p.must(p.Do(chromedp.EmulateViewport(1280, 800)))
	p.run(`page.byId("rows").scrollIntoView()`)
	p.run(`(() => { const b = document.querySelector("#rows .block[data-id]"), r = b.getBoundingClientRect(); window.pointed = b.dataset.id;
		b.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: r.x + 1, clientY: r.y + 1 })) })()`)
	want := must(m.Safe(value[string](p, `window.pointed`)))(t)
	p.until(`page.byId("tip").textContent.includes(` + quoted(want.Words) + `)`)
	// A file with gzip is unpacked by the browser.
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	p.must(json.NewEncoder(w).Encode(d))
	p.must(w.Close())
	p.run(`(async () => { const bytes = Uint8Array.from(atob(` + quoted(base64.StdEncoding.EncodeToString(b.Bytes())) + `), (c) => c.charCodeAt(0));
		await page.open(new File([bytes], "sample.json.gz"), "sample.json.gz"); window.opened = page.byId("error").textContent;
		await page.open(new File([bytes.slice(0, 300)], "cut.gz"), "cut.gz") })()`)
	if got := value[string](p, `window.opened`); got != "" {
		t.Errorf("a file with gzip: %q", got)
	}
	if got := p.text("#error"); !strings.HasPrefix(got, "cut.gz: the gzip is damaged: ") {
		t.Errorf("a gzip that was cut: %q", got)
	}
}
