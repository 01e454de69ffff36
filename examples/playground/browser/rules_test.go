//go:build unix || windows

package browser_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/playground/model"
)

// Preemption rules are shown, switched off and on, removed and added; the victims name theirs.
func TestRules(t *testing.T) {
	t.Parallel()
	f := must(os.Open("../../internal/answers/samples/rules.yaml"))(t)
	defer f.Close()
	d := must(model.Read(f, "rules.yaml", time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))(t)
	d.Selected = "prod/hero"
	document := must(json.Marshal(d))(t)
	p := open(t, "")
	p.drop("rules.json", document)
	p.until(`page.byId("answer").innerText.includes("config hero, rule others-yield selector 1")`)
	p.contains(p.text("#rules summary"), "Preemption rules: 2 configs")
	p.run(`(() => { page.byId("rules").querySelector("details").open = true })()`)
	box := `[...document.querySelectorAll("#rules label.check")].find((l) => l.innerText.includes("others-yield")).querySelector("input")`
	p.run(box + `.click()`)
	p.until(`page.byId("edits").innerText.includes("rule others-yield of hero: off") && page.byId("answer").innerText.includes("prod/hero does not fit")`)
	p.run(box + `.click()`)
	p.until(`page.byId("edits").hidden && page.byId("answer").innerText.includes("fits once lab/old yields")`)
	// What is no JSON, and what is not valid, is refused with words.
	area, apply := `document.querySelector("#rules textarea[aria-label='hero as JSON']")`, `document.querySelector("#rules textarea[aria-label='hero as JSON']").parentElement.querySelector("button")`
	p.run(`(() => { ` + area + `.value = "{"; ` + apply + `.click() })()`)
	p.until(`page.byId("error").innerText.includes("The rules are no JSON")`)
	p.run(`(() => { ` + area + `.value = '{"name":"hero","rules":[{"name":"X"}]}'; ` + apply + `.click() })()`)
	p.until(`page.byId("error").innerText.includes("is no DNS label")`)
	p.run(`(() => { ` + area + `.value = '{"name":"hero","rules":[]}'; ` + apply + `.click() })()`)
	p.until(`page.byId("edits").innerText.includes("rules hero: changed") && page.byId("answer").innerText.includes("prod/hero does not fit")`)
	p.run(`page.byId("reset").click()`)
	p.until(`page.byId("edits").hidden && page.byId("answer").innerText.includes("fits once lab/old yields")`)
	p.must(p.Settled())
}
