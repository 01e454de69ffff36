package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/workload"
)

// of returns a handler about a snapshot.
func of(s *preemption.Snapshot, o Options) http.Handler {
	o.Cluster = func() *Cluster {
		return &Cluster{Snapshot: s, Notes: []string{"a note"}, Why: func(id string) (Why, error) {
			switch id {
			case "a/waits":
				return Why{Notes: []string{}}, nil
			case "a/runs":
				return Why{}, fmt.Errorf("%w: it has quota", ErrRuns)
			}
			return Why{}, fmt.Errorf("%w: %s", ErrNotThere, id)
		}}
	}
	if o.Now == nil {
		o.Now = func() time.Time { return preemptiontest.Now }
	}
	return Handler(o)
}

// ask asks a handler.
func ask(h http.Handler, method, path string, body any) *httptest.ResponseRecorder {
	var data []byte
	switch b := body.(type) {
	case string:
		data = []byte(b)
	default:
		data, _ = json.Marshal(b) // of the library's own types
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), method, path, bytes.NewReader(data)))
	return w
}

// The answers about a state that comes with the question are those of the library, and so are those about the cluster, and about
// the cluster after changes.
func TestAnswersAreThoseOfTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := preemptiontest.Records().Draw(t, "record")
		snapshot, err := preemption.NewSnapshot(record.State)
		if err != nil {
			t.Fatal(err)
		}
		p, err := preemption.New(preemption.Config{})
		if err != nil {
			t.Fatal(err)
		}
		same := func(path string, body any, read func([]byte) (preemption.Decision, error), on *preemption.Snapshot) {
			want, wrong := p.Decide(on, *record.Request)
			w := ask(of(snapshot, Options{}), "POST", path, body)
			if wrong != nil {
				if w.Code != http.StatusBadRequest {
					t.Fatalf("%s: status %d for %v", path, w.Code, wrong)
				}
				return
			}
			got, err := read(w.Body.Bytes())
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(want)
			if err != nil || w.Code != http.StatusOK || !bytes.Equal(a, b) {
				t.Fatalf("%s: status %d, %v\n%s\nwant\n%s", path, w.Code, err, a, b)
			}
		}
		one := func(data []byte) (preemption.Decision, error) {
			var a Answer
			err := json.Unmarshal(data, &a)
			return a.Decision, err
		}
		many := func(data []byte) (preemption.Decision, error) {
			var a Simulated
			if err := json.Unmarshal(data, &a); err != nil || len(a.Answers) != 1 {
				return preemption.Decision{}, errors.Join(err, errors.New("want one answer"))
			}
			return a.Answers[0].Decision, nil
		}
		same("/v1/decide", record, one, snapshot)
		same("/v1/explain", record, one, snapshot)
		same("/v1/decide", map[string]any{"request": record.Request}, one, snapshot)
		edits, changes := []map[string]any{}, []preemption.Edit{}
		for _, w := range record.State.Admitted {
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				edits, changes = append(edits, map[string]any{"remove": map[string]any{"workload": w.ID}}), append(changes, preemption.Remove(w.ID))
			case 1:
				if !w.Evicted {
					edits, changes = append(edits, map[string]any{"startEviction": map[string]any{"workload": w.ID}}), append(changes, preemption.StartEviction(w.ID))
				}
			}
		}
		after, err := snapshot.With(changes...)
		if err != nil {
			t.Fatal(err)
		}
		same("/v1/simulate", map[string]any{"state": record.State, "edits": edits, "requests": []any{record.Request}}, many, after)
	})
}

// Each change has a field of its own.
func TestEdits(t *testing.T) {
	for i := range reflect.TypeFor[Edit]().NumField() {
		var e Edit
		f := reflect.ValueOf(&e).Elem().Field(i)
		f.Set(reflect.New(f.Type().Elem()))
		name, _, _ := strings.Cut(reflect.TypeFor[Edit]().Field(i).Tag.Get("json"), ",")
		edit, problem := e.edit()
		if problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
		// What is empty is refused, but for a removal of nothing by name.
		if _, err := new(preemption.Snapshot).With(edit); err == nil {
			t.Errorf("%s changes nothing", name)
		}
	}
}

