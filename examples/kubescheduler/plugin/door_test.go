package plugin

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// door is between a scheduler and the API server. It keeps what the scheduler writes, and may close at a write: then
// the scheduler writes and sees nothing more, as if its process had been killed there.
type door struct {
	at      point
	closed  chan struct{} // closed when the scheduler comes to the point
	then    func()        // not nil: called then, while other writes wait, and the door stays open
	lag     time.Duration // how long the write before which the door closes is held
	mutex   sync.Mutex
	writes  map[kind]int
	evicted map[string]bool // by name
}

// kind is what a scheduler writes.
type kind string

const (
	nominates kind = "nomination"
	condition kind = "condition of a victim"
	evicts    kind = "eviction"
	binds     kind = "binding"
)

// point is the nth write of a kind, before it is made or after. No write of the kind without is made.
type point struct {
	kind
	nth     int
	after   bool
	without kind
}

// kindOf says what a request writes. Empty: none of the kinds.
func kindOf(r *http.Request, body []byte) kind {
	switch {
	case !strings.Contains(r.URL.Path, "/pods/"):
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/binding"):
		return binds
	case r.Method == http.MethodDelete:
		return evicts
	case r.Method == http.MethodPatch && bytes.Contains(body, []byte(`"nominatedNodeName":"`)):
		return nominates
	case r.Method == http.MethodPatch && bytes.Contains(body, []byte(`"DisruptionTarget"`)):
		return condition
	}
	return ""
}

// behind returns the cluster as it is behind a door that closes at a point.
func (c *cluster) behind(t *testing.T, at point) (*cluster, *door) {
	t.Helper()
	d := &door{at: at, closed: make(chan struct{}), writes: map[kind]int{}, evicted: map[string]bool{}}
	target, err := url.Parse(c.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	if proxy.Transport, err = rest.TransportFor(c.config); err != nil {
		t.Fatal(err)
	}
	proxy.FlushInterval = -1 // watches
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.pass(proxy, w, r) }))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	go func() {
		select {
		case <-d.closed:
			if d.then == nil {
				server.CloseClientConnections()
			}
		case <-t.Context().Done():
		}
	}()
	return &cluster{Clientset: c.Clientset, config: &rest.Config{Host: server.URL}}, d
}

// pass lets a request pass, unless the door is closed or closes before it. A handler that aborts leaves its client
// without an answer.
func (d *door) pass(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
	is := kind("")
	if r.Method != http.MethodGet {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		is = kindOf(r, body)
	}
	if is != "" && is == d.at.without {
		<-d.closed
	}
	here := d.count(is, path.Base(r.URL.Path))
	if d.then != nil || !here && !d.isClosed() {
		proxy.ServeHTTP(w, r)
		return
	}
	if here {
		time.Sleep(d.lag)
	}
	if here && d.at.after {
		proxy.ServeHTTP(httptest.NewRecorder(), r) // written, but the answer does not arrive
	}
	if here {
		close(d.closed)
	}
	panic(http.ErrAbortHandler)
}

// count counts a write, and reports whether the door closes at it.
func (d *door) count(is kind, name string) (here bool) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.writes[is]++; is == evicts {
		d.evicted[name] = true
	}
	here = is != "" && is == d.at.kind && d.writes[is] == d.at.nth
	if here && d.then != nil {
		d.then()
		close(d.closed)
	}
	return here
}

// told reports whether a victim was told to stop.
func (d *door) told() bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.writes[condition]+d.writes[evicts] > 0
}

func (d *door) isClosed() bool {
	select {
	case <-d.closed:
		return true
	default:
		return false
	}
}

// await waits until the scheduler comes to the point.
func (d *door) await(t *testing.T) {
	t.Helper()
	select {
	case <-d.closed:
	case <-time.After(time.Minute):
		t.Errorf("the scheduler never comes to this point: %v", d.writes)
	}
}
