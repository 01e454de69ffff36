package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resource "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/component-helpers/storage/ephemeral"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
	"github.com/cedesched/cede/examples/kubescheduler/offline"
)

// doubt is something that is not known, and on which the answer depends. -assume accepts it by its name: a field, a feature, or
// the kind and name of an object.
type doubt struct{ name, text string }

func doubtOf(odd offline.Odd) doubt {
	name := odd.Path
	text := odd.Object
	if odd.Path == "" {
		name = odd.Object
	} else {
		text += ": " + odd.Path
	}
	if text += " " + odd.Text; odd.Path == "" && strings.Contains(odd.Text, ": ") {
		text = odd.Object + " cannot be read: " + odd.Text
	}
	if odd.More > 0 {
		text += fmt.Sprintf(" (and %d more)", odd.More)
	}
	return doubt{name, text}
}

// accept splits doubts into those that stand and those that are assumed to be without effect, each once.
func accept(doubts []doubt, assume []string) (stand, assumed []string) {
	for _, d := range doubts {
		list := &stand
		if slices.ContainsFunc(assume, func(path string) bool { return d.name != "" && plain(path) == plain(d.name) }) {
			list = &assumed
		}
		if !slices.Contains(*list, d.text) {
			*list = append(*list, d.text)
		}
	}
	return stand, assumed
}

// plain is the name of a doubt without the indexes of items.
func plain(name string) string { return indexes.ReplaceAllString(name, "[]") }

var indexes = regexp.MustCompile(`\[[0-9]+\]`)

// unread are kinds about which it does not matter here what cannot be read: the first say which node is preferred, the
// others what the API server does with a pod of a manifest, which has told what it misses.
var unread = []string{"Service", "ReplicationController", "ReplicaSet", "StatefulSet", "PriorityClass", "LimitRange"}

// finder collects doubts.
type finder struct {
	*cluster
	list []doubt
}

func (f *finder) doubt(name, format string, args ...any) {
	f.list = append(f.list, doubt{name, fmt.Sprintf(format, args...)})
}

// missing doubts an object that is named and not in the input: it may be missing in the cluster, too, and then the scheduler
// is right.
func (f *finder) missing(kind, id, by string) bool {
	if f.Has(kind, id) {
		return false
	}
	f.doubt(kind+" "+id, "%s %s is not in the input, and %s names it", kind, id, by)
	return true
}

// doubts are what is not known and the answer depends on.
func (c *cluster) doubts(said offline.Answer) []doubt {
	f := &finder{cluster: c}
	yes := said.Outcome == offline.Fits || said.Outcome == offline.Preempts
	for _, odd := range c.Odd {
		kind, _, _ := strings.Cut(odd.Object, " ")
		if slices.Contains(unread, kind) || kind == "PodDisruptionBudget" && said.Outcome != offline.Preempts {
			continue
		}
		f.list = append(f.list, doubtOf(odd))
	}
	if said.Outcome == offline.Failed {
		f.doubt("", "kube-scheduler v1.37 itself fails on these objects, one of which no API server would have: %s", said.Message)
	}
	if c.Len("Node") == 0 {
		f.doubt("Node", "there are no nodes in the input")
	}
	f.running(said)
	for _, p := range c.pods {
		f.claims(p)
		f.volumes(p, said, yes)
		f.namespaces(p)
		if node, ok := c.Get("Node", said.Nodes[mirror.ID(p)]).(*v1.Node); ok && yes {
			f.kubelet(p, node)
		}
	}
	return f.list
}

// running doubts what running pods name: their nodes, their groups, and priorities that no API server would have left out.
func (f *finder) running(said offline.Answer) {
	gone, groups := map[string]string{}, map[string]string{}
	for p := range f.Pods() {
		id := mirror.ID(p)
		if p.Spec.NodeName != "" && !f.Has("Node", p.Spec.NodeName) && gone[p.Spec.NodeName] == "" {
			gone[p.Spec.NodeName] = id
		}
		if p.Spec.Priority == nil && p.Spec.PriorityClassName != "" {
			f.doubt("spec.priorityClassName", "Pod %s has the priority class %s and no priority, which the API server would have written: "+
				"kube-scheduler counts 0", id, p.Spec.PriorityClassName)
		}
		if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil && !f.Has("PodGroup", p.Namespace+"/"+*g.PodGroupName) {
			groups[p.Namespace+"/"+*g.PodGroupName] = "Pod " + id
		}
	}
	for _, node := range slices.Sorted(maps.Keys(gone)) {
		f.doubt("Node "+node, "Node %s is not in the input, and Pod %s runs there", node, gone[node])
	}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		if said.Outcome != offline.Fits {
			f.missing("PodGroup", id, groups[id])
		}
	}
	for g := range offline.All[*schedulingv1beta1.PodGroup](&f.Objects, "PodGroup") {
		id := g.Namespace + "/" + g.Name
		if parent := g.Spec.ParentCompositePodGroupName; parent != nil && said.Outcome != offline.Fits {
			f.missing("CompositePodGroup", g.Namespace+"/"+*parent, "PodGroup "+id)
		}
		if g.Spec.Priority == nil && g.Spec.PriorityClassName != "" {
			f.doubt("spec.priorityClassName", "PodGroup %s has the priority class %s and no priority, which the API server would have written: "+
				"kube-scheduler counts 0", id, g.Spec.PriorityClassName)
		}
	}
}