func TestBadQuestions(t *testing.T) {
	snapshot := new(preemption.Snapshot)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v1/decide", ``, 400, `the body is empty`},
		{"POST", "/v1/decide", `{`, 400, `not JSON`},
		{"POST", "/v1/decide", `[]`, 400, `want an object, found a list`},
		{"POST", "/v1/decide", `{"request":{},"request":{}}`, 400, `request: is there twice`},
		{"POST", "/v1/decide", `{"rekwest":{}}`, 400, `rekwest: is not a field that is known`},
		{"POST", "/v1/decide", `{"request":{"workload":{"podSets":[{"count":"many"}]}}}`, 400, `request.workload.podSets[0].count: want an integer, found a string`},
		{"POST", "/v1/decide", `{}`, 400, `"path":"request","problem":"is missing"`},
		{"POST", "/v1/explain", `{"sharing":"Often","request":{}}`, 400, `sharing: `},
		{"POST", "/v1/explain", `{}`, 400, `"path":"request"`},
		{"POST", "/v1/decide", `{"state":{"queues":[{"name":"q","quotas":[{"flavor":"f","resource":"r","nominal":-1}]},{"name":""}]},"request":{}}`, 400,
			`"faults":[{"path":"state.queues[0].quotas[0].nominal","problem":"-1 is negative (queue \"q\")"},{"path":"state.queues[1].name"`},
		{"POST", "/v1/decide", `{"request":{"workload":{"id":"x","queue":"none"}}}`, 400, `"path":"request.workload.queue","problem":"unknown queue \"none\""`},
		{"POST", "/v1/simulate", `{"edits":[{"remove":{"workload":"x"}}],"requests":[{}]}`, 400, `"path":"edits[0]"`},
		{"POST", "/v1/simulate", `{"edits":[{"remove":{"workload":"x"},"removeQueue":"y"}],"requests":[{}]}`, 400, `has 2 changes, want one of admit, `},
		{"POST", "/v1/simulate", `{"edits":[{}]}`, 400, `"path":"requests","problem":"is empty"`},
		{"POST", "/v1/simulate", `{"requests":[{"workload":{"id":"x","queue":"none"}},{"workload":{"id":"y","queue":"none"}}]}`, 400, `"path":"requests[1].workload.queue"`},
		{"POST", "/v1/decide", strings.Repeat(" ", 2000), 413, `the body has more than 1000 bytes`},
		{"GET", "/v1/decide", ``, 405, ``},
		{"POST", "/v1/decode", `{}`, 404, ``},
		{"GET", "/v1/workloads/a/gone/why", ``, 404, `not in the cluster: a/gone`},
		{"GET", "/v1/workloads/a/runs/why", ``, 409, `it does not wait`},
		{"GET", "/v1/workloads/a/waits/why", ``, 200, `"notes":[]`},
		{"GET", "/openapi.json", ``, 200, `"openapi"`},
		{"GET", "/healthz", ``, 200, `ok`},
	} {
		w := ask(of(snapshot, Options{MaxBody: 1000}), c.method, c.path, c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s %.60s: status %d, %s, want %d, %s", c.method, c.path, c.body, w.Code, w.Body, c.status, c.want)
		}
	}
}

// Under a flood each question has its answer in its turn; one whose time is over before that is told so, and one whose client is
// gone is told nothing.
func TestTurns(t *testing.T) {
	world := scenario.Worlds[0]
	s := world.Scenarios()[0]
	snapshot, err := preemption.NewSnapshot(world.State())
	if err != nil {
		t.Fatal(err)
	}
	h := of(snapshot, Options{AtOnce: 2})
	body := map[string]any{"request": s.Request}
	want := ask(h, "POST", "/v1/decide", body)
	var all sync.WaitGroup
	for range 500 {
		all.Go(func() {
			if got := ask(h, "POST", "/v1/decide", body); got.Code != http.StatusOK || got.Body.String() != want.Body.String() {
				t.Errorf("status %d: %s", got.Code, got.Body)
			}
		})
	}
	all.Wait()

	held := make(chan struct{})
	slow := of(snapshot, Options{AtOnce: 1, Timeout: 50 * time.Millisecond, Now: func() time.Time {
		<-held
		return preemptiontest.Now
	}})
	timeless := map[string]any{"request": preemption.Request{Workload: workload.Workload{ID: "x"}}}
	for range 2 { // the first is being answered, the second waits for its turn
		if w := ask(slow, "POST", "/v1/decide", timeless); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	}
	close(held)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(gone, "POST", "/v1/simulate", strings.NewReader(`{"requests":[{}]}`)))
	if w.Code == http.StatusOK {
		t.Errorf("a question of a client that is gone is answered: %s", w.Body)
	}
}

// Answers are counted by question and verdict; a label is written so that it can be read.
func TestAnswersAreCounted(t *testing.T) {
	h, set := listing(t, Options{})
	set([]Waits{{Workload: "a/x", Queue: "q\"\n\\", Short: answers.Short{Outcome: "Fits"}}, {Workload: "a/y", Queue: "p", Short: answers.Short{Outcome: "Held"}}})
	for range 3 {
		ask(h, "GET", listPath, "")
	}
	ask(h, "GET", listPath+"?limit=x", "")
	ask(h, "POST", "/v1/decide", fmt.Sprintf(`{"state":%s,"request":{"workload":{"id":"n","queue":"a","podSets":[{"name":"m","count":1,"requests":[{"resource":"cpu","amount":1}]}]}}}`, fmt.Sprintf(smallState, "8")))
	text := ask(h, "GET", "/metrics", "").Body.String()
	for _, want := range []string{
		`cede_answers_total{outcome="answered",question="workloads"} 3`, `cede_answers_total{outcome="refused",question="workloads"} 1`, `cede_answers_total{outcome="Fits",question="decide"} 1`,
		`cede_answer_seconds_count{question="workloads"} 1`, `cede_waiting_workloads{outcome="Fits",queue="q\"\n\\"} 1`, `cede_waiting_workloads{outcome="Held",queue="p"} 1`, `cede_waiting_known 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
