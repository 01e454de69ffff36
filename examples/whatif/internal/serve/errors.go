package serve

import (
	"encoding/json"
	"net/http"
	"strings"
)

// inJSON answers with JSON where a handler answers with the text of an error: a path or method that is not there.
func inJSON(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&errorWriter{ResponseWriter: w}, r) })
}

// errorWriter turns the text of an error into JSON.
type errorWriter struct {
	http.ResponseWriter
	failed bool
}

func (e *errorWriter) WriteHeader(status int) {
	if e.failed = status >= 400 && strings.HasPrefix(e.Header().Get("Content-Type"), "text/plain"); e.failed {
		e.Header().Set("Content-Type", "application/json")
	}
	e.ResponseWriter.WriteHeader(status)
}

func (e *errorWriter) Write(text []byte) (int, error) {
	if !e.failed {
		return e.ResponseWriter.Write(text)
	}
	return len(text), json.NewEncoder(e.ResponseWriter).Encode(Failure{Error: strings.TrimSpace(string(text))})
}

// Unwrap is for http.ResponseController.
func (e *errorWriter) Unwrap() http.ResponseWriter { return e.ResponseWriter }
