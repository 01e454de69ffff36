package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	configv1beta1 "sigs.k8s.io/kueue/apis/config/v1beta1"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/webhooks"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
)

// scheme has the kinds that Kueue reads.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kueue.AddToScheme, v1beta1.AddToScheme, config.AddToScheme, configv1beta1.AddToScheme} {
		utilruntime.Must(add(s))
	}
	return s
}()

var codecs, strict = serializer.NewCodecFactory(scheme), serializer.NewCodecFactory(scheme, serializer.EnableStrict)

var unknownFields = regexp.MustCompile(`unknown field "(spec\.[^"]+)"`)

// newer returns a field of a spec that this version of Kueue does not have, of what strict decoding has found. Templates of
// pods are not Kueue's, and what an object says of itself decides nothing.
func newer(err error) string {
	for _, found := range unknownFields.FindAllStringSubmatch(err.Error(), -1) {
		if !strings.Contains(found[1], ".template.") {
			return found[0]
		}
	}
	return ""
}

// cluster is what the input holds.
type cluster struct {
	objects        []client.Object // all but workloads
	workloads      []*kueue.Workload
	configurations [][]byte
	config         config.Configuration
	unread         []string // objects of Kueue that it does not know, or that cannot be read
	made           []string // namespaces that are not in the input
}

// of returns the objects of a kind, as the client has them.
func of[T client.Object](c *cluster) (list []T) {
	for _, o := range c.objects {
		if t, is := o.(T); is {
			list = append(list, t)
		}
	}
	return list
}

// read reads the documents of an input.
func read(text []byte) (*cluster, error) {
	c := &cluster{}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var one json.RawMessage
		if err := documents.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("the objects: %w", err)
		}
		if len(one) == 0 || string(one) == "null" {
			continue
		}
		if err := c.take(one, metav1.TypeMeta{}); err != nil {
			return nil, err
		}
	}
	c.complete()
	return c, nil
}

// take takes an object, or those of a list; kind is what an item has from its list.
func (c *cluster) take(text json.RawMessage, kind metav1.TypeMeta) error {
	var of struct {
		metav1.TypeMeta
		Metadata struct{ Namespace, Name string }
		Items    []json.RawMessage
		Data     map[string]string
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return fmt.Errorf("an object: %w", err)
	}
	if of.Kind == "" && of.APIVersion == "" && kind.Kind != "" {
		of.TypeMeta = kind
	}
	if strings.HasSuffix(of.Kind, "List") {
		item := metav1.TypeMeta{Kind: strings.TrimSuffix(of.Kind, "List"), APIVersion: of.APIVersion}
		for _, one := range of.Items {
			if err := c.take(one, item); err != nil {
				return err
			}
		}
		return nil
	}
	gvk := of.GroupVersionKind()
	switch {
	case gvk.Group == config.SchemeGroupVersion.Group && gvk.Kind == "Configuration":
		c.configurations = append(c.configurations, text)
		return nil
	case gvk.Group == "" && gvk.Kind == "ConfigMap":
		for _, data := range of.Data {
			if strings.Contains(data, config.SchemeGroupVersion.Group+"/") {
				c.configurations = append(c.configurations, []byte(data))
			}
		}
		return nil
	}
	object, _, err := strict.UniversalDeserializer().Decode(text, &gvk, nil)
	if runtime.IsStrictDecodingError(err) {
		field := newer(err)
		if object, _, err = codecs.UniversalDeserializer().Decode(text, &gvk, nil); field != "" && gvk.Group == kueue.SchemeGroupVersion.Group {
			err = errors.New(field)
		}
	}
	if err == nil {
		err = c.keep(object)
	}
	if err == nil || gvk.Group != kueue.SchemeGroupVersion.Group && !isKueues(gvk) {
		return nil // an object of a kind that Kueue does not read
	}
	name := strings.TrimPrefix(of.Metadata.Namespace+"/"+of.Metadata.Name, "/")
	if of.APIVersion == "" {
		c.unread = append(c.unread, fmt.Sprintf("%s %s has no apiVersion", of.Kind, name))
	} else {
		c.unread = append(c.unread, fmt.Sprintf("%s %s of %s cannot be read as Kueue %s has it: %v", of.Kind, name, of.APIVersion, Version, err))
	}
	return nil
}

