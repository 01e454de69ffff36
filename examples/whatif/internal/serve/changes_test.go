package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// running is a cluster in which w1 of a namespace holds quota.
func running(t interface{ Fatal(...any) }) *Cluster {
	s, err := preemption.NewSnapshot(preemption.State{Queues: []queue.Queue{{Name: "q"}}, Admitted: []workload.Workload{{ID: "a/w1", Queue: "q"}}})
	if err != nil {
		t.Fatal(err)
	}
	return &Cluster{Snapshot: s}
}

// A reader who applies what it is told to the list with which it began has the list as it is, however slow it reads; unless it is told
// that it missed something, and what it is told of a change is what was and what is.
func TestChangesMakeTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, on := new(feed), running(t)
		l := f.join(Filter{}, -1, func(context.Context) {})
		defer f.leave()
		known, told := map[string]answers.Short{}, 0
		for range rapid.IntRange(1, 8).Draw(t, "looks") {
			list := &List{Workloads: rows(t, "rows"), of: on}
			f.compare(t.Context(), preemptiontest.Now, list, nil)
			if rapid.Bool().Draw(t, "slow") {
				continue
			}
			for {
				now, wait := f.tell(l, preemptiontest.Now)
				if wait != nil {
					break
				}
				if now.begun != nil {
					for i := range list.Workloads {
						known[list.Workloads[i].Workload] = list.Workloads[i].Short
					}
				}
				for _, c := range now.changes {
					told++
					was, there := known[c.Workload]
					if there != (c.Before != nil) || there && !cmp.Equal(was, *c.Before) {
						t.Fatalf("%+v, and the reader has %+v", c, was)
					}
					if c.After == nil || c.Kind == "runs" {
						delete(known, c.Workload)
						continue
					}
					known[c.Workload] = *c.After
				}
			}
			want := map[string]answers.Short{}
			for i := range list.Workloads {
				want[list.Workloads[i].Workload] = list.Workloads[i].Short
			}
			if !maps.EqualFunc(known, want, func(a, b answers.Short) bool { return cmp.Equal(a, b) }) {
				t.Fatalf("after %d changes the reader has %v, want %v", told, known, want)
			}
		}
	})
}

// What is kept is bounded. A reader who is too slow is told how many changes it missed, and goes on with the next one.
func TestSlowReadersAreTold(t *testing.T) {
	f, on := new(feed), running(t)
	l := f.join(Filter{}, 0, func(context.Context) {})
	defer f.leave()
	const looks = 3 * maxChanges
	for i := range looks + 1 {
		list := &List{Workloads: []Waits{{Workload: "a/w0", Short: answers.Short{Outcome: "Impossible", Missing: int64(i) + 1}}}, of: on}
		f.compare(t.Context(), preemptiontest.Now, list, nil)
		if len(f.changes) > maxChanges {
			t.Fatalf("%d changes are kept", len(f.changes))
		}
	}
	missed, read := int64(0), int64(0)
	for {
		now, wait := f.tell(l, preemptiontest.Now)
		if wait != nil {
			break
		}
		if now.missed != nil {
			missed += now.missed.Changes
		}
		for _, c := range now.changes {
			if read++; c.read != missed+read || c.After.Missing != missed+read+1 {
				t.Fatalf("change %d after %d missed: %+v", read, missed, c)
			}
		}
	}
	if missed == 0 || missed+read != looks {
		t.Errorf("%d missed, %d read, of %d", missed, read, looks)
	}
}

