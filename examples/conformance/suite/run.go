package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Options bound how a program is asked.
type Options struct {
	// Each is how long it may take for an answer. Zero: 10 seconds.
	Each time.Duration
	// Total is how long it may take for all of them; what is not asked then failed. Zero: 10 minutes.
	Total time.Duration
	// Starts is how often it is started anew after it died or was late. Zero: 10.
	Starts int
	// Stderr gets what the program writes there.
	Stderr io.Writer
}

// Count counts the questions about one thing.
type Count struct {
	Passed   int `json:"passed"`
	Failed   int `json:"failed"`
	NotAsked int `json:"notAsked"`
}

func (c Count) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d not asked", c.Passed, c.Failed, c.NotAsked)
}

// Report says how a program answered.
type Report struct {
	Version string `json:"version"`
	Count
	// Forms, Features and Parts count by form, by each feature that a question uses, and by each part of the answers that are asked for.
	Forms    map[string]*Count `json:"forms"`
	Features map[string]*Count `json:"features"`
	Parts    map[string]*Count `json:"parts"`
	// Died counts how often the program ended or was stopped, Malformed the lines that were no answer, Refused the questions that
	// it answered with an error.
	Died      int       `json:"died"`
	Malformed int       `json:"malformed"`
	Refused   int       `json:"refused"`
	Failures  []Failure `json:"failures,omitempty"`
}

// Failure is a question that was not answered right.
type Failure struct {
	ID    string   `json:"id"`
	Form  string   `json:"form"`
	Parts []string `json:"parts,omitempty"`
	Error string   `json:"error,omitempty"`
	// Question is what was asked, Wanted the answer of the archive, Got that of the program; none if it gave none.
	Question json.RawMessage `json:"question"`
	Wanted   json.RawMessage `json:"wanted"`
	Got      json.RawMessage `json:"got,omitempty"`
	// Sentences say what decides the parts that differ, in their order; none where there is no answer to compare.
	Sentences []Sentence `json:"sentences,omitempty"`
}

// Run asks a program all cases that it claims. The error says that it cannot be started at all.
func Run(args []string, list []Case, claims Claims, o Options) (*Report, error) {
	if o.Each == 0 {
		o.Each = 10 * time.Second
	}
	if o.Total == 0 {
		o.Total = 10 * time.Minute
	}
	if o.Starts == 0 {
		o.Starts = 10
	}
	r := &Report{Version: Version, Forms: map[string]*Count{}, Features: map[string]*Count{}, Parts: map[string]*Count{}}
	end := time.Now().Add(o.Total)
	var running *program // started when the first question is asked
	defer func() {
		if running != nil {
			running.end()
		}
	}()
	lost := ""
	for i := range list {
		c := &list[i]
		var parts []string
		var err error
		if claims.Asks(c) {
			if _, parts, err = Differ(c.Form, c.Answer, c.Answer, claims.Part); err != nil {
				return nil, fmt.Errorf("case %s: %w", c.ID, err)
			}
		}
		if len(parts) == 0 {
			r.count(c, nil, nil, func(n *Count) { n.NotAsked++ })
			continue
		}
		if running == nil && lost == "" {
			if running, err = start(args, o.Stderr); err != nil {
				return nil, err
			}
		}
		if lost == "" && time.Now().After(end) {
			lost = fmt.Sprintf("not asked: all took more than %v", o.Total)
		}
		if lost != "" {
			r.fail(c, nil, parts, parts, lost)
			continue
		}
		a, err := running.ask(Asked{c.ID, c.Form, c.Question}, o.Each)
		switch {
		case errors.Is(err, errLost):
			running.end()
			running = nil
			if r.Died++; r.Died > o.Starts {
				lost = fmt.Sprintf("not asked: the program was lost %d times", r.Died)
			}
			r.fail(c, nil, parts, parts, err.Error())
		case err != nil:
			r.Malformed++
			r.fail(c, nil, parts, parts, err.Error())
		case a.Error != "":
			r.Refused++
			r.fail(c, nil, parts, parts, "it says: "+a.Error)
		default:
			differ, asked, err := Differ(c.Form, c.Answer, a.Answer, claims.Part)
			if err != nil {
				r.Malformed++
				r.fail(c, nil, parts, parts, err.Error())
			} else if len(differ) > 0 {
				r.fail(c, a.Answer, asked, differ, "")
			} else {
				r.count(c, asked, nil, func(n *Count) { n.Passed++ })
			}
		}
	}
	return r, nil
}

