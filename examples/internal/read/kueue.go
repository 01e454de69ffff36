package read

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/input"
)

// versions are the API versions of Kueue that are read, by kind.
var versions = map[string][]string{
	"ClusterQueue":   {"v1beta1", "v1beta2"},
	"Cohort":         {"v1alpha1", "v1beta1", "v1beta2"},
	"LocalQueue":     {"v1beta1", "v1beta2"},
	"ResourceFlavor": {"v1beta1", "v1beta2"},
	"Topology":       {"v1alpha1", "v1beta1", "v1beta2"},
	"Workload":       {"v1beta1", "v1beta2"},
	"AdmissionCheck": {"v1beta1", "v1beta2"},

	"MultiKueueConfig":  {"v1alpha1", "v1beta1", "v1beta2"},
	"MultiKueueCluster": {"v1alpha1", "v1beta1", "v1beta2"},

	"PreemptionConfig": alpha, "PreemptionLimit": alpha,
}

var alpha = []string{"v1alpha1"}

// ignoredByKueue are its kinds on which no decision depends. What they say of what follows from them stands elsewhere.
var ignoredByKueue = []string{"ProvisioningRequestConfig", "WorkloadPriorityClass", "PendingWorkloadsSummary"}

// Nameless are the kinds that are read and have no name.
var Nameless = []string{"Configuration"}

// Kueue reads the objects of Kueue, as
//
//	kubectl get clusterqueues,cohorts,localqueues,resourceflavors,topologies,admissionchecks,workloads.kueue.x-k8s.io -A -o json
//
// prints them. The zero value has read nothing.
type Kueue struct {
	kueue.Objects
	count int
}

// Count is the number of Kueue's objects so far.
func (k *Kueue) Count() int { return k.count }

// Add takes one object; a later one takes the place of an earlier. An error leaves that
// object out. It is [input.ErrNotRead] for what is not Kueue's.
func (k *Kueue) Add(o *input.Object) error {
	switch {
	case o.Group() == kueue.ConfigGroup && o.Kind == "Configuration", o.APIVersion == "v1" && o.Kind == "ConfigMap":
		return k.configure(o)
	case o.APIVersion == "v1" && o.Kind == "Namespace":
		return k.take(&kueue.Namespace{Metadata: o.Metadata})
	case o.APIVersion == "v1" && o.Kind == "LimitRange":
		l := &kueue.LimitRange{Metadata: o.Metadata}
		if err := o.Read(&l.Spec, nil); err != nil {
			k.LeaveOut(l, err, false)
			return err
		}
		return k.take(l)
	case o.Group() == "scheduling.k8s.io" && o.Kind == "Workload":
		return fmt.Errorf("a Workload of %s is not Kueue's: ask kubectl for workloads.%s", o.Group(), kueue.Group)
	case o.Group() == kueue.Group && slices.Contains(ignoredByKueue, o.Kind):
		k.count++
		return nil
	case (o.Group() != kueue.Group || versions[o.Kind] == nil) && isLike(o, kueue.Group, ofKueue.Kinds()):
		k.count++
		err := fmt.Errorf("%s of apiVersion %q: it looks like an object of Kueue and cannot be read as one", o.Kind, o.APIVersion)
		k.Objects.Lose(bridge.Note{Object: o.Kind + " " + o.ID(), Text: o.Kind + " " + o.ID() + " cannot be read: " + err.Error()})
		return err
	case o.Group() != kueue.Group || versions[o.Kind] == nil:
		return input.ErrNotRead
	}
	k.count++
	one, spec, status, read := objectOfKueue(o)
	if o.Deleted {
		k.Remove(one)
		return nil
	}
	err := o.Fault
	if known := versions[o.Kind]; err == nil && !slices.Contains(known, o.Version()) {
		err = fmt.Errorf("unknown version %q of %s: want %s", o.APIVersion, o.Kind, strings.Join(known, " or "))
	} else if err == nil {
		err = read()
	}
	if err != nil {
		unread := o.ReadEach(spec, status)
		k.LeaveOut(one, err, slices.ContainsFunc(unread, whereabouts.MatchString))
		return err
	}
	var faults []bridge.FieldFault
	if !slices.Equal(versions[o.Kind], alpha) { // the bridge tells of what is not known of the others
		faults = faultsIn(ofKueue, o, staged(one, o.Kind))
	}
	again, err := k.Objects.Add(one, faults...)
	if again {
		return input.ErrAgain
	}
	return err
}

// isLike reports whether an object that is not of a scheduler's API may be meant to be: its kind is one of these but for
// upper and lower case, and its API is that of the scheduler, or of no group.
func isLike(o *input.Object, group string, kinds []string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool {
		return strings.EqualFold(kind, o.Kind) && kind != "Namespace" && kind != "LimitRange"
	}) &&
		(o.Group() == "" || strings.Contains(strings.ToLower(o.APIVersion), group))
}

// staged is the kind with how far the object has come, of a workload.
func staged(one kueue.Object, kind string) string {
	w, is := one.(*kueue.Workload)
	if !is {
		return kind
	}
	switch w.Stage() {
	case kueue.StagePending:
		return kind + "/waits"
	case kueue.StageFinished:
		return kind + "/finished"
	}
	return kind + "/holds"
}

