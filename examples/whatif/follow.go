package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/preemption"
)

// follower follows a cluster of Kueue by the events of informers. Make it with [newFollower].
type follower struct {
	client dynamic.Interface
	o      *options
	say    func(error) // what cannot be read now
	synced []cache.InformerSynced
	notes  []string
	places bool // it follows what is placed
	wake   chan struct{}

	mu     sync.Mutex
	events map[string]event // the latest of each object that was not read yet

	in     answers.Input
	beside map[string]*objects.Object // nodes and pods
}

// event is an object as it is, or as it was when it went.
type event struct {
	Type   string                     `json:"type"`
	Object *unstructured.Unstructured `json:"object"`
}

func newFollower(ctx context.Context, client dynamic.Interface, o *options, say func(error)) (*follower, error) {
	f := &follower{
		client: client, o: o, say: say, wake: make(chan struct{}, 1), events: map[string]event{}, in: answers.Following(), beside: map[string]*objects.Object{},
	}
	return f, f.followAll(ctx, followed)
}

func (f *follower) followAll(ctx context.Context, list []resource) error {
	for i := range list {
		if err := f.follow(ctx, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// find returns the objects of a resource in the latest version that the server has; nil: it has none, or they may not
// be read and need not be.
func (f *follower) find(ctx context.Context, r *resource) (of dynamic.ResourceInterface, choose func(*meta.ListOptions), err error) {
	namespace := r.in
	if r.own {
		namespace = f.o.only
	}
	choose = func(l *meta.ListOptions) {
		if r.only != "" {
			l.FieldSelector = "metadata.name=" + r.only
		}
	}
	one := meta.ListOptions{Limit: 1}
	choose(&one)
	for _, version := range r.versions {
		of = f.client.Resource(version.WithResource(r.name)).Namespace(namespace)
		if _, err = of.List(ctx, one); !apierrors.IsNotFound(err) {
			break
		}
	}
	switch {
	case err == nil:
		return of, choose, nil
	case r.must || !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err):
		return nil, nil, fmt.Errorf("%s: %w", r.name, err)
	case apierrors.IsForbidden(err):
		f.notes = append(f.notes, fmt.Sprintf("%s were not read (%v): what depends on them is not known", r.name, err))
	}
	return nil, nil, nil
}

// follow starts an informer of a resource.
func (f *follower) follow(ctx context.Context, r *resource) error {
	of, choose, err := f.find(ctx, r)
	if err != nil || of == nil {
		return err
	}
	// Neither the factories of client-go nor its discovery: both hold the types of all of Kubernetes, 40 MB.
	informer := cache.NewSharedInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, l meta.ListOptions) (runtime.Object, error) {
			choose(&l)
			return of.List(ctx, l)
		},
		WatchFuncWithContext: func(ctx context.Context, l meta.ListOptions) (watch.Interface, error) {
			choose(&l)
			return of.Watch(ctx, l)
		},
	}, f.client), &unstructured.Unstructured{}, 0)
	if err := informer.SetTransform(func(object any) (any, error) {
		if o, ok := object.(*unstructured.Unstructured); ok {
			o.SetManagedFields(nil) // half of an object, of which nothing is read
		}
		return object, nil
	}); err != nil {
		return err
	}
	if err := informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { f.say(err) }); err != nil {
		return err
	}
	handle, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { f.note("MODIFIED", object) },
		UpdateFunc: func(_, object any) { f.note("MODIFIED", object) },
		DeleteFunc: func(object any) { f.note("DELETED", object) },
	})
	if err != nil {
		return err
	}
	f.synced = append(f.synced, handle.HasSynced)
	go informer.Run(ctx.Done())
	return nil
}

// note keeps an event until it is read.
func (f *follower) note(kind string, object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	o, ok := object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	f.mu.Lock()
	f.events[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = event{kind, o}
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// wait waits for events, and a moment for those that come with them. It reports false at the end of the context.
func (f *follower) wait(ctx context.Context) bool {
	const moment = 50 * time.Millisecond
	select {
	case <-ctx.Done():
		return false
	case <-f.wake:
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(moment):
	}
	return cache.WaitForCacheSync(ctx.Done(), f.synced...) // a part of the cluster would be another cluster
}

// read reads the events so far into the cluster.
func (f *follower) read(ctx context.Context, std stdio, before *preemption.Snapshot) (*cluster, error) {
	f.mu.Lock()
	events := f.events
	f.events = map[string]event{}
	f.mu.Unlock()
	text := bytes.NewBufferString(`{"kind":"List","items":[]}`) // an event may be read with the one before it: then there is none
	for _, key := range slices.Sorted(maps.Keys(events)) {
		if err := json.NewEncoder(text).Encode(events[key]); err != nil {
			return nil, err
		}
	}
	in, err := f.in.Follow([]objects.Source{{Name: "the cluster", Reader: text}}, f.keep)
	if err != nil {
		f.putBack(events) // they are read with the event that mends what is wrong
		return nil, err
	}
	f.in = in
	if len(in.Found.Topologies) > 0 && f.o.only == "" && !f.places { // of one namespace not all that runs is known
		f.places = true
		if err := f.followAll(ctx, placed); err != nil {
			return nil, err
		}
	}
	in.Found.Warnings = slices.Concat(in.Found.Warnings, f.notes)
	doubtNamespace(&in, f.o)
	nodes := new(rooms.Nodes)
	for _, key := range slices.Sorted(maps.Keys(f.beside)) {
		nodes.Add(f.beside[key])
	}
	return newCluster(in, nodes, f.o, std, before)
}

// putBack keeps events that were not read, unless there are later ones of their objects.
func (f *follower) putBack(events map[string]event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.Copy(events, f.events)
	f.events = events
}

// keep keeps a node or pod.
func (f *follower) keep(o *objects.Object) {
	key := o.Kind + " " + o.ID()
	if o.Deleted {
		delete(f.beside, key)
		return
	}
	one := *o
	f.beside[key] = &one
}

// followEvents calls set with the cluster after each change of it, until the context ends. What cannot be read leaves
// the cluster as it was.
func followEvents(ctx context.Context, c *cluster, o *options, std stdio, set func(*cluster)) error {
	client, err := o.client(std)
	if err != nil {
		return err
	}
	said := map[string]bool{}
	var mu sync.Mutex
	say := func(err error) {
		std.countNotRead()
		mu.Lock()
		defer mu.Unlock()
		if text := strings.TrimSpace(err.Error()); !said[text] { // the informers try again and again
			said[text] = true
			notReadAgain(std, err)
		}
	}
	f, err := newFollower(ctx, client, o, say)
	if err != nil {
		return err
	}
	go func() {
		for f.wait(ctx) {
			next, err := f.read(ctx, std, c.Snapshot)
			if err != nil {
				say(err)
				continue
			}
			c = next
			set(c)
		}
	}()
	return nil
}
