package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

const smallState = `{"queues":[{"name":"a","quotas":[{"flavor":"f","resource":"cpu","nominal":%s}]}]}`

// Two hundred clients that begin a question and send no more of it keep nobody waiting.
func TestIdleClientsTakeNoTurn(t *testing.T) {
	snapshot, err := preemption.NewSnapshot(preemption.State{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(of(snapshot, Options{AtOnce: 1}))
	defer server.Close()
	for i := range 200 {
		client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		head := "POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
		if i%2 == 0 {
			head += "Content-Length: 1000\r\n\r\n{"
		}
		if _, err := io.WriteString(client, head); err != nil {
			t.Fatal(err)
		}
	}
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := io.WriteString(client, "GET /v1/workloads/a/waits/why HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%v: %+v", err, answer)
	}
	_ = answer.Body.Close()
}

// The same question about the same cluster is answered once, by whoever it is asked; about the next cluster anew.
func TestOneQuestionIsAnsweredOnce(t *testing.T) {
	var asked atomic.Int64
	about := func() *Cluster {
		return &Cluster{Why: func(string) (Why, error) { asked.Add(1); return Why{Notes: []string{}}, nil }}
	}
	var now atomic.Pointer[Cluster]
	now.Store(about())
	h := Handler(Options{Cluster: now.Load, Now: func() time.Time { return preemptiontest.Now }})
	for range 20 {
		ask(h, "GET", "/v1/workloads/a/waits/why", "")
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("20 times the same question: answered %d times", n)
	}
	now.Store(about())
	ask(h, "GET", "/v1/workloads/a/waits/why", "")
	if n := asked.Load(); n != 2 {
		t.Errorf("with the next cluster: answered %d times", n)
	}
	ask(h, "GET", "/v1/workloads/a/other/why", "")
	if n := asked.Load(); n != 3 {
		t.Errorf("another question: answered %d times", n)
	}
}

// What waits is listed with the answer about each.
func TestListOfWhatWaits(t *testing.T) {
	want := List{Workloads: []Waits{{Workload: "a/waits", Queue: "q", Position: 1}}, Notes: []string{"n"}}
	h := Handler(Options{Cluster: func() *Cluster {
		return &Cluster{List: func(context.Context) (List, error) { return want, nil }}
	}})
	w := ask(h, "GET", "/v1/workloads", "")
	var got List
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || len(got.Workloads) != 1 || got.Workloads[0].Workload != "a/waits" {
		t.Errorf("status %d, %v: %s", w.Code, err, w.Body)
	}
}

// Every error is JSON: those of the paths and methods, too.
func TestErrorsAreJSON(t *testing.T) {
	h := Handler(Options{Cluster: func() *Cluster { return &Cluster{} }})
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/v1/nothing", http.StatusNotFound}, {"GET", "/v1/decide", http.StatusMethodNotAllowed},
		{"DELETE", "/v1/workloads", http.StatusMethodNotAllowed}, {"POST", "/v1/decide", http.StatusBadRequest},
	} {
		w := ask(h, c.method, c.path, "{")
		var failure Failure
		if err := json.Unmarshal(w.Body.Bytes(), &failure); err != nil || failure.Error == "" || w.Code != c.status || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: status %d, %v: %s", c.method, c.path, w.Code, err, w.Body)
		}
	}
}

// Amounts in a body may be quantities, which are text; a wrong one is told with its place.
func TestQuantitiesInBodies(t *testing.T) {
	h := Handler(Options{Cluster: func() *Cluster { return &Cluster{} }, Now: func() time.Time { return preemptiontest.Now }})
	body := func(nominal string) string {
		return fmt.Sprintf(`{"state":`+smallState+`,"request":{"workload":{"id":"w","queue":"a","podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":"1500m"}]}]}}}`, nominal)
	}
	var first string
	for i, nominal := range []string{"2000", `"2"`, `"2000m"`} {
		w := ask(h, "POST", "/v1/decide", body(nominal))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"Fits"`) {
			t.Errorf("nominal %s: status %d: %s", nominal, w.Code, w.Body)
		}
		if i == 0 {
			first = w.Body.String()
		} else if w.Body.String() != first {
			t.Errorf("nominal %s: %s, not %s", nominal, w.Body, first)
		}
	}
	w := ask(h, "POST", "/v1/decide", body(`"2 pounds"`))
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "state.queues[0].quotas[0].nominal") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// An answer is kept from when it is there on, and longer if it took long; one that failed is not.
func TestAnswersAreKeptFromTheirEnd(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for took, want := range map[time.Duration]time.Duration{0: keptFor, time.Second: 10 * time.Second, time.Hour: keptMost} {
		a := &answered{done: make(chan struct{})}
		if a.over(now.Add(time.Hour)) {
			t.Error("over on its way")
		}
		if a.end(now, took); a.over(now.Add(want)) || !a.over(now.Add(want+1)) {
			t.Errorf("%v: kept until %v", took, a.until)
		}
		if a.err = context.DeadlineExceeded; !a.over(now) {
			t.Error("a fault is kept")
		}
	}
}
