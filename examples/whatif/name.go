package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
)

// takeWorkload takes the arguments for the workload that is asked about: NAMESPACE/NAME, NAME, TYPE/NAME or TYPE NAME.
func (o *options) takeWorkload(c *cobra.Command, args []string) error {
	switch {
	case len(args) > 2:
		return unexpected(c, args[2])
	case o.workload != "":
		return errors.New("-workload and an argument both name a workload: give one of them")
	}
	o.workload, o.typed = strings.Join(args, "/"), len(args) == 2
	return nil
}

// kindsOfWorkloads are the types that a workload has itself; every other type is of what owns it.
var kindsOfWorkloads = []string{"workload", "wl", "podgroup", "pg"}

// ofType reports whether a type on the command line, such as jobs or jobs.batch, is a kind.
func ofType(kind, typed string) bool {
	typed, _, _ = strings.Cut(strings.ToLower(typed), ".")
	kind = strings.ToLower(kind)
	return typed == kind || typed == kind+"s"
}

// owned are the workloads that something owns, as TYPE/NAME of the command line says.
type owned struct {
	kind, name string
	ids        []string
}

// ownedBy is what -workload may mean beside the ID of a workload; nil: nothing.
func (o *options) ownedBy() *owned {
	kind, name, ok := strings.Cut(o.workload, "/")
	if !ok {
		return nil
	}
	return &owned{kind: kind, name: name}
}

// see keeps the workloads of the owner.
func (w *owned) see(o *objects.Object) {
	if o.Deleted || !bytes.Contains(o.Head, []byte(`"`+w.name+`"`)) || o.Kind != "Workload" && o.Kind != "PodGroup" {
		return
	}
	var head struct {
		OwnerReferences []struct{ Kind, Name string }
	}
	if json.Unmarshal(o.Head, &head) != nil { // the reader says what is wrong
		return
	}
	for _, owner := range head.OwnerReferences {
		if owner.Name == w.name && ofType(owner.Kind, w.kind) {
			w.ids = append(w.ids, o.ID())
			return
		}
	}
}

// named returns the ID of the workload that the command line names. What is not there is returned as it is.
func (c *cluster) named(o *options) (string, error) {
	var all, waiting []string
	for i := range c.Found.Pending {
		waiting = append(waiting, c.Found.Pending[i].Workload.ID)
	}
	all = append(all, waiting...)
	for i := range c.State.Admitted {
		all = append(all, c.State.Admitted[i].ID)
	}
	all = append(all, c.Found.Finished...)
	in := func(id string) bool { return o.namespace == "" || answers.Namespace(id) == o.namespace }
	if !o.typed && in(o.workload) && slices.Contains(all, o.workload) {
		return o.workload, nil
	}
	kind, name, _ := strings.Cut(o.workload, "/")
	var found []string
	switch isType := slices.ContainsFunc(kindsOfWorkloads, func(k string) bool { return ofType(k, kind) }); {
	case name == "", isType:
		if name == "" {
			name = kind
		}
		for _, id := range all {
			if in(id) && id[strings.LastIndex(id, "/")+1:] == name {
				found = append(found, id)
			}
		}
	case c.owned != nil:
		found = slices.DeleteFunc(slices.Clone(c.owned.ids), func(id string) bool { return !in(id) || !slices.Contains(all, id) })
	}
	if len(found) == 0 && !o.typed {
		found = slices.DeleteFunc(ending(all, o.workload), func(id string) bool { return !in(id) })
	}
	found = fewer(found, func(id string) bool { return slices.Contains(waiting, id) })
	found = fewer(found, func(id string) bool { return answers.Namespace(id) == c.namespace })
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		slices.Sort(found)
		return "", fmt.Errorf("%s may mean %s: name one as NAMESPACE/NAME", o.workload, some(found))
	case o.typed:
		return "", fmt.Errorf("no workload of %s %q is in the input", kind, name)
	case !strings.Contains(o.workload, "/") && o.namespace != "":
		return o.namespace + "/" + o.workload, nil
	}
	return o.workload, nil
}

// ending lists the names that a name stands for which lacks its beginning, as people type it, or also its middle, as tables print it. What
// has a slash and all its letters is TYPE/NAME or a whole name.
func ending(all []string, name string) (found []string) {
	parts := strings.Split(name, "…")
	end := parts[len(parts)-1]
	for _, id := range all {
		rest, ends := strings.CutSuffix(id, end)
		switch whole := len(parts) == 1; {
		case !ends || end == "", whole && (len(end) < 4 || strings.Contains(end, "/") || rest == "" || !strings.HasSuffix(rest, "-") && !strings.HasSuffix(rest, "/")):
			continue
		case whole:
			found = append(found, id)
			continue
		}
		in := true
		for i, part := range parts[:len(parts)-1] {
			at := strings.Index(rest, part)
			if in = in && at >= 0 && (i > 0 || at == 0); !in {
				break
			}
			rest = rest[at+len(part):]
		}
		if in {
			found = append(found, id)
		}
	}
	return found
}

// fewer keeps what is preferred, if something is.
func fewer(list []string, prefer func(string) bool) []string {
	if kept := slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !prefer(s) }); len(kept) > 0 {
		return kept
	}
	return list
}
