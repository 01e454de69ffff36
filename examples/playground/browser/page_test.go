//go:build unix || windows

package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/playground/model"
	"github.com/cedesched/cede/examples/playground/site"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

func TestLoads(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	p.contains(p.text("#about"), "6 queues in 3 cohorts, 19 workloads running, 4 waiting")
	p.contains(p.text("#answer"), "fits once evals/arena-judge (leaving already), evals/regression-suite")
	p.contains(p.text("#tally"), "1 fits · 1 preempts · 2 do not fit (each as if it were alone)")
	if n := value[int](p, `document.querySelectorAll(".victim-hatch").length`); n != 5+1 { // and in the legend
		t.Errorf("%d victims are marked", n)
	}
	p.run(`page.byId("rows"), document.querySelector("input[value=after]").click()`)
	p.until(`document.querySelectorAll("#rows .gone").length === 5 && document.querySelectorAll("#rows .new").length === 1`)
	files := site.Files(need(t))
	for _, path := range p.asked {
		if name := strings.TrimPrefix(path, "/"); name != "" && name != "favicon.ico" && files[name] == nil {
			t.Errorf("the page asks for %s", path)
		}
	}
	if elsewhere := value[[]string](p, `performance.getEntries().map((e) => e.name).filter((n) => n.includes("://") && !n.startsWith(location.origin))`); len(elsewhere) > 0 {
		t.Errorf("the page asks elsewhere: %q", elsewhere)
	}
}

// The page answers as the library does. Numbers pass as JavaScript has them.
func TestAnswersAsLibrary(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	outcomes := map[string]int{}
	for i := range 40 {
		record := preemptiontest.RecordsWithoutFlavors().Example(i)
		d := model.Document{Version: 1, Now: record.Request.Now, State: record.State, Fair: i%4 == 3,
			Waiting: []model.Waiting{{Request: *record.Request}}, Selected: record.Request.Workload.ID}
		data := must(json.Marshal(d))(t)
		config := preemption.Config{MaxBlockers: 16}
		if d.Fair {
			config.Sharing = preemption.Fair
		}
		snapshot := must(preemption.NewSnapshot(record.State))(t)
		preemptor := must(preemption.New(config))(t)
		want := must(preemptor.Decide(snapshot, *record.Request))(t)
		outcomes[want.Outcome.String()]++
		got := value[string](p, fmt.Sprintf(`(async () => { await page.call("open", { file: new Blob([%s]), name: "", now: "2026-01-01T00:00:00Z" });
			return JSON.stringify((await page.call("ask")).decision) })()`, quoted(string(data))))
		if diff := cmp.Diff(numbers(t, want), numbers(t, json.RawMessage(got))); diff != "" {
			t.Fatalf("state %d: - library, + page:\n%s", i, diff)
		}
	}
	if len(outcomes) < 4 {
		t.Errorf("the states reach only %v", outcomes)
	}
}