// whereabouts are the fields without which it is not known on which answers an object bears.
var whereabouts = regexp.MustCompile(`^(spec|spec\.(cohortName|cohort|parentName|parent)|status|status\.admission(\.clusterQueue)?|status\.conditions(\[\d+\](\.(type|status))?)?)$`)

// Lose takes what has no name or kind that can be read; see [input.Options].
func (k *Kueue) Lose(o *input.Object, why error) {
	if n, ok := lostNote(o, why, slices.Collect(maps.Keys(versions))...); ok {
		k.Objects.Lose(n)
	}
}

// take takes an object of which it does not matter whether it was there already.
func (k *Kueue) take(one kueue.Object) error {
	_, err := k.Objects.Add(one)
	return err
}

// objectOfKueue is the object by name, where its spec and status go, and what reads them.
func objectOfKueue(o *input.Object) (one kueue.Object, spec, status any, read func() error) {
	read = func() error { return o.Read(spec, status) }
	switch o.Kind {
	case "ClusterQueue":
		of := &kueue.ClusterQueue{Metadata: o.Metadata}
		one, spec, status = of, &of.Spec, &of.Status
	case "Cohort":
		of := &kueue.Cohort{Metadata: o.Metadata}
		one, spec, status = of, &of.Spec, &of.Status
	case "LocalQueue":
		of := &kueue.LocalQueue{Metadata: o.Metadata}
		one, spec, status = of, &of.Spec, &of.Status
	case "ResourceFlavor":
		of := &kueue.ResourceFlavor{Metadata: o.Metadata}
		one, spec = of, &of.Spec
	case "Topology":
		of := &kueue.Topology{Metadata: o.Metadata}
		one, spec = of, &of.Spec
	case "AdmissionCheck":
		of := &kueue.AdmissionCheck{Metadata: o.Metadata}
		one, spec, status = of, &of.Spec, &of.Status
	case "MultiKueueConfig":
		of := &kueue.MultiKueueConfig{Metadata: o.Metadata}
		one, spec = of, &of.Spec
	case "MultiKueueCluster":
		of := &kueue.MultiKueueCluster{Metadata: o.Metadata}
		one, status = of, &of.Status
	case "PreemptionConfig":
		of := &kueue.PreemptionConfig{Metadata: o.Metadata}
		one, spec, read = of, &of.Spec, func() error { return readKnown(o, &of.Spec.Config, &of.Spec.Unread) }
	case "PreemptionLimit":
		of := &kueue.PreemptionLimit{Metadata: o.Metadata}
		one, spec, read = of, &of.Spec, func() error { return readKnown(o, &of.Spec.Limit, &of.Spec.Unread) }
	default:
		of := &kueue.Workload{APIVersion: o.APIVersion, Metadata: o.Metadata}
		one, spec, status, read = of, &of.Spec, &of.Status, func() error { return readWorkload(of, o) }
	}
	return one, spec, status, read
}

// readKnown reads a spec of which the bridge leaves out what has unknown fields. It fails on a field that is there
// twice: one rule might be made of two.
func readKnown(o *input.Object, spec any, unread *[]string) error {
	if err := o.Read(spec, nil); err != nil {
		return err
	}
	for _, f := range faultsIn(ofKueue, o, o.Kind) {
		if strings.HasSuffix(f.Text, isTwice) {
			return fmt.Errorf("%s: is there twice", f.Path)
		}
		if path, inSpec := strings.CutPrefix(f.Path, "spec."); inSpec {
			*unread = append(*unread, path)
		}
	}
	return nil
}

// readWorkload reads the templates of a workload that waits, and of no other: they are most of
// its text.
func readWorkload(w *kueue.Workload, o *input.Object) error {
	var spec struct {
		kueue.WorkloadSpec
		PodSets []struct {
			kueue.PodSet
			Template json.RawMessage `json:"template"`
		} `json:"podSets"`
	}
	if err := o.Read(&spec, &w.Status); err != nil {
		return err
	}
	w.Spec = spec.WorkloadSpec
	for _, s := range spec.PodSets {
		if w.Stage() == kueue.StagePending {
			if err := input.Decode("template", s.Template, &s.PodSet.Template); err != nil {
				return fmt.Errorf("podSets %q: %w", s.Name, err)
			}
		}
		w.Spec.PodSets = append(w.Spec.PodSets, s.PodSet)
	}
	return nil
}

// Cluster is a cluster, and what its reader must be told about the input.
type Cluster struct {
	bridge.Cluster
	Warnings []string
}

// OfKueue reads a cluster of Kueue. It fails on what cannot be read at all (naming the place);
// an object that is odd is left out, with a warning.
func OfKueue(r io.Reader) (Cluster, error) {
	var k Kueue
	notes, err := input.Read([]input.Source{{Name: "kueue", Reader: r}}, input.Options{Nameless: Nameless, Lost: k.Lose}, k.Add)
	if err != nil {
		return Cluster{}, err
	}
	return With(k.Cluster(), notes), nil
}

// With adds the notes of the bridge to those of the input.
func With(c bridge.Cluster, notes []string) Cluster {
	return Cluster{c, append(notes, bridge.Texts(c.Notes)...)}
}
