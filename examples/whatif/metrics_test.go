package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// exported reads what a server exports: the labels that each metric has.
func exported(t *testing.T, address string, into map[string][]string) {
	t.Helper()
	code, text := get(t, address+"/metrics", "")
	line := regexp.MustCompile(`^([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (?:[0-9.e+-]+)$`)
	label := regexp.MustCompile(`([a-z]+)="`)
	for of := range strings.Lines(text) {
		if strings.HasPrefix(of, "# ") {
			continue
		}
		found := line.FindStringSubmatch(strings.TrimSuffix(of, "\n"))
		if code != http.StatusOK || found == nil {
			t.Fatalf("status %d: %q", code, of)
		}
		labels := []string{}
		for _, l := range label.FindAllStringSubmatch(found[2], -1) {
			labels = append(labels, l[1])
		}
		into[found[1]] = labels
	}
}

// everyMetric is what the program exports, once every question was asked, an answer has changed, and a reading has failed.
func everyMetric(t *testing.T) map[string][]string {
	all := map[string][]string{}
	fakeCluster(t, kaiCluster)
	address, stderr := served(t, "-live", "-scheduler", "kai", "-refresh", "10ms")
	stream := must(http.Get(address + "/v1/changes"))(t)
	defer func() { _ = stream.Body.Close() }()
	first := make([]byte, 64)
	_ = must(io.ReadAtLeast(stream.Body, first, 16))(t) // it has begun
	fakeCluster(t, strings.ReplaceAll(kaiCluster, `"serve"`, `"later"`))
	until(t, stderr, "a change is counted", func() bool {
		exported(t, address, all)
		return all["cede_changes_total"] != nil
	})
	address, _ = served(t, "-f", "testdata/input/stops.json", "-at", now)
	for _, path := range []string{"/v1/workloads/n/sel/why", "/v1/workloads/n/none/why", "/v1/next"} {
		get(t, address+path, "")
	}
	exported(t, address, all)
	return all
}

// Each query of the dashboard names metrics and labels that the program exports, and the page about serve has them all.
func TestDashboard(t *testing.T) {
	all := everyMetric(t)
	var dashboard struct {
		Title  string `json:"title"`
		Panels []struct {
			ID      int                      `json:"id"`
			Title   string                   `json:"title"`
			GridPos struct{ X, Y, W, H int } `json:"gridPos"`
			Targets []struct {
				Expr   string `json:"expr"`
				Legend string `json:"legendFormat"`
			} `json:"targets"`
		} `json:"panels"`
		Templating struct {
			List []struct {
				Query string `json:"query"`
			} `json:"list"`
		} `json:"templating"`
	}
	if err := json.Unmarshal(must(os.ReadFile("deploy/dashboard.json"))(t), &dashboard); err != nil {
		t.Fatal(err)
	}
	queries, seen, ids := []string{}, map[string]bool{}, map[int]bool{}
	for _, of := range dashboard.Templating.List {
		queries = append(queries, of.Query)
	}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%+v", p)
		}
		ids[p.ID] = true
		for _, of := range p.Targets {
			queries = append(queries, of.Expr)
			for _, l := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(of.Legend, -1) {
				if !regexp.MustCompile(`by \([^)]*\b` + l[1] + `\b`).MatchString(of.Expr) {
					t.Errorf("%s: the legend has %s, and the query has not", of.Expr, l[1])
				}
			}
		}
	}
	named := 0
	for _, q := range queries {
		labels := []string{}
		for _, name := range regexp.MustCompile(`cede_[a-z_]+`).FindAllString(q, -1) {
			seen[name] = true
			named++
			if all[name] == nil {
				t.Errorf("%s: the program exports no %s", q, name)
			}
			labels = append(labels, all[name]...)
		}
		for _, of := range regexp.MustCompile(`by \(([^)]*)\)|(\w+)=~?"|, (\w+)\)$`).FindAllStringSubmatch(q, -1) {
			for _, l := range strings.Split(of[1]+of[2]+of[3], ", ") {
				if !slices.Contains(labels, l) {
					t.Errorf("%s: what the program exports has no label %s, only %v", q, l, labels)
				}
			}
		}
	}
	if named < 10 {
		t.Errorf("only %d metrics are named", named)
	}
	page := string(must(os.ReadFile("../../docs/tasks/serve.md"))(t))
	for name, labels := range all {
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		want := "`" + name
		if labels = slices.DeleteFunc(labels, func(l string) bool { return l == "le" }); len(labels) > 0 {
			want += fmt.Sprintf("{%s}", strings.Join(labels, ","))
		}
		if !strings.Contains(page, want+"`") {
			t.Errorf("the page about serve has no %s`", want)
		}
		if !seen[name] && !seen[name+"_bucket"] {
			t.Errorf("no panel shows %s", name)
		}
	}
}