// numbers is a value as JavaScript has it.
func numbers(t *testing.T, v any) (out any) {
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A quota is edited by hand; all answers follow; the edit is taken back.
func TestEdits(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	p.must(p.Do(chromedp.Click(chromedp.CSS(`#answer button.link`))))
	field := `#node input[aria-label="nominal of h100/nvidia.com/gpu"]`
	p.until(`document.querySelector('` + field + `') && page.byId("node").contains(document.activeElement)`)
	p.run(`(() => { const e = document.querySelector('` + field + `'); e.focus(); e.select() })()`)
	p.must(p.Do(chromedp.KeyEvent("6")))
	p.run(`page.drawNode()`) // not over what is being typed
	p.must(p.Do(chromedp.KeyEvent("4\t")))
	p.until(`!page.byId("edits").hidden`)
	p.must(p.Settled())
	p.contains(p.text("#edits"), "vision: nominal of h100/nvidia.com/gpu is 64")
	p.until(`page.byId("edits").innerText.includes("2 better, 0 worse")`)
	p.contains(p.text("#answer"), " fits now")
	p.run(`page.byId("changed").click()`)
	p.until(`document.querySelectorAll("#pending .row").length === 2`)
	p.run(`(() => { const s = document.querySelector("#node select[aria-label=withinClusterQueue]"); s.value = "Never"; s.dispatchEvent(new Event("change")) })()`)
	p.until(`document.querySelectorAll("#edits .edit").length === 2`)
	// The slider of the replicas is an edit too.
	p.run(`(() => { const s = document.querySelector("#answer input[type=number][aria-label='Replicas of worker']"); s.value = "9"; s.dispatchEvent(new Event("change")) })()`)
	p.until(`document.querySelectorAll("#edits .edit").length === 3 && page.byId("answer").innerText.includes("does not fit")`)
	p.must(p.Settled())
	// A value that is not valid is refused with words, and changes nothing.
	p.run(`(() => { const e = document.querySelector('` + field + `'); e.value = "many"; e.dispatchEvent(new Event("change")) })()`)
	p.until(`page.byId("error").innerText.includes("is not a quantity")`)
	p.must(p.Do(chromedp.Click(chromedp.CSS(`#reset`))))
	p.until(`page.byId("edits").hidden`)
	p.must(p.Settled())
	p.contains(p.text("#answer"), "fits once evals/arena-judge (leaving already), evals/regression-suite")
}

// What would change the answer is tried with a button.
func TestWays(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	p.run(`page.select("recsys/two-tower-xl")`)
	p.contains(p.text("#answer"), "does not fit")
	p.run(`[...document.querySelectorAll("#steps .lines button")].find((b) => b.textContent === "Try it").click()`)
	p.until(`!page.byId("edits").hidden && / fits /.test(page.byId("answer").innerText)`)
}

// The slider goes to RetryAt, and there the workload preempts.
func TestSlides(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	data, err := os.ReadFile("../../whatif/testdata/input/teams.yaml")
	p.must(err)
	d, err := model.Read(strings.NewReader(string(data)), "teams.yaml", time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	p.must(err)
	document, err := json.Marshal(d)
	p.must(err)
	p.drop("teams.json", document)
	m, err := model.New(d)
	p.must(err)
	id := ""
	for _, r := range m.Pending(model.Choice{}, 0, 100).Rows {
		if r.Outcome == "Wait" {
			id = r.ID
		}
	}
	p.must(m.Select(id))
	want := m.Ask()
	p.run(`page.select(` + quoted(id) + `)`)
	p.contains(p.text("#answer .retry"), "RetryAt")
	if n := value[int](p, `document.querySelectorAll("#marks .mark.retry").length`); n != 1 {
		t.Errorf("%d marks for RetryAt", n)
	}
	p.must(p.Do(chromedp.Click(chromedp.CSS(`#answer .retry button`))))
	p.until(`page.state.summary.seconds > 0`)
	p.must(p.Settled())
	m.MoveTo(want.RetryAt)
	p.contains(p.text("#answer"), m.Ask().Words)
	if got := value[time.Time](p, `page.state.summary.at`); !got.Equal(want.RetryAt) {
		t.Errorf("the slider is at %v, RetryAt is %v", got, want.RetryAt)
	}
	// Back by hand: a second before, it waits.
	p.run(`page.byId("slider").focus()`)
	p.must(p.Do(chromedp.KeyEvent(kb.ArrowLeft)))
	p.until(`page.byId("answer").innerText.includes("time alone helps at")`)
	p.must(p.Settled())
	p.run(`page.byId("earlier").click()`)
	p.until(`page.state.summary.seconds === 0`)
}

// A file comes by the file chooser, too. What cannot be read is said, and what was there stays.
func TestFiles(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	file := filepath.Join(t.TempDir(), "cluster.json")
	p.must(os.WriteFile(file, Cluster(10, 40, 5), 0o600))
	p.must(p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file})))
	p.until(`page.byId("about").innerText.startsWith("cluster.json")`)
	p.must(p.Settled())
	p.contains(p.text("#about"), "10 queues in 2 cohorts, 40 workloads running, 5 waiting")
	for text, want := range map[string]string{"": "it is empty", "kind: Pod\nmetadata: {name: a}": "no objects of Kueue or KAI", `{"cedePage":7}`: "version 7"} {
		p.drop("bad.txt", []byte(text))
		p.contains(p.text("#error"), want)
		p.contains(p.text("#about"), "cluster.json")
	}
}

