package suite

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
)

// Claims say what a program answers. An empty list: everything.
type Claims struct {
	// Forms are the kinds of questions, Features what of their forms it reads, Parts what of an answer it gives.
	Forms    []string `json:"forms,omitempty"`
	Features []string `json:"features,omitempty"`
	Parts    []string `json:"parts,omitempty"`
}

// ParseClaims reads claims from JSON. The error lists all names that there are not.
func ParseClaims(data []byte) (c Claims, err error) {
	if err := strict(data, &c); err != nil {
		return c, err
	}
	var known []string
	for _, f := range features {
		known = append(known, f.Name)
	}
	var faults preemption.Faults
	for _, list := range []struct {
		path        string
		names, from []string
	}{{"forms", c.Forms, Forms()}, {"features", c.Features, known}, {"parts", c.Parts, Parts()}} {
		for i, name := range list.names {
			if !slices.Contains(list.from, name) {
				faults.Add(fmt.Sprintf("%s[%d]", list.path, i), "%q is unknown", name)
			}
		}
	}
	return c, faults.Err()
}

// Asks reports whether the program is asked a case: whether it claims its form, all features that it uses, and a part of its answer.
func (c *Claims) Asks(of *Case) bool {
	form := len(c.Forms) == 0 || slices.Contains(c.Forms, of.Form)
	missing := func(name string) bool { return name != core && !slices.Contains(c.Features, name) }
	return form && (len(c.Features) == 0 || !slices.ContainsFunc(of.Features, missing))
}

// Part reports whether the program claims a part of answers.
func (c *Claims) Part(name string) bool { return len(c.Parts) == 0 || slices.Contains(c.Parts, name) }