// isKueues reports whether an object without a group, or of a wrong one, may be meant to be Kueue's.
func isKueues(gvk schema.GroupVersionKind) bool {
	if gvk.Group != "" {
		return false
	}
	for known := range scheme.KnownTypes(kueue.SchemeGroupVersion) {
		if strings.EqualFold(known, gvk.Kind) {
			return true
		}
	}
	return false
}

// keep keeps an object in the version that Kueue stores.
func (c *cluster) keep(o runtime.Object) error {
	if from, is := o.(conversion.Convertible); is {
		to, err := scheme.New(kueue.SchemeGroupVersion.WithKind(kindOf(o)))
		if err != nil {
			return err
		}
		if err := from.ConvertTo(to.(conversion.Hub)); err != nil {
			return err
		}
		o = to
	} else if gvk := gvkOf(o); gvk.Group == kueue.SchemeGroupVersion.Group && gvk.Version != kueue.SchemeGroupVersion.Version { // the versions are alike
		to, err := scheme.New(kueue.SchemeGroupVersion.WithKind(gvk.Kind))
		if err != nil {
			return err
		}
		text, err := json.Marshal(o)
		if err == nil {
			err = json.Unmarshal(text, to)
		}
		if err != nil {
			return err
		}
		o = to
	}
	object, is := o.(client.Object)
	if !is {
		return fmt.Errorf("it has no metadata")
	}
	object.SetResourceVersion("")
	object.SetManagedFields(nil)
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 { // a client in memory takes no other
		object.SetFinalizers([]string{kueue.ResourceInUseFinalizerName})
	}
	if w, is := o.(*kueue.Workload); is {
		c.workloads = slices.DeleteFunc(c.workloads, func(o *kueue.Workload) bool { return workload.Key(o) == workload.Key(w) })
		c.workloads = append(c.workloads, w)
		return nil
	}
	c.objects = slices.DeleteFunc(c.objects, func(o client.Object) bool {
		return kindOf(o) == kindOf(object) && client.ObjectKeyFromObject(o) == client.ObjectKeyFromObject(object)
	})
	c.objects = append(c.objects, object)
	return nil
}

func gvkOf(o runtime.Object) schema.GroupVersionKind {
	kinds, _, _ := scheme.ObjectKinds(o)
	return kinds[0]
}

func kindOf(o runtime.Object) string { return gvkOf(o).Kind }

// complete adds what the API server adds: defaults, and the namespaces in which there are objects.
func (c *cluster) complete() {
	there := map[string]bool{}
	for _, n := range of[*corev1.Namespace](c) {
		there[n.Name] = true
	}
	for _, w := range c.workloads {
		defaultWorkload(w)
		if !there[w.Namespace] {
			there[w.Namespace] = true
			c.made = append(c.made, w.Namespace)
			c.objects = append(c.objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace, Labels: map[string]string{corev1.LabelMetadataName: w.Namespace}}})
		}
	}
	for _, q := range of[*kueue.ClusterQueue](c) {
		defaultQueue(q)
	}
}

// workload returns a workload by namespace/name; nil: there is none.
func (c *cluster) workload(id string) *kueue.Workload {
	for _, w := range c.workloads {
		if string(workload.Key(w)) == id {
			return w
		}
	}
	return nil
}

