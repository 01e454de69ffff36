package plugin

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
)

// Annotation is the annotation of a pod that has the latest decision about it, or about its group, in a sentence.
const Annotation = "cede-scheduler/decision"

// printer writes amounts as Kubernetes does.
var printer = explain.Printer{Amount: func(name string, amount int64) string {
	switch {
	case name == "cpu":
		return resource.NewMilliQuantity(amount, resource.DecimalSI).String()
	case name == "memory" || name == "ephemeral-storage" || strings.HasPrefix(name, v1.ResourceHugePagesPrefix):
		return resource.NewQuantity(amount, resource.BinarySI).String()
	}
	return resource.NewQuantity(amount, resource.DecimalSI).String()
}}

// message says in a sentence what was decided about a number of pods. Empty: nothing is to be said.
func message(d placement.Decision, pods int) string {
	if d.Outcome == 0 || d.Outcome == preemption.Impossible && d.Reason == 0 {
		return ""
	}
	return printer.PlacementMessage(&d, pods)
}

// say tells a decision: by an event of the pod or pod group that it is about, and by the annotation of its pods. If
// time alone helps, the pods are tried again then: no event of the cluster would do it.
func (pl *Plugin) say(ctx context.Context, about runtime.Object, d placement.Decision, pods ...*v1.Pod) {
	text := message(d, len(pods))
	if text == "" {
		return
	}
	if recorder := pl.handle.EventRecorder(); recorder != nil {
		recorder.Eventf(about, nil, v1.EventTypeNormal, "Cede"+d.Outcome.String(), "Preempting", "%s", text)
	}
	again := map[string]*v1.Pod{}
	for _, p := range pods {
		pl.notes.put(ctx, p, text)
		again[klog.KObj(p).String()] = p
	}
	if !d.RetryAt.IsZero() {
		time.AfterFunc(d.RetryAt.Sub(d.Now), func() { pl.handle.Activate(klog.FromContext(ctx), again) })
	}
}

// notes are annotations to be written. They are written beside the scheduling cycle, by a client with a limit of its
// own, so that no binding waits for them, and only if the pod still waits a moment later: in a burst most do not, and each
// write is work for the API server. A nil one writes nothing.
type notes chan note

type note struct {
	pod  *v1.Pod
	text string
}

// maxNotes is how many notes may be in line. More are dropped: the event has the same text.
const maxNotes = 1000

// noteAfter is how long a pod has waited when its annotation is written.
const noteAfter = time.Second

// newNotes writes notes until the context ends.
func newNotes(ctx context.Context, handle fwk.Handle) (notes, error) {
	client := handle.ClientSet()
	if config := handle.KubeConfig(); config != nil {
		own, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		client = own
	}
	n, pods := make(notes, maxNotes), handle.SharedInformerFactory().Core().V1().Pods().Lister()
	go func() {
		latest := map[types.UID]note{}
		var due <-chan time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case one := <-n:
				if latest[one.pod.UID] = one; due == nil {
					due = time.After(noteAfter)
				}
			case <-due:
				for _, one := range latest {
					if p, err := pods.Pods(one.pod.Namespace).Get(one.pod.Name); err != nil || p.Spec.NodeName != "" {
						continue
					}
					if err := one.write(ctx, client); err != nil {
						klog.FromContext(ctx).Info("cannot annotate a pod with the decision about it", "pod", klog.KObj(one.pod), "problem", err)
					}
				}
				clear(latest)
				due = nil
			}
		}
	}()
	return n, nil
}

// put puts a note in line, unless the pod has it.
func (n notes) put(ctx context.Context, p *v1.Pod, text string) {
	if n == nil || p.Annotations[Annotation] == text {
		return
	}
	select {
	case n <- note{p, text}:
	default:
		klog.FromContext(ctx).V(4).Info("too many annotations wait to be written", "pod", klog.KObj(p))
	}
}

// write writes a note. The status is what kube-scheduler's role may patch. A pod that is gone needs none.
func (n note) write(ctx context.Context, client kubernetes.Interface) error {
	change := map[string]any{"uid": n.pod.UID, "annotations": map[string]string{Annotation: n.text}}
	patch, err := json.Marshal(map[string]any{"metadata": change})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Pods(n.pod.Namespace).Patch(ctx, n.pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
