// Package input reads objects of Kubernetes out of files and pipes, as kubectl prints them: JSON or YAML, an object, a
// list, a list of one kind, the events of a watch, arrays, several of these one after the other; with a byte-order mark,
// in UTF-16, gzipped.
//
// Objects of JSON are read one at a time. An odd object costs only itself: it is left out, and a note says which and why.
// What is not JSON or YAML is an error, and so is what is larger than anything that an API server stores.
package input

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Source is a named input.
type Source struct {
	Name   string // as in messages
	Reader io.Reader
	file   string // opened when its turn comes
	// Through is what the input is read through. Nil: nothing.
	Through func(io.Reader) io.Reader
}

// Files are the named files; "-" is what is piped in, which may be nil: a terminal.
func Files(names []string, piped io.Reader) ([]Source, error) {
	var sources []Source
	for _, name := range names {
		if name != "-" {
			sources = append(sources, Source{Name: name, file: name})
			continue
		}
		if piped == nil {
			return nil, errors.New("standard input is a terminal: pipe objects into it, or give -f FILE")
		}
		sources = append(sources, Source{Name: "standard input", Reader: piped})
	}
	return sources, nil
}

// ErrNotRead is what a visitor returns for an object of a kind that it does not read.
var ErrNotRead = errors.New("not of a kind that is read here")

// ErrAgain is what a visitor returns for an object that was there already, and whose last state it keeps.
var ErrAgain = errors.New("is in the input more than once: the last one counts")

// Options say what is read besides objects of Kubernetes.
type Options struct {
	// Keys are those by which a document without kind is told that is read as well: the visitor gets it, with all of
	// its Fields and without Kind.
	Keys []string
	// Nameless are the kinds that are read though they have no metadata.name: the configuration of a program.
	Nameless []string
	// Lost is told of what is left out without being handed out, as it has no name or kind that can be read: it may be
	// anything. The kind may be known. Nil: it is not told.
	Lost func(o *Object, why error)
}

// Read calls visit with each object of the sources, in order, and returns the notes on those that were left out: each
// for which visit did not return nil. It fails on what cannot be read, naming the place, and on sources in which nothing
// can be.
func Read(sources []Source, options Options, visit func(*Object) error) (notes []string, err error) {
	r := &reader{options: options, visit: visit, many: len(sources) > 1}
	for _, s := range sources {
		r.source, r.items, r.last = s.Name, 0, nil
		if err := r.open(s); err != nil {
			after := ""
			if r.items > 0 {
				after = " (after " + r.lastItem() + ")"
			}
			return nil, errors.New(oneLine(fmt.Sprintf("%s: %v%s", s.Name, err, after)))
		}
	}
	if r.used == 0 && r.first != nil {
		return nil, nothing{r.first}
	}
	return r.notes(), nil
}

// nothing is the error of sources in which nothing can be read, though they are what they should be.
type nothing struct{ error }

// IsNothing reports whether [Read] failed because nothing in its sources is of a kind that is read.
func IsNothing(err error) bool { return errors.As(err, new(nothing)) }

func (r *reader) open(s Source) error {
	through := func(in io.Reader) error {
		if s.Through != nil {
			in = s.Through(in)
		}
		return r.read(in)
	}
	in, err := s.opened()
	if err != nil {
		return err
	}
	defer in.Close()
	return through(in)
}

// opened opens a source. Its errors do not name it.
func (s *Source) opened() (io.ReadCloser, error) {
	if s.Reader != nil {
		return io.NopCloser(s.Reader), nil
	}
	f, err := os.Open(s.file)
	if err != nil {
		return nil, errors.Unwrap(err) // without the name, which is there already
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, errors.New("is a directory")
	}
	return f, nil
}

// Begin returns the first bytes of a source, unzipped and decoded, which stay in it. It fails on what cannot be opened.
func (s *Source) Begin(n int) ([]byte, error) {
	in, err := s.opened()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	text, err := Text(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	begin := bufio.NewReaderSize(text, n)
	s.Reader = begin
	all, _ := begin.Peek(n) // what is wrong with it is told where it is read
	return all, nil
}

// oneLine keeps a message of a library on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
