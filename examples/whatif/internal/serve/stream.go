package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// silence is the longest time in which a stream sends nothing: what stands between forgets connections that are silent for longer.
const silence = 15 * time.Second

// errTooMany says that a stream was refused.
var errTooMany = errors.New("too many listen to changes already")

// changes is a stream of server-sent events. The ID of an event says how many changes the reader has with it, so that a reader who
// comes back goes on where it was.
func (s *server) changes(w http.ResponseWriter, r *http.Request) {
	filter := new(Filter)
	if err := cmp.Or(parameters(r.URL.Query(), filter), filter.check()); err != nil {
		s.write(w, r, nil, err)
		return
	}
	id := r.Header.Get("Last-Event-ID")
	l := s.feed.join(*filter, s.position(id), s.look)
	if l == nil {
		s.write(w, r, nil, errTooMany)
		return
	}
	defer s.feed.leave()
	out := &stream{http.NewResponseController(w), w, s.Timeout}
	_ = out.SetReadDeadline(time.Time{}) // that of a question; where there is none, none has to go
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	text := *bytes.NewBufferString(":\n\n") // at once: who listens need not wait for the first look
	if id != "" && !l.begun {
		text.WriteString(s.event("missed", -1, Missed{}))
	}
	for {
		t, wait := s.feed.tell(l, s.Now())
		s.words(&text, &t)
		if wait != nil && text.Len() == 0 {
			timer := time.NewTimer(silence)
			select {
			case <-wait:
			case <-timer.C:
				text.WriteString(":\n\n")
			case <-r.Context().Done():
			case <-s.Ends:
				return
			}
			timer.Stop()
		}
		if r.Context().Err() != nil || out.send(&text) != nil {
			return
		}
	}
}

// position reads from an ID how many changes a reader has; -1: that is not known.
func (s *server) position(id string) int64 {
	process, number, _ := strings.Cut(id, "-")
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && process == s.process {
		return n
	}
	return -1
}

// words writes what a listener is told.
func (s *server) words(text *bytes.Buffer, t *told) {
	if t.failed != nil {
		text.WriteString(s.event("failed", -1, failure(t.failed)))
	}
	if t.begun != nil {
		text.WriteString(s.event("begin", t.read, t.begun))
	}
	if t.missed != nil {
		text.WriteString(s.event("missed", -1, t.missed))
	}
	for i := range t.changes {
		text.WriteString(s.event("change", t.changes[i].read, t.changes[i].Change))
	}
}

// event is an event with the number of changes that the reader has then; -1: as many as before.
func (s *server) event(name string, read int64, data any) string {
	id := ""
	if read >= 0 {
		id = fmt.Sprintf("id: %s-%d\n", s.process, read)
	}
	value, _ := json.Marshal(data) // it has no value that is not JSON
	return fmt.Sprintf("%sevent: %s\ndata: %s\n\n", id, name, value)
}

// stream is the way to a reader.
type stream struct {
	*http.ResponseController
	to      http.ResponseWriter
	timeout time.Duration
}

// send sends a text to the reader at once. Who does not read it in time is gone.
func (s *stream) send(text *bytes.Buffer) error {
	_ = s.SetWriteDeadline(time.Now().Add(s.timeout)) // where there is none, the reader has all the time
	_, err := text.WriteTo(s.to)
	return cmp.Or(err, s.Flush())
}