// queueOf returns the ClusterQueue of a workload; nil: there is none.
func (c *cluster) queueOf(w *kueue.Workload) *kueue.ClusterQueue {
	for _, l := range of[*kueue.LocalQueue](c) {
		if l.Namespace != w.Namespace || l.Name != string(w.Spec.QueueName) {
			continue
		}
		for _, q := range of[*kueue.ClusterQueue](c) {
			if q.Name == string(l.Spec.ClusterQueue) {
				return q
			}
		}
	}
	return nil
}

// strictQueue is the ClusterQueue of a workload if its order is strict.
func (c *cluster) strictQueue(w *kueue.Workload) string {
	if q := c.queueOf(w); q != nil && q.Spec.QueueingStrategy == kueue.StrictFIFO {
		return q.Name
	}
	return ""
}

// waiting are the workloads that wait in a ClusterQueue.
func (c *cluster) waiting(queue string) (list []*kueue.Workload) {
	for _, w := range c.workloads {
		if q := c.queueOf(w); q != nil && q.Name == queue && !workload.HasQuotaReservation(w) {
			list = append(list, w)
		}
	}
	return list
}

// refused is why Kueue's API does not take an object of the input; empty: it takes all.
func (c *cluster) refused() string {
	for _, o := range c.objects {
		var errs error
		switch o := o.(type) {
		case *kueue.ClusterQueue:
			errs = webhooks.ValidateClusterQueue(o).ToAggregate()
		case *kueue.ResourceFlavor:
			errs = webhooks.ValidateResourceFlavor(o).ToAggregate()
		case *kueue.Cohort:
			_, errs = new(webhooks.CohortWebhook).ValidateCreate(context.Background(), o)
		}
		if errs != nil {
			return fmt.Sprintf("the API of Kueue %s refuses %s %s: %v", Version, kindOf(o), o.GetName(), errs)
		}
	}
	for _, w := range c.workloads {
		if errs := webhooks.ValidateWorkload(w, nil); len(errs) > 0 {
			return fmt.Sprintf("the API of Kueue %s refuses Workload %s: %v", Version, workload.Key(w), errs.ToAggregate())
		}
	}
	return ""
}

// unknown says why the objects do not decide about a workload, though Kueue would; empty: they do.
func (c *cluster) unknown(w *kueue.Workload) string {
	if why := c.refused(); why != "" {
		return why
	}
	if q := c.queueOf(w); q != nil && q.Spec.NamespaceSelector != nil {
		if s := q.Spec.NamespaceSelector; slices.Contains(c.made, w.Namespace) && len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
			return fmt.Sprintf("namespace %s is not in the input, and ClusterQueue %s selects by its labels", w.Namespace, q.Name)
		}
	}
	if features.Enabled(features.SchedulerLibraryIntegration) {
		return "the gate SchedulerLibraryIntegration is on, which asks an API server"
	}
	if len(c.configurations) > 0 {
		return ""
	}
	for _, q := range of[*kueue.ClusterQueue](c) {
		switch s := &q.Spec; {
		case s.AdmissionScope != nil && s.AdmissionScope.AdmissionMode == kueue.UsageBasedAdmissionFairSharing:
			return fmt.Sprintf("the Configuration is not in the input, and ClusterQueue %s orders by usage if it says so (admissionFairSharing)", q.Name)
		case s.FairSharing != nil && s.FairSharing.Weight != nil && !s.FairSharing.Weight.Equal(resource.MustParse("1")), q.Status.FairSharing != nil:
			return fmt.Sprintf("the Configuration is not in the input, and ClusterQueue %s has a share or a weight that counts if it says so (fairSharing)", q.Name)
		}
	}
	for _, o := range of[*kueue.Cohort](c) {
		if s := o.Spec.FairSharing; s != nil && s.Weight != nil && !s.Weight.Equal(resource.MustParse("1")) || o.Status.FairSharing != nil {
			return fmt.Sprintf("the Configuration is not in the input, and Cohort %s has a share or a weight that counts if it says so (fairSharing)", o.Name)
		}
	}
	return ""
}

func leaving(w *kueue.Workload) bool { return evict.IsEvicted(w) }