// Hostile names are shown and do nothing: from a file, in a link, in a report.
func TestHostile(t *testing.T) {
	t.Parallel()
	names := []string{`<img src=x onerror="window.pwned=1">`, `</script><script>window.pwned=1</script>`, `"><svg onload=window.pwned=1>`, "javascript:window.pwned=1",
		"__proto__", "constructor", "\u202egnp.exe", "a\x00b\x1b[31m\n\r", strings.Repeat("x", 3000), "${window.pwned=1}", "{{style}}"}
	var d model.Document
	d.Version, d.Now, d.Name, d.Notes = 1, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), names[0], names
	state := map[string]any{}
	var cohorts, queues, admitted []any
	for i, n := range names {
		quota := map[string]any{"flavor": n, "resource": n, "nominal": 10}
		pods := []any{map[string]any{"name": n, "count": 1, "requests": []any{map[string]any{"flavor": n, "resource": n, "amount": 10}}}}
		cohorts = append(cohorts, map[string]any{"name": n})
		queues = append(queues, map[string]any{"name": n, "cohort": n, "quotas": []any{quota}, "preemption": map[string]any{"withinClusterQueue": "LowerPriority"}})
		admitted = append(admitted, map[string]any{"id": n + "/runs", "queue": n, "podSets": pods})
		data, _ := json.Marshal(map[string]any{"workload": map[string]any{"id": n, "queue": n, "priority": i, "podSets": pods}, "now": d.Now})
		var w model.Waiting
		if err := json.Unmarshal(data, &w.Request); err != nil {
			t.Fatal(err)
		}
		w.Notes = names
		d.Waiting = append(d.Waiting, w)
	}
	state["cohorts"], state["queues"], state["admitted"] = cohorts, queues, admitted
	data, _ := json.Marshal(state)
	var err error
	if d.State, err = preemption.ParseState(data); err != nil {
		t.Fatal(err)
	}
	document, _ := json.Marshal(d)

	p := open(t, "")
	elements := `document.querySelectorAll("script, img, iframe, object, embed, link, base, svg[onload]").length`
	before := value[int](p, elements)
	check := func(p *tab, before int, names []string) {
		t.Helper()
		all, _ := json.Marshal(names)
		shown := value[[]string](p, `(async () => {
			const settled = async () => { while (page.settled !== page.state.generation) await new Promise((r) => setTimeout(r, 5)) };
			const shown = [];
			for (const name of `+string(all)+`) {
				await page.select(name); await settled();
				await page.showNode(false, name); await settled();
				await page.showNode(true, name); await settled();
				shown.push(document.querySelector("#answer h2").textContent);
				document.querySelectorAll("#steps .bar button")[1].click(); await settled();
			}
			return shown })()`)
		if !slices.Equal(shown, names) {
			t.Errorf("shown are %q", shown)
		}
		p.run(`page.edit([{ kind: "quota", node: ` + quoted(names[0]) + `, flavor: ` + quoted(names[0]) + `, resource: ` + quoted(names[0]) + `, field: "nominal", value: "30" }])`)
		if pwned := value[bool](p, `window.pwned !== undefined || ({}).pwned !== undefined || `+elements+` !== `+fmt.Sprint(before)); pwned {
			t.Error("a name did something")
		}
	}
	p.drop(names[0], document)
	check(p, before, names)
	link := value[string](p, `page.link()`)
	p.must(p.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(link)))
	p.must(p.Settled())
	check(p, before, names[:2])

	file := filepath.Join(t.TempDir(), "report.html")
	p.must(os.WriteFile(file, site.Single(need(t), document), 0o600))
	report := &tab{T: t}
	report.start("file://" + file)
	check(report, value[int](report, elements), names[:2])
}

// The policy holds: no script of a text, nothing sent anywhere; in the files and in the one
// file.
func TestPolicy(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, site.Single(need(t), nil), 0o600); err != nil {
		t.Fatal(err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the page sent something") }))
	defer other.Close()
	server := httptest.NewServer(site.Handler(site.Files(need(t))))
	defer server.Close()
	for _, url := range []string{server.URL, "file://" + file} {
		p := &tab{T: t}
		var err error
		if p.Tab, err = Open(1000, 700); err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		p.must(p.Do(chromedp.Navigate(url)))
		p.must(p.Settled())
		got := value[string](p, `(async () => {
			await new Promise((r) => setTimeout(r)); // while an expression of the debugger runs, eval is permitted
			const broken = []; addEventListener("securitypolicyviolation", (e) => broken.push(e.effectiveDirective));
			const s = document.createElement("script"); s.textContent = "window.pwned = 1"; document.body.append(s);
			const d = document.createElement("div"); d.setAttribute("onclick", "window.pwned = 1"); document.body.append(d); d.click();
			try { new Function("window.pwned = 1")(); } catch {}
			try { await fetch(`+quoted(other.URL)+`); } catch {}
			const i = new Image(); i.src = `+quoted(other.URL)+`;
			await new Promise((r) => setTimeout(r, 200));
			return window.pwned === undefined ? broken.sort().join(" ") : "pwned";
		})()`)
		for _, want := range []string{"script-src script-src-attr", "script-src-elem", "connect-src", "img-src"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %s", url, got, want)
			}
		}
	}
}

