package offline

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// informersOf makes informers that list objects in memory. Nothing changes afterwards.
func informersOf(o *Objects, client kubernetes.Interface) (factory informers.SharedInformerFactory, list []cache.SharedIndexInformer) {
	factory = informers.NewSharedInformerFactory(client, 0)
	for gvk, namespaced := range kinds {
		objects := o.all[gvk.Kind]
		if gvk.Kind == "Pod" {
			objects = nil
			for p := range o.Pods() {
				objects = append(objects, p)
			}
		}
		example, err := scheme.New(gvk)
		if err != nil {
			continue // each is registered
		}
		by := cache.Indexers{}
		if namespaced && gvk != v1.SchemeGroupVersion.WithKind("Pod") {
			by[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc
		}
		list = append(list, factory.InformerFor(example, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(memory(objects), example, 0, by)
		}))
	}
	return factory, list
}

// memory lists objects.
type memory []runtime.Object

// IsWatchListSemanticsUnSupported says that they are listed, and then watched.
func (memory) IsWatchListSemanticsUnSupported() bool { return true }

func (m memory) List(metav1.ListOptions) (runtime.Object, error) {
	return &metainternal.List{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: m}, nil
}

func (memory) Watch(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil }

func (m memory) ListWithContext(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return m.List(options)
}

func (m memory) WatchWithContext(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return m.Watch(options)
}
