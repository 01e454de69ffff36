package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page has every preemption once, with its sentence, those that are not right first to be seen; it runs no script, and what a tenant
// can write is text on it.
func TestAuditPage(t *testing.T) {
	l := newLived(7, true)
	l.live(80)
	versions := strings.ReplaceAll(strings.Join(l.versions, "\n"), "vision-research-2026", `<img src=x>\u202e`)
	file := filepath.Join(t.TempDir(), "audit.html")
	want, _ := auditOf(t, versions)
	status, out, said := call(strings.NewReader(versions), "audit", "-f", "-", "-page", file)
	if status != 1 || said != "" || !strings.HasSuffix(strings.Join(strings.Fields(out), " "), "open it in a browser.") {
		t.Errorf("status %d: %s%s", status, out, said)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	wrong := 0
	for i, p := range want.Preemptions {
		class := map[string]string{"Right": "right", unknownVerdict: "unknown"}[p.Verdict]
		if class == "" {
			class, wrong = "wrong", wrong+1
		}
		if n := strings.Count(page, fmt.Sprintf(`<li id="p%d" class="%s">`, i, class)); n != 1 {
			t.Errorf("preemption %d, %s, is there %d times", i, class, n)
		}
	}
	if !strings.Contains(page, fmt.Sprintf("not right (%d)", wrong)) || !strings.Contains(page, `id="show-wrong" checked`) || wrong == 0 {
		t.Errorf("the %d that are not right are not shown first", wrong)
	}
	for _, bad := range []string{"<script", "<img", "\u202e", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is on the page", bad)
		}
	}
	if status, _, said := call(strings.NewReader(versions), "audit", "-f", "-", "-page", "audit.txt"); status != 2 || !strings.Contains(said, ".html") {
		t.Errorf("status %d: %s", status, said)
	}
	if status, _, said := call(strings.NewReader(versions), "audit", "-f", "-", "-page", filepath.Join(file, "below", "a.html")); status != 2 || said == "" {
		t.Errorf("no such directory: status %d: %s", status, said)
	}
}