// How long ago something was is no change of an answer. A workload that has got its quota runs, another one is gone.
func TestWhatIsAChange(t *testing.T) {
	wait := func(in string, at time.Duration) answers.Short {
		return answers.Short{Outcome: "Wait", Words: "in " + in + ": fits", At: preemptiontest.Now.Add(at)}
	}
	awaits := func(age string) answers.Short {
		return answers.Short{Outcome: "Preempt", Words: "waits for b/x, told to leave " + age + " ago", Victims: []string{"b/x"}, Leaving: []string{"b/x"}}
	}
	for i, c := range []struct {
		before, after []Waits
		want          string
	}{
		{[]Waits{{Workload: "a/w0", Short: wait("5m", time.Hour)}}, []Waits{{Workload: "a/w0", Short: wait("4m", time.Hour)}}, ""},
		{[]Waits{{Workload: "a/w0", Short: wait("5m", time.Hour)}}, []Waits{{Workload: "a/w0", Short: wait("5m", time.Minute)}}, "better"},
		{[]Waits{{Workload: "a/w0", Short: awaits("5m")}}, []Waits{{Workload: "a/w0", Short: awaits("6m")}}, ""},
		{[]Waits{{Workload: "a/w0", Short: awaits("5m")}}, []Waits{{Workload: "a/w0", Short: answers.Short{Outcome: "Fits"}}}, "better"},
		{[]Waits{{Workload: "a/w0", Short: answers.Short{Outcome: "Held", Words: "held: a"}}}, []Waits{{Workload: "a/w0", Short: answers.Short{Outcome: "Held", Words: "held: b"}}}, "other"},
		{nil, []Waits{{Workload: "a/w0"}}, "waits"},
		{[]Waits{{Workload: "a/w1"}}, nil, "runs"},
		{[]Waits{{Workload: "a/w0"}}, nil, "gone"},
	} {
		f := new(feed)
		for _, list := range [][]Waits{c.before, c.after} {
			f.compare(t.Context(), preemptiontest.Now, &List{Workloads: list, of: running(t)}, nil)
		}
		got := ""
		for _, change := range f.changes {
			got += change.Kind
		}
		if got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

// events reads a stream.
type events struct {
	t    *testing.T
	in   *bufio.Scanner
	stop func()
}

func listen(t *testing.T, url, last string) *events {
	ctx, stop := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", last)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(err, answer)
	}
	return &events{t, bufio.NewScanner(answer.Body), func() { stop(); _ = answer.Body.Close() }}
}

// next is the next event; empty at the end of the stream.
func (e *events) next() (id, name, data string) {
	for e.in.Scan() {
		field, value, _ := strings.Cut(e.in.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			data = value
		case "":
			if name != "" {
				return id, name, data
			}
		}
	}
	return "", "", ""
}

func (e *events) want(name, has string) (id string) {
	e.t.Helper()
	id, got, data := e.next()
	if got != name || !strings.Contains(data, has) {
		e.t.Fatalf("event %q, %s, want %q, %s", got, data, name, has)
	}
	return id
}

func fits(id, queue string) Waits {
	return Waits{Workload: id, Queue: queue, Short: answers.Short{Outcome: "Fits", Words: "fits now"}}
}

// A stream begins with how many wait, tells changes as the filter says, goes on for a reader who comes back, and ends with the server.
func TestStream(t *testing.T) {
	ends := make(chan struct{})
	h, set := listing(t, Options{Ends: ends})
	set([]Waits{fits("a/x", "q")})
	server := httptest.NewServer(h)
	defer server.Close()
	all := listen(t, server.URL+"/v1/changes", "")
	other := listen(t, server.URL+"/v1/changes?queue=other", "")
	all.want("begin", `"waiting":1`)
	other.want("begin", `"waiting":1`)
	set([]Waits{fits("a/x", "q"), fits("b/y", "other")})
	read := all.want("change", `"workload":"b/y","queue":"other","change":"waits","after":{"outcome":"Fits","words":"fits now"}`)
	other.want("change", `"b/y"`)
	set([]Waits{{Workload: "a/x", Queue: "q", Short: answers.Short{Outcome: "Held", Words: "held: stopped"}}, fits("b/y", "other")})
	all.want("change", `"workload":"a/x","queue":"q","change":"worse","before":{"outcome":"Fits","words":"fits now"},"after":{"outcome":"Held","words":"held: stopped"}`)
	set([]Waits{{Workload: "a/x", Queue: "q", Short: answers.Short{Outcome: "Held", Words: "held: stopped"}}})
	all.want("change", `"change":"gone"`)
	other.want("change", `"change":"gone"`) // and nothing of a/x
	back := listen(t, server.URL+"/v1/changes", read)
	back.want("change", `"worse"`)
	back.want("change", `"gone"`)
	lost := listen(t, server.URL+"/v1/changes", "another-7")
	lost.want("missed", `{}`)
	lost.want("begin", `"waiting":1`)
	close(ends)
	for _, e := range []*events{all, other, back, lost} {
		if _, name, data := e.next(); name != "" {
			t.Errorf("after the end: %s %s", name, data)
		}
		e.stop()
	}
}

// A stream says when changes cannot be known, once, and goes on when they can. It is refused if too many listen; who leaves makes room.
func TestStreamFails(t *testing.T) {
	latest := new(Latest)
	set := func(err error) {
		c := running(t)
		c.List = func(context.Context) (List, error) {
			return List{Workloads: []Waits{fits(fmt.Sprint("a/", err), "q")}}, err
		}
		latest.Set(c)
	}
	set(errors.New("no cluster"))
	server := httptest.NewServer(Handler(Options{Cluster: latest.Get, Changed: latest.Changed, Now: func() time.Time { return preemptiontest.Now }}))
	defer server.Close()
	one := listen(t, server.URL+"/v1/changes", "")
	one.want("failed", "no cluster")
	set(nil)
	one.want("begin", `"waiting":1`)
	set(errors.New("no more"))
	one.want("failed", "no more")
	set(nil)
	one.want("begin", `"waiting":1`)
	list := []*events{one}
	for range maxListeners - 1 {
		list = append(list, listen(t, server.URL+"/v1/changes", ""))
	}
	refused, err := http.Get(server.URL + "/v1/changes")
	if err != nil || refused.StatusCode != http.StatusServiceUnavailable {
		t.Fatal(err, refused)
	}
	var f Failure
	if err := json.NewDecoder(refused.Body).Decode(&f); err != nil || f.Error == "" {
		t.Error(err, f)
	}
	_ = refused.Body.Close()
	for _, e := range list {
		e.stop()
	}
	for since := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		again, err := http.Get(server.URL + "/v1/changes?queue=none")
		if err != nil {
			t.Fatal(err)
		}
		_ = again.Body.Close()
		if again.StatusCode == http.StatusOK {
			break
		}
		if time.Since(since) > time.Minute {
			t.Fatal("nobody listens, and there is no room")
		}
	}
	if w := ask(Handler(Options{Cluster: latest.Get}), "GET", "/v1/changes?outcome=No&limit=3", ""); w.Code != http.StatusBadRequest {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
