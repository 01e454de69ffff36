//go:build unix || windows

package browser_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A manager of MultiKueue and its workers, opened together, stand side by side, and each of them can be looked at.
func TestClusters(t *testing.T) {
	t.Parallel()
	p := open(t, "")
	dir, files := t.TempDir(), []string(nil)
	for _, file := range must(filepath.Glob("../../whatif/testdata/multikueue/17-clock-off/*.gz"))(t) {
		unzip := must(gzip.NewReader(bytes.NewReader(must(os.ReadFile(file))(t))))(t)
		name := filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), ".gz"))
		p.must(os.WriteFile(name, must(io.ReadAll(unzip))(t), 0o600))
		files = append(files, name)
	}
	p.run(`(page.now = () => "2026-11-27T09:30:00Z")`)
	p.must(p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), files)))
	p.until(`!page.byId("clusters").hidden && page.byId("about").innerText.startsWith("a.json")`)
	p.must(p.Settled())
	said := p.text("#clusters-answers")
	p.contains(said, "The gate of team-video/job-neural-codec-v2-6816f in c opens at")
	if n := value[int](p, `document.querySelectorAll("#clusters tbody tr").length`); n != 3 {
		t.Errorf("%d workers: %s", n, said)
	}
	p.run(`[...document.querySelectorAll("#clusters tbody button")].find((b) => b.textContent === "c").click()`)
	p.until(`page.byId("about").innerText.startsWith("c.json")`)
	p.must(p.Settled())
	p.must(p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), files[:2])))
	p.until(`page.byId("error").innerText.includes("none of the files has a MultiKueueCluster")`)
	p.must(p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), files[:1])))
	p.until(`page.byId("clusters").hidden`)
	p.must(p.Settled())
}
