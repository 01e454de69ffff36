package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cedesched/cede/examples/playground/model"
)

// Program serves the page, answered by this program in place of WebAssembly: it needs nothing that is built. A page
// begins with the document; each page that is open has edits of its own.
func Program(document model.Document) http.Handler {
	p := &program{document: document, pages: map[string]*model.Model{}}
	mux := http.NewServeMux()
	mux.Handle("GET /", Handler(programFiles()))
	mux.HandleFunc("POST /call/{name}", p.call)
	mux.HandleFunc("POST /open", p.open)
	mux.HandleFunc("POST /clusters", p.clusters)
	return mux
}

// programFiles are the files of the page without the WebAssembly.
func programFiles() map[string][]byte {
	files := Files(Programs{})
	delete(files, "cede.wasm.gz")
	delete(files, "worker.js")
	files["index.html"] = []byte(strings.Replace(string(files["index.html"]), "<html ", `<html data-engine="program" `, 1))
	return files
}

// program keeps what is open in pages.
type program struct {
	document model.Document

	mu    sync.Mutex
	pages map[string]*model.Model // by the name that a page gives itself
	order []string                // of the pages, the one opened first before
}

const (
	maxPages = 16      // that are open; the one opened first is forgotten
	maxCall  = 1 << 20 // bytes of the arguments of a call
	maxOpen  = 256 << 20
)

// open opens a document, or the input of other programs; without a body what the program was started with.
func (p *program) open(w http.ResponseWriter, r *http.Request) {
	p.answer(w, r, "application/octet-stream", func(id string) ([]byte, error) {
		d := p.document
		if r.ContentLength != 0 {
			now, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get("now"))
			if err == nil {
				d, err = model.Read(http.MaxBytesReader(w, r.Body, maxOpen), r.URL.Query().Get("name"), now)
			}
			if err != nil {
				return nil, err
			}
		}
		m, err := model.New(d)
		if err != nil {
			return nil, err
		}
		m.SelectTelling(200)
		p.keep(id, m)
		return []byte("null"), nil
	})
}

// clusters answers about several clusters.
func (p *program) clusters(w http.ResponseWriter, r *http.Request) {
	p.answer(w, r, "application/octet-stream", func(string) ([]byte, error) {
		return model.Clusters(http.MaxBytesReader(w, r.Body, maxOpen))
	})
}

// keep keeps a page, and forgets the one opened first if there are too many.
func (p *program) keep(id string, m *model.Model) {
	if p.pages[id] == nil {
		p.order = append(p.order, id)
	}
	p.pages[id] = m
	if len(p.order) > maxPages {
		delete(p.pages, p.order[0])
		p.order = slices.Delete(p.order, 0, 1)
	}
}

// call makes a call of package model.
func (p *program) call(w http.ResponseWriter, r *http.Request) {
	p.answer(w, r, "application/json", func(id string) ([]byte, error) {
		m := p.pages[id]
		if m == nil {
			return nil, errors.New("too many pages are open: reload this one")
		}
		data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCall))
		if err != nil {
			return nil, err
		}
		return m.Call(r.PathValue("name"), data)
	})
}

// answer runs a call of a page and writes its result, or {"error": text}. The type of the body is one that pages of
// other origins may not send.
func (p *program) answer(w http.ResponseWriter, r *http.Request, kind string, f func(id string) ([]byte, error)) {
	id := r.Header.Get("Cede-Page")
	if got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || got != kind || id == "" || len(id) > 64 {
		http.Error(w, fmt.Sprintf("want a body of %s, and the header Cede-Page", kind), http.StatusUnsupportedMediaType)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	result, err := f(id)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	out := map[string]json.RawMessage{"result": result}
	if err != nil {
		text, _ := json.Marshal(err.Error())
		out = map[string]json.RawMessage{"error": text}
	}
	_ = json.NewEncoder(w).Encode(out)
}