// fail counts a case that failed, in the parts that differ.
func (r *Report) fail(c *Case, got json.RawMessage, asked, differ []string, why string) {
	f := Failure{ID: c.ID, Form: c.Form, Parts: differ, Error: why, Question: c.Question, Wanted: c.Answer, Got: got}
	for _, part := range differ {
		if s := SentenceOf(c.Form, part); why == "" && s.Text != "" {
			f.Sentences = append(f.Sentences, s)
		}
	}
	r.Failures = append(r.Failures, f)
	r.count(c, asked, differ, func(n *Count) { n.Failed++ })
}

// count counts a case; of a case that failed the parts that do not differ passed.
func (r *Report) count(c *Case, parts, differ []string, add func(*Count)) {
	of := func(m map[string]*Count, name string) *Count {
		if m[name] == nil {
			m[name] = &Count{}
		}
		return m[name]
	}
	add(&r.Count)
	add(of(r.Forms, c.Form))
	for _, name := range c.Features {
		add(of(r.Features, name))
	}
	for _, name := range parts {
		if differ != nil && !slices.Contains(differ, name) {
			of(r.Parts, name).Passed++
		} else {
			add(of(r.Parts, name))
		}
	}
}

// mostShown is how much of a question or an answer is printed, in bytes.
const mostShown = 1500

// print prints what was asked, and of each part that differs what was wanted, what came, and the sentence that decides it.
func (f *Failure) print(w io.Writer) {
	shown := func(of string) string {
		if len(of) > mostShown {
			return fmt.Sprintf("%s... (all of it: conformance cases -id %s)", strings.ToValidUTF8(of[:mostShown], ""), f.ID)
		}
		return of
	}
	if f.Error != "" {
		fmt.Fprintf(w, "FAIL %s: %s\n  asked   %s\n  wanted  %s\n", f.ID, f.Error, shown(string(f.Question)), shown(string(f.Wanted)))
		return
	}
	fmt.Fprintf(w, "FAIL %s: differs in %s\n  asked   %s\n", f.ID, strings.Join(f.Parts, ", "), shown(string(f.Question)))
	for _, part := range f.Parts {
		fmt.Fprintf(w, "  %s\n    wanted  %s\n    got     %s\n", part, shown(textOf(f.Form, part, f.Wanted)), shown(textOf(f.Form, part, f.Got)))
		if s := SentenceOf(f.Form, part); s.Text != "" {
			fmt.Fprintf(w, "    by      %q (%s)\n", s.Text, s.Where)
		}
	}
}

// Print prints the report in words.
func (r *Report) Print(w io.Writer, show int) {
	for i, f := range r.Failures {
		if i == show {
			fmt.Fprintf(w, "... and %d more failed\n", len(r.Failures)-show)
			break
		}
		f.print(w)
	}
	fmt.Fprintf(w, "conformance %s: %v\n", r.Version, r.Count)
	if r.Died+r.Malformed+r.Refused > 0 {
		fmt.Fprintf(w, "the program died or was late %d times, wrote %d lines that are no answer, refused %d questions\n", r.Died, r.Malformed, r.Refused)
	}
	for _, of := range []struct {
		name string
		by   map[string]*Count
	}{{"form", r.Forms}, {"feature", r.Features}, {"part of an answer", r.Parts}} {
		fmt.Fprintf(w, "\n%-20s %7s %7s %9s\n", of.name, "passed", "failed", "not asked")
		for _, name := range slices.Sorted(maps.Keys(of.by)) {
			n := of.by[name]
			fmt.Fprintf(w, "%-20s %7d %7d %9d\n", name, n.Passed, n.Failed, n.NotAsked)
		}
	}
}
