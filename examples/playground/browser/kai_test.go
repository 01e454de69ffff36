//go:build unix || windows

package browser_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cedesched/cede/examples/internal/answers"
)

// A queue of KAI shows its shares, which can be changed: with a limit of nothing its groups do not fit.
func TestSharesOfKAI(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	p.drop("kai.yaml", must(answers.SampleText("kai"))(t))
	p.run(`page.showNode(false, "vision")`)
	field := `#node input[aria-label="limit of GPU"]`
	p.until(`document.querySelector('` + field + `')`)
	p.contains(p.text("#node"), "fair share")
	if n := value[int](p, `document.querySelectorAll("#node .policies").length`); n != 0 {
		t.Errorf("%d policies", n)
	}
	p.run(`(() => { const e = document.querySelector('` + field + `'); e.value = "0"; e.dispatchEvent(new Event("change")) })()`)
	p.until(`page.byId("edits").innerText.includes("vision: limit of GPU is 0")`)
	p.until(`/[1-9]\d* worse/.test(page.byId("edits").innerText)`)
	if name := os.Getenv("CEDE_KAI_PICTURE"); name != "" {
		p.must(os.WriteFile(name, must(Get(p.Tab, chromedp.CaptureScreenshot()))(t), 0o644))
	}
}
