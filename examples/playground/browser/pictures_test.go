//go:build unix || windows

package browser_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/cedesched/cede/examples/playground/model"
)

var update = flag.Bool("update", false, "write the pictures of the page into docs/pictures")

// The pictures of the documentation.
func TestPictures(t *testing.T) {
	data := must(os.ReadFile("../../whatif/testdata/input/teams.yaml"))(t)
	d := must(model.Read(strings.NewReader(string(data)), "teams.yaml", time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))(t)
	d.Selected = "lab/equal"
	teams := must(json.Marshal(d))(t)
	p := open(t, "")
	take := func(name, theme string, width, height int64) {
		t.Helper()
		_, err := chromedp.Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
		p.must(err)
		p.must(p.Do(chromedp.EmulateViewport(width, height)))
		p.run(`new Promise((r) => setTimeout(r, 300))`) // the rows follow the size
		png, err := Get(p.Tab, chromedp.CaptureScreenshot())
		if err != nil || len(png) < 20_000 {
			t.Errorf("%s: %d bytes, %v", name, len(png), err)
		}
		if *update {
			p.must(os.WriteFile(filepath.Join("../../../docs/pictures", name), png, 0o644))
		}
	}
	take("page.png", "light", 1280, 800)
	p.run(`(() => { for (let i = 0; i < 9; i++) document.querySelectorAll("#steps .bar button")[1].click() })()`)
	take("page-steps.png", "dark", 1280, 800)
	p.drop("teams.json", teams)
	take("page-time.png", "light", 1280, 800)
	p.run(`page.select("lab/equal")`)
	take("page-narrow.png", "light", 420, 900)
}