// claims doubts the devices of a pod that asks.
func (f *finder) claims(p *v1.Pod) {
	for _, c := range p.Spec.ResourceClaims {
		name := c.ResourceClaimName
		if c.ResourceClaimTemplateName != nil {
			for _, made := range p.Status.ResourceClaimStatuses {
				if made.Name == c.Name {
					name = made.ResourceClaimName
				}
			}
		}
		if name == nil || f.missing("ResourceClaim", p.Namespace+"/"+*name, "Pod "+mirror.ID(p)) {
			continue
		}
		claim := f.Get("ResourceClaim", p.Namespace+"/"+*name).(*resource.ResourceClaim)
		if claim.Status.Allocation != nil {
			continue
		}
		by := "ResourceClaim " + p.Namespace + "/" + *name
		for _, r := range claim.Spec.Devices.Requests {
			if r.Exactly != nil {
				f.missing("DeviceClass", r.Exactly.DeviceClassName, by)
			}
			for _, one := range r.FirstAvailable {
				f.missing("DeviceClass", one.DeviceClassName, by)
			}
		}
		if f.Len("ResourceSlice") == 0 {
			f.doubt("ResourceSlice", "there are no ResourceSlices in the input, and Pod %s asks for devices", mirror.ID(p))
		}
	}
}

// volumes doubts the volumes of a pod that asks.
func (f *finder) volumes(p *v1.Pod, said offline.Answer, yes bool) {
	counted := false
	for _, v := range p.Spec.Volumes {
		counted = counted || v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.AWSElasticBlockStore != nil || v.GCEPersistentDisk != nil ||
			v.AzureDisk != nil || v.AzureFile != nil || v.Cinder != nil || v.VsphereVolume != nil || v.PortworxVolume != nil
		name := ""
		if v.PersistentVolumeClaim != nil {
			name = v.PersistentVolumeClaim.ClaimName
		} else if v.Ephemeral != nil {
			name = ephemeral.VolumeClaimName(p, &v)
		}
		if name != "" && !f.missing("PersistentVolumeClaim", p.Namespace+"/"+name, "Pod "+mirror.ID(p)) {
			f.claim(f.Get("PersistentVolumeClaim", p.Namespace+"/"+name).(*v1.PersistentVolumeClaim))
		}
	}
	node := said.Nodes[mirror.ID(p)]
	if !counted || !yes {
		return
	}
	f.missing("CSINode", node, "the limits of volumes of Node "+node)
	for other := range f.Pods() {
		for _, v := range other.Spec.Volumes {
			if other.Spec.NodeName == node && v.PersistentVolumeClaim != nil {
				f.missing("PersistentVolumeClaim", other.Namespace+"/"+v.PersistentVolumeClaim.ClaimName, "Pod "+mirror.ID(other))
			}
		}
	}
}

// claim doubts what a claim of a volume names.
func (f *finder) claim(c *v1.PersistentVolumeClaim) {
	by := "PersistentVolumeClaim " + c.Namespace + "/" + c.Name
	if c.Spec.VolumeName != "" {
		f.missing("PersistentVolume", c.Spec.VolumeName, by)
		return
	}
	if c.Spec.StorageClassName == nil || *c.Spec.StorageClassName == "" || f.missing("StorageClass", *c.Spec.StorageClassName, by) {
		return
	}
	class := f.Get("StorageClass", *c.Spec.StorageClassName).(*storage.StorageClass)
	switch waits := class.VolumeBindingMode; {
	case waits == nil || *waits != storage.VolumeBindingWaitForFirstConsumer:
	case class.Provisioner != "kubernetes.io/no-provisioner":
		f.missing("CSIDriver", class.Provisioner, "StorageClass "+class.Name) // it says whether capacities count
	case f.Len("PersistentVolume") == 0:
		f.doubt("PersistentVolume", "there are no PersistentVolumes in the input, and %s waits for one", by)
	}
}

// namespaces doubts the labels of namespaces that terms of affinity select by.
func (f *finder) namespaces(p *v1.Pod) {
	selects := func(a *v1.Affinity) bool {
		var terms []v1.PodAffinityTerm
		if a != nil && a.PodAffinity != nil {
			terms = append(terms, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		}
		if a != nil && a.PodAntiAffinity != nil {
			terms = append(terms, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		}
		return slices.ContainsFunc(terms, func(t v1.PodAffinityTerm) bool {
			return t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchLabels)+len(t.NamespaceSelector.MatchExpressions) > 0
		})
	}
	asks := selects(p.Spec.Affinity)
	for other := range f.Pods() {
		if asks {
			f.once("Namespace", other.Namespace, "a term of affinity of Pod "+mirror.ID(p)+" may select it")
		}
		if selects(other.Spec.Affinity) {
			f.once("Namespace", p.Namespace, "a term of affinity of Pod "+mirror.ID(other)+" may select it")
		}
	}
}

// once doubts an object of a kind that is not in the input, once for each.
func (f *finder) once(kind, id, why string) {
	if !f.Has(kind, id) && !slices.ContainsFunc(f.list, func(d doubt) bool { return d.name == kind+" "+id }) {
		f.doubt(kind+" "+id, "%s %s is not in the input: %s", kind, id, why)
	}
}
