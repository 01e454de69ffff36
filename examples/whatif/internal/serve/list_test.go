package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// rows draws what waits, in the order of the list.
func rows(t *rapid.T, label string) []Waits {
	list := []Waits{}
	for id := range rapid.IntRange(0, 12).Draw(t, label) {
		w := Waits{
			Workload: fmt.Sprintf("%s/w%d", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace"), id),
			Queue:    rapid.SampledFrom([]string{"q", "r"}).Draw(t, "queue"), Priority: int64(rapid.IntRange(0, 1).Draw(t, "priority")),
			Short: answers.Short{Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"), Missing: int64(rapid.IntRange(0, 1).Draw(t, "missing"))},
		}
		if rapid.Bool().Draw(t, "queued") {
			w.Queued = preemptiontest.Now.Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "age")))
		}
		w.Words = fmt.Sprint("in a minute: ", w.Outcome, w.Missing) // of a wait the words after the colon count
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b Waits) int {
		return (&place{a.Queue, a.Priority, a.Queued, a.Workload}).compare(&b)
	})
	return list
}

// listing is a handler about lists that are set.
func listing(t interface{ Fatal(...any) }, o Options) (h http.Handler, set func([]Waits)) {
	snapshot, err := preemption.NewSnapshot(preemption.State{})
	if err != nil {
		t.Fatal(err)
	}
	latest := new(Latest)
	set = func(list []Waits) {
		latest.Set(&Cluster{Snapshot: snapshot, List: func(context.Context) (List, error) { return List{Workloads: list, Notes: []string{}}, nil }})
	}
	o.Cluster, o.Changed, o.Now = latest.Get, latest.Changed, func() time.Time { return preemptiontest.Now }
	return Handler(o), set
}

func pageOf(t interface{ Fatal(...any) }, h http.Handler, query string) (l List) {
	w := ask(h, "GET", listPath+"?"+query, "")
	if err := json.Unmarshal(w.Body.Bytes(), &l); err != nil || w.Code != http.StatusOK {
		t.Fatal(w.Code, err, w.Body)
	}
	return l
}

func names(list []Waits) (ids []string) {
	for i := range list {
		ids = append(ids, list[i].Workload)
	}
	return ids
}

// The pages of a list are the list, whatever their size and the filter; each says how many there are.
func TestPagesAreTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rows(t, "rows")
		h, set := listing(t, Options{})
		set(all)
		query := url.Values{}
		filter := Filter{Queue: rapid.SampledFrom([]string{"", "q", "x"}).Draw(t, "of"), Namespace: rapid.SampledFrom([]string{"", "a"}).Draw(t, "in")}
		if rapid.Bool().Draw(t, "by outcome") {
			filter.Outcome = []string{"Fits", "Held"}
		}
		query.Set("queue", filter.Queue)
		query.Set("namespace", filter.Namespace)
		query["outcome"] = filter.Outcome
		want := names(slices.DeleteFunc(slices.Clone(all), func(w Waits) bool {
			namespace, _, _ := strings.Cut(w.Workload, "/")
			return filter.Queue != "" && w.Queue != filter.Queue || filter.Namespace != "" && namespace != filter.Namespace || filter.Outcome != nil && w.Outcome != "Fits" && w.Outcome != "Held"
		}))
		query.Set("limit", fmt.Sprint(rapid.IntRange(1, 5).Draw(t, "limit")))
		var got, clusters []string
		for {
			page := pageOf(t, h, query.Encode())
			got, clusters = append(got, names(page.Workloads)...), append(clusters, page.Cluster)
			if page.Count != len(want) || len(got) > len(want) {
				t.Fatalf("%v, %d said, want %v", got, page.Count, want)
			}
			if page.Continue == "" {
				break
			}
			query.Set("continue", page.Continue)
		}
		if !slices.Equal(got, want) || len(slices.Compact(clusters)) != 1 {
			t.Fatalf("%v in clusters %v, want %v", got, clusters, want)
		}
	})
}

// Who keeps its place while pages are read is on one of them, whoever else comes and goes; and the reader sees that the cluster
// was another one.
func TestPagesSurviveEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := rows(t, "before"), rows(t, "after")
		h, set := listing(t, Options{})
		set(before)
		first := pageOf(t, h, "limit=2")
		set(after)
		if first.Continue == "" {
			return
		}
		rest := pageOf(t, h, "continue="+first.Continue)
		if rest.Cluster == first.Cluster {
			t.Fatal("the cluster is another one, and nobody says so")
		}
		for i := range before {
			stays := slices.ContainsFunc(after, func(w Waits) bool {
				return w.Workload == before[i].Workload && w.Queue == before[i].Queue && w.Priority == before[i].Priority && w.Queued.Equal(before[i].Queued)
			})
			on := 0
			for _, id := range slices.Concat(names(first.Workloads), names(rest.Workloads)) {
				if id == before[i].Workload {
					on++
				}
			}
			if stays && on != 1 {
				t.Fatalf("%s is on %d pages: %v, %v", before[i].Workload, on, names(first.Workloads), names(rest.Workloads))
			}
		}
	})
}

func TestListParameters(t *testing.T) {
	h, set := listing(t, Options{})
	set(nil)
	for query, want := range map[string]string{
		"limit=x":                   `limit`,
		"limit=5001":                `5001: want 1 to 5000`,
		"limit=-1":                  `-1: want 1 to 5000`,
		"limit=1&limit=2":           `is there 2 times`,
		"outcome=Maybe":             `\"Maybe\": want one of`,
		"continue=zzz":              `is not what a page said`,
		"page=2":                    `is not known: want one of continue, limit, namespace, outcome, queue`,
		"page=2&limit=x&outcome=No": `2 of the values are wrong`,
	} {
		if w := ask(h, "GET", listPath+"?"+query, ""); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: status %d, %s, want %s", query, w.Code, w.Body, want)
		}
	}
	many := make([]Waits, pageSize+1)
	for i := range many {
		many[i] = Waits{Workload: fmt.Sprintf("a/%04d", i)}
	}
	set(many)
	if page := pageOf(t, h, ""); len(page.Workloads) != pageSize || page.Count != len(many) || page.Continue == "" {
		t.Errorf("%d workloads of %d", len(page.Workloads), page.Count)
	}
}
