package serve

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Filter chooses among what waits.
type Filter struct {
	Queue     string   `json:"queue" about:"only workloads of this queue"`
	Namespace string   `json:"namespace" about:"only workloads of this namespace"`
	Outcome   []string `json:"outcome" about:"only answers with this outcome: Fits, Preempt, Gated, Wait, Impossible, Held or Unknown"`
}

// Page is the part of what waits that is asked for.
type Page struct {
	Filter
	Limit    int    `json:"limit" about:"at most so many workloads, up to 5000; absent: 500"`
	Continue string `json:"continue" about:"go on behind this place, which the page before said"`
}

// Limits of a page.
const (
	pageSize = 500
	maxPage  = 5000
)

// outcomes are those of answers about what waits.
var outcomes = []string{
	preemption.Fits.String(), preemption.Preempt.String(), preemption.Gated.String(), preemption.Wait.String(), preemption.Impossible.String(), answers.Held, answers.Unknown,
}

// List is what waits, with answers, in the order of the queues: by queue, then as its queue serves it, in the end by ID.
type List struct {
	Workloads []Waits `json:"workloads"`
	Count     int     `json:"count"` // that the filter accepts, on all pages
	// Continue is the place of the last workload; absent: there is nothing behind it. The next page begins behind that place in the
	// cluster as it is then: a workload that keeps its place is on one page; one that got another place may be on two, or on none.
	Continue string `json:"continue,omitempty"`
	// Cluster is another text once the cluster was read anew. While it is the same, the pages are of one list.
	Cluster string `json:"cluster"`
	More    int    `json:"more"` // that wait and were not looked at, for there are too many; whatever the filter
	// Notes say what the cluster leaves out.
	Notes []string `json:"notes"`

	// Skipped are those that More counts.
	Skipped []Waits `json:"-"`
	of      *Cluster
}

// place is where a workload stands in the list.
type place struct {
	Queue    string    `json:"q"`
	Priority int64     `json:"p"`
	Queued   time.Time `json:"t,omitzero"`
	ID       string    `json:"w"`
}

// compare is the order of the list.
func (p *place) compare(w *Waits) int {
	return answers.CompareWaiting(&workload.Workload{ID: p.ID, Queue: p.Queue, Priority: p.Priority, Queued: p.Queued},
		&workload.Workload{ID: w.Workload, Queue: w.Queue, Priority: w.Priority, Queued: w.Queued})
}

func (f *Filter) check() error {
	var faults preemption.Faults
	for _, o := range f.Outcome {
		if !slices.Contains(outcomes, o) {
			faults.Add("outcome", "%q: want one of %q", o, outcomes)
		}
	}
	return faults.Err()
}

// accepts reports whether a workload is of the queue and namespace that are asked for; of an outcome, if it is not empty.
func (f *Filter) accepts(id, queue, outcome string) bool {
	return (f.Queue == "" || queue == f.Queue) && (f.Namespace == "" || answers.Namespace(id) == f.Namespace) &&
		(len(f.Outcome) == 0 || slices.Contains(f.Outcome, outcome))
}

// of returns the page of a list.
func (p *Page) of(all *List) (List, error) {
	var after *place
	var faults preemption.Faults
	if p.Continue != "" {
		after = new(place)
		text, err := base64.RawURLEncoding.DecodeString(p.Continue)
		if err = cmp.Or(err, json.Unmarshal(text, after)); err != nil {
			faults.Add("continue", "%q is not what a page said", p.Continue)
		}
	}
	if p.Limit < 0 || p.Limit > maxPage {
		faults.Add("limit", "%d: want 1 to %d", p.Limit, maxPage)
	}
	if err := faults.Err(); err != nil {
		return List{}, err
	}
	out := *all
	out.Workloads, out.Skipped = []Waits{}, nil
	for i := range all.Workloads {
		w := &all.Workloads[i]
		if !p.accepts(w.Workload, w.Queue, w.Outcome) {
			continue
		}
		out.Count++
		if after != nil && after.compare(w) >= 0 {
			continue
		}
		if len(out.Workloads) < cmp.Or(p.Limit, pageSize) {
			out.Workloads = append(out.Workloads, *w)
		} else if out.Continue == "" {
			out.Continue = placeOf(&out.Workloads[len(out.Workloads)-1])
		}
	}
	return out, nil
}

// placeOf is the place of a workload as a text.
func placeOf(w *Waits) string {
	text, _ := json.Marshal(place{w.Queue, w.Priority, w.Queued, w.Workload}) // it has no value that is not JSON
	return base64.RawURLEncoding.EncodeToString(text)
}

const listPath = "/v1/workloads"

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	page := new(Page)
	if err := cmp.Or(parameters(r.URL.Query(), page), page.check()); err != nil {
		s.write(w, r, nil, err)
		return
	}
	value, err := s.answered(r.Context(), "workloads", listPath, s.all)
	if err == nil {
		value, err = page.of(value.(*List))
	}
	s.write(w, r, value, err)
}

// all is the list of all that waits.
func (s *server) all(ctx context.Context) (any, error) {
	c := s.Cluster()
	l, err := c.List(ctx)
	l.of, l.Cluster = c, s.process+"-"+strconv.FormatInt(s.serials.of(c), 10)
	return &l, err
}

// serials number the clusters that are read one after the other.
type serials struct {
	mu     sync.Mutex
	last   *Cluster
	number int64
}

func (s *serials) of(c *Cluster) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != c {
		s.last = c
		s.number++
	}
	return s.number
}
