//go:build unix || windows

package browser_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var screens = flag.String("screens", "", "write a picture of the page at each size into this folder")

// At any size, with few queues and with many, the page alone scrolls, ten rows of what waits are there, and an answer comes into view while nothing
// else moves.
func TestOneScroller(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	for _, of := range []struct{ queues, running, waiting int }{{2, 6, 2}, {30, 200, 40}, {300, 1500, 5000}} {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("queues-%d.json", of.queues))
		p.must(os.WriteFile(file, Cluster(of.queues, of.running, of.waiting), 0o600))
		p.must(p.Do(chromedp.EmulateViewport(1280, 800), chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file})))
		p.until(fmt.Sprintf(`page.byId("about").innerText.startsWith("queues-%d.json")`, of.queues))
		for _, size := range [][2]int64{{1280, 800}, {390, 844}, {2560, 1440}} {
			p.must(p.Do(chromedp.EmulateViewport(size[0], size[1])))
			p.run(`(() => { scrollTo(0, 0); return new Promise((r) => setTimeout(r, 300)) })()`)
			at := fmt.Sprintf("%d queues at %d", of.queues, size[0])
			picture := func(name string) {
				if *screens != "" {
					png, err := Get(p.Tab, chromedp.CaptureScreenshot())
					p.must(err)
					p.must(os.WriteFile(filepath.Join(*screens, fmt.Sprintf("page-%d-queues-%d%s.png", of.queues, size[0], name)), png, 0o644))
				}
			}
			picture("")
			if own := value[[]string](p, `[...document.querySelectorAll("body *:not(textarea)")].filter((e) => /auto|scroll/.test(getComputedStyle(e).overflowY)
				&& e.scrollHeight > e.clientHeight).map((e) => e.id || e.className || e.outerHTML.slice(0, 80))`); len(own) > 0 {
				t.Errorf("%s: these scroll by themselves: %q", at, own)
			}
			if rows := value[int](p, `Math.floor((page.byId("pending").querySelector(".inner").offsetHeight - (document.querySelector("#pending .answer")?.offsetHeight || 0)) / document.querySelector("#pending .row").offsetHeight)`); rows < min(10, of.waiting) {
				t.Errorf("%s: %d rows of what waits", at, rows)
			}
			if long := value[float64](p, `document.documentElement.scrollHeight / innerHeight`); long > 5 {
				t.Errorf("%s: the page is %.1f screens long", at, long)
			}
			last := fmt.Sprintf(`page.byId("pending-%d")`, min(10, of.waiting)-1)
			p.run(`page.byId("pending").scrollIntoView({ block: "center" })`)
			p.until(last + ` !== null`)
			before := value[float64](p, last+`.getBoundingClientRect().top`)
			name := value[string](p, last+`.querySelector(".name").title`)
			p.run(last + `.click()`)
			p.until(fmt.Sprintf(`page.byId("answer").textContent.startsWith(%q)`, name))
			p.until(last + `.classList.contains("selected")`)
			p.until(`(() => { const r = document.querySelector("#answer .verdict-line").getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight })()`)
			if after := value[float64](p, last+`.getBoundingClientRect().top`); size[0] > 860 && after != before {
				t.Errorf("%s: the row moved from %v to %v", at, before, after)
			}
			picture("-answer")
		}
	}
}