// The state goes into a link, with its edits, the time and the selection, and comes back.
func TestLink(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	p.run(`page.select("recsys/two-tower-xl")`)
	p.run(`page.edit([{ kind: "priority", node: "recsys/two-tower-xl", value: "977" }])`)
	p.run(`page.moveTo({ seconds: 600 })`)
	p.until(`page.state.summary.seconds === 600`)
	p.must(p.Settled())
	want := p.text("#answer")
	link := value[string](p, `page.link()`)
	if !strings.HasPrefix(link, p.server.URL+"/#state=") {
		t.Errorf("the link is %.60s", link)
	}
	second := &tab{T: t}
	second.start(link)
	if diff := cmp.Diff(want, second.text("#answer")); diff != "" {
		t.Error(diff)
	}
	second.contains(second.text("#edits"), "priority 977")
	second.contains(second.text("#clock"), "12:10:00")
	if slices.ContainsFunc(p.asked, func(path string) bool { return strings.Contains(path, "state") }) {
		t.Errorf("the state was sent: %q", p.asked)
	}
	cut := &tab{T: t}
	cut.start(link[:len(link)/2])
	cut.contains(cut.text("#error"), "was cut or changed")
	cut.contains(cut.text("#about"), "the sample")
}

// Everything works with the keyboard, and everything has a name for a screen reader.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	p.run(`document.querySelector("#pending .grid").focus()`)
	p.must(p.Do(chromedp.KeyEvent(kb.End)))
	p.must(p.Do(chromedp.KeyEvent(kb.ArrowUp)))
	p.until(`document.querySelector("#pending .active")?.getAttribute("aria-label").startsWith("recsys/two-tower-xl")`)
	p.must(p.Do(chromedp.KeyEvent(kb.Enter)))
	p.until(`page.state.summary.selected === "recsys/two-tower-xl"`)
	p.must(p.Settled())
	p.run(`document.querySelector("#steps .bar button:nth-of-type(2)").focus()`)
	p.must(p.Do(chromedp.KeyEvent(kb.ArrowRight + kb.ArrowRight)))
	p.until(`document.querySelectorAll("#steps li")[1].getAttribute("aria-current") === "step"`)
	p.must(p.Do(chromedp.KeyEvent(kb.ArrowLeft)))
	p.until(`document.querySelectorAll("#steps li")[0].getAttribute("aria-current") === "step"`)
	p.run(`document.querySelector("#rows .grid").focus()`)
	p.must(p.Do(chromedp.KeyEvent(kb.ArrowDown + kb.Enter)))
	p.until(`!page.byId("node").hidden && page.byId("node").innerText.startsWith("product")`)
	if label := value[string](p, `document.querySelector("#rows .asker")?.getAttribute("aria-label") ?? ""`); !strings.Contains(label, "uses") || !strings.Contains(label, "waits here") {
		t.Errorf("the row says %q", label)
	}
	// Escape closes what was opened last: the queue, then the answer.
	p.must(p.Do(chromedp.KeyEvent(kb.Escape)))
	p.until(`page.byId("node").hidden && page.state.summary.selected !== ""`)
	p.must(p.Do(chromedp.KeyEvent(kb.Escape)))
	p.until(`page.state.summary.selected === "" && document.activeElement.closest("#pending")`)
	// A cohort folds to the left.
	p.run(`document.querySelector("#rows .grid").focus()`)
	p.must(p.Do(chromedp.KeyEvent(kb.ArrowLeft)))
	p.until(`document.querySelector("#rows .active").getAttribute("aria-expanded") === "false" && document.querySelector("#rows").innerText.includes("product") && !document.querySelector("#rows").innerText.includes("recsys")`)
	p.must(p.Do(chromedp.KeyEvent(kb.ArrowLeft)))
	p.must(p.Do(chromedp.KeyEvent(kb.ArrowRight)))
	p.until(`document.querySelector("#rows .active").getAttribute("aria-expanded") === "true" && document.querySelector("#rows").innerText.includes("recsys")`)
	nameless := value[[]string](p, `[...document.querySelectorAll("button, input, select, [tabindex='0'], section")].filter((e) => e.offsetParent !== null).filter((e) =>
		!(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim() || e.getAttribute("aria-labelledby"))).map((e) => e.outerHTML.slice(0, 90))`)
	if len(nameless) > 0 {
		t.Errorf("without a name: %q", nameless)
	}
	// Each stop of the tabulator is seen: it is in the document and not hidden.
	stops := value[int](p, `[...document.querySelectorAll("button, input, select, [tabindex='0'], a[href], summary")].filter((e) => !e.disabled && e.offsetParent !== null).length`)
	if stops < 20 {
		t.Errorf("only %d stops", stops)
	}
}

