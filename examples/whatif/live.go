package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
)

// pageSize is how many objects a server is asked for at once.
const pageSize = 500

// lister is the text of a cluster: it lists resources by the API, one page after the other, and does nothing else.
type lister struct {
	client    dynamic.Interface
	list      []resource
	namespace string          // that is read of what may not be read in all; empty: none
	narrowed  bool            // something was read of that namespace alone
	lacking   map[string]bool // kinds that were not read, or not all of them
	doubts    []lack
	err       error

	page    meta.ListOptions
	version int // of the first resource
	text    bytes.Buffer
}

// lack is a right that is missing, and what comes of it.
type lack struct {
	resource
	text string
}

// Read lists more where all that was listed is read.
func (l *lister) Read(p []byte) (int, error) {
	for l.text.Len() == 0 {
		if len(l.list) == 0 {
			return 0, io.EOF
		}
		if l.err = l.next(); l.err != nil {
			return 0, l.err
		}
	}
	return l.text.Read(p)
}

// next lists a page of the first resource, and goes to the next one after its last page.
func (l *lister) next() error {
	r := &l.list[0]
	namespace := r.in
	if r.own && l.narrowed {
		namespace = l.namespace
	}
	l.page.Limit = pageSize
	if r.only != "" {
		l.page.FieldSelector = "metadata.name=" + r.only
	}
	found, err := l.client.Resource(r.versions[l.version].WithResource(r.name)).Namespace(namespace).List(context.Background(), l.page)
	switch {
	case apierrors.IsNotFound(err) && l.version+1 < len(r.versions):
		l.version++
		return nil
	case apierrors.IsNotFound(err) && r.must:
		return fmt.Errorf("the server has no %s", r.full())
	case apierrors.IsForbidden(err) && r.own && namespace == "" && l.namespace != "":
		l.miss(" in all namespaces", fmt.Sprintf("only namespace %s was read, and what workloads of other namespaces hold does not count", l.namespace))
		l.narrowed, l.page = true, meta.ListOptions{}
		return nil
	case apierrors.IsForbidden(err):
		where := ""
		if namespace != "" {
			where = " in namespace " + namespace
		}
		l.miss(where, "what depends on them is not known")
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("%s: %w", r.full(), err)
	case err == nil:
		for i := range found.Items {
			found.Items[i].SetManagedFields(nil) // half of an object, of which nothing is read
			if err := json.NewEncoder(&l.text).Encode(&found.Items[i]); err != nil {
				return err
			}
		}
		if l.page.Continue = found.GetContinue(); l.page.Continue != "" {
			return nil
		}
	}
	l.list, l.version, l.page = l.list[1:], 0, meta.ListOptions{}
	return nil
}

// miss keeps that the right to list the first resource is missing.
func (l *lister) miss(where, so string) {
	r := l.list[0]
	l.lacking[r.kind] = true
	l.doubts = append(l.doubts, lack{r, fmt.Sprintf("the right to list %s%s is missing: %s", r.full(), where, so)})
}

// readLive reads the cluster by its API.
func readLive(o *options, std stdio, nodes *rooms.Nodes) (answers.Input, error) {
	client, err := o.client(std)
	if err != nil {
		return answers.Input{}, err
	}
	scheduler := o.scheduler
	if scheduler == "" && hasKAIAlone(client) {
		scheduler = "kai"
	}
	l := &lister{client: client, lacking: map[string]bool{}, namespace: o.readable(std), list: slices.Concat(followed, o.resources)}
	if scheduler == "kai" {
		l.list = slices.Clone(listedOfKAI)
	}
	if o.only != "" {
		l.narrowed, l.namespace = true, o.only
	}
	l.list = slices.DeleteFunc(l.list, func(r resource) bool { return r.name == "namespaces" }) // only some clusters need them
	read := func(list func(objects.Source) error) error {
		l.text.WriteString(`{"kind":"List","items":[]}`) // a cluster without objects is no empty input
		progress := std.screen.Start("KiB read from the cluster", -1)
		defer progress.Done()
		err := list(objects.Source{Name: "the cluster", Reader: progress.Reader(l)})
		if l.err != nil {
			return l.err
		}
		return err
	}
	in := answers.Input{}
	if err := read(func(s objects.Source) (err error) {
		in, err = answers.ReadSeen([]objects.Source{s}, scheduler, nodes.Add, o.see)
		if err != nil && len(l.doubts) > 0 {
			return errors.New(l.doubts[0].text)
		}
		return err
	}); err != nil {
		return in, err
	}
	if l.list = l.beside(&in); scheduler != "kai" && len(l.list) > 0 {
		with := in
		if err := read(func(s objects.Source) (err error) {
			with, err = in.WithBeside([]objects.Source{s}, nodes.Add)
			return err
		}); err != nil {
			return in, err
		}
		own := in.Found.Warnings[:len(in.Found.Warnings)-len(in.Found.Notes)] // of the input, not of its objects
		with.Found.Warnings = append(slices.Clone(own), with.Found.Warnings...)
		in = with
		if l.lacking["Node"] || l.lacking["Pod"] {
			*nodes = rooms.Nodes{} // a part of them would be another cluster
		}
	}
	l.doubt(&in)
	doubtNamespace(&in, o)
	return in, nil
}

// hasKAIAlone reports whether a server has the queues of KAI and no queues of Kueue.
func hasKAIAlone(client dynamic.Interface) bool {
	has := func(r *resource) bool {
		for _, v := range r.versions {
			if _, err := client.Resource(v.WithResource(r.name)).List(context.Background(), meta.ListOptions{Limit: 1}); !apierrors.IsNotFound(err) {
				return err == nil || apierrors.IsForbidden(err)
			}
		}
		return false
	}
	return !has(&followed[0]) && has(&listedOfKAI[0])
}

// beside is what only some clusters need: nodes and pods where there are topologies, and the labels of namespaces.
func (l *lister) beside(in *answers.Input) (list []resource) {
	if len(in.Found.Topologies) > 0 && !l.narrowed { // of one namespace not all that runs is known
		list = append(list, placed...)
	}
	if in.Found.NeedsNamespaces() {
		list = append(list, followed[slices.IndexFunc(followed, func(r resource) bool { return r.name == "namespaces" })])
	}
	return list
}

// doubt says what comes of missing rights, and takes what is named and was not found for missing where all of its kind were read.
func (l *lister) doubt(in *answers.Input) {
	var list []string
	for _, name := range in.Missing() {
		if kind, _, _ := strings.Cut(name, "/"); !l.lacking[kind] {
			list = append(list, name+"=missing")
		}
	}
	_ = in.Assume(list, false) // they are of the form
	for _, d := range l.doubts {
		switch {
		case d.name == "configmaps":
			in.Found.Warnings = append(in.Found.Warnings, "the right to get configmaps/"+d.only+" in namespace "+d.in+" is missing: whether sharing is fair is known from the queues alone")
		case d.named:
			in.Found.Warnings = append(in.Found.Warnings, d.text)
		default:
			in.DoubtAll(d.name, d.text)
		}
		for i := range in.Found.Pending {
			if p := &in.Found.Pending[i]; p.Workload.Queue == "" && (d.kind == "ClusterQueue" || d.kind == "LocalQueue") {
				p.Unresolved = d.text
			}
		}
	}
}

// doubtNamespace says that only one namespace was read, if that was asked for.
func doubtNamespace(in *answers.Input, o *options) {
	if o.only != "" {
		in.DoubtAll("namespace", fmt.Sprintf("only namespace %s was read: what workloads of other namespaces hold does not count", o.only))
	}
}