// Back and forward go through the workloads that were chosen.
func TestBackAndForward(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	for _, id := range []string{"recsys/two-tower-xl", "nlp/lora-sweep"} {
		p.run(`page.select("` + id + `")`)
		p.until(`document.querySelector("#answer h2")?.textContent === "` + id + `"`)
	}
	for _, step := range [][2]string{{"back", "recsys/two-tower-xl"}, {"back", "vision/detector-train"}, {"forward", "recsys/two-tower-xl"}} {
		p.run(`history.` + step[0] + `()`)
		p.until(`page.state.summary.selected === "` + step[1] + `" && document.querySelector("#answer h2")?.textContent === "` + step[1] + `"`)
	}
}

// What waits is listed by its answer, and in the order that is chosen; what was not chosen can be had again.
func TestListByAnswer(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	const listed = `[...document.querySelectorAll("#pending .row .name")].map((e) => e.title).join()`
	p.until(listed + ` === "evals/long-context-all,nlp/lora-sweep,recsys/two-tower-xl,vision/detector-train"`)
	p.run(`document.querySelector('#tally [data-outcome="Impossible"]').click()`)
	p.until(listed + ` === "evals/long-context-all,recsys/two-tower-xl" && document.querySelector("#tally [aria-pressed=true]")?.textContent === "2 do not fit"`)
	p.run(`(() => { page.byId("order").value = "priority"; page.byId("order").dispatchEvent(new Event("change")) })()`)
	p.run(`document.querySelector('#tally [aria-pressed="true"]').click()`)
	p.until(listed + ` === "vision/detector-train,evals/long-context-all,recsys/two-tower-xl,nlp/lora-sweep"`)
	p.run(`document.querySelector("#rows .fold").dispatchEvent(new MouseEvent("click", { bubbles: true }))`)
	p.until(`document.querySelectorAll("#rows .row").length === 1`)
}

// A large cluster costs no more of the document than a small one.
func TestLarge(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	file := filepath.Join(t.TempDir(), "large.json")
	p.must(os.WriteFile(file, Cluster(1000, 2000, 500), 0o600))
	p.must(p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file})))
	p.until(`page.byId("about").innerText.startsWith("large.json")`)
	p.must(p.Settled())
	p.contains(p.text("#about"), "1,000 queues in 51 cohorts, 2,000 workloads running, 500 waiting")
	for _, list := range []string{"rows", "pending"} {
		p.run(`page.byId("` + list + `").querySelector(".grid").dispatchEvent(new KeyboardEvent("keydown", { key: "End" }))`)
		p.until(`page.byId("` + list + `").querySelector(".further").hidden && Number(document.querySelector("#` + list + ` .row").dataset.index) > 400`)
	}
	if n := value[int](p, `document.querySelectorAll("*").length`); n > 3000 {
		t.Errorf("%d elements", n)
	}
	p.run(`(() => { scrollTo(0, 0); const f = page.byId("find-queue"); f.value = "team-0777"; f.dispatchEvent(new Event("input")) })()`)
	p.until(`document.querySelectorAll("#rows .row").length === 1`)
}

// On paper there is the whole explanation, in the same colours whatever those of the screen are.
func TestPrint(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	colours := map[string]string{}
	for _, look := range [][2]string{{"print", "light"}, {"print", "dark"}, {"", "dark"}} {
		_, err := chromedp.Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Media: look[0], Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look[1]}},
		})
		p.must(err)
		colours[look[0]+" "+look[1]] = value[string](p, `(() => {
			const style = (of) => getComputedStyle(of);
			const names = ["color-scheme", "--used", "--borrowed", "--preempt", "--no", "--p0"];
			return [style(document.querySelector("#answer button.link")).color, ...names.map((n) => style(document.documentElement).getPropertyValue(n))].join();
		})()`)
	}
	if colours["print dark"] != colours["print light"] || colours["print dark"] == colours[" dark"] {
		t.Errorf("%q", colours)
	}
	pdf, err := Get(p.Tab, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if err != nil || len(pdf) < 10_000 || !strings.HasPrefix(string(pdf), "%PDF") {
		t.Errorf("%d bytes, %v", len(pdf), err)
	}
}

// must returns what came without an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
