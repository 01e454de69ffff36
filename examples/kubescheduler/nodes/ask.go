package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

//go:embed sample.yaml
var sample []byte

// sampleGroup is the group that the embedded sample is about.
const sampleGroup = "research/pretrain"

// answer is a decision with its request and notes.
type answer struct {
	id       string
	nodes    map[string]string // where running pods are
	request  placement.Request
	decision placement.Decision
	notes    []string // notes on the answer
	warnings []string // notes on the input
	held     string   // why it is not considered at all; empty: it is
	doubts   []string // what the answer depends on and is not known
	decided  bool     // there is a decision
	// What the decision was made with.
	preemptor *placement.Preemptor
	snapshot  *placement.Snapshot
	isSample  bool
	assumed   []string // doubts that are taken to be without effect
	// Of kube-scheduler.
	explained *explain.PlacementExplanation // of cede's decision; nil: it was not asked
	refused   bool                          // it was asked and could not decide
	message   string                        // why not
	leaves    map[string]bool               // pods that terminate
	feasible  []string                      // the nodes with room, of a single pod
}

// ask reads the cluster and the manifest, finds the request, and decides.
func ask(o options, piped io.Reader) (*answer, error) {
	a := new(answer)
	if o.config.Mode == placement.ModeInPlace {
		return a, a.byScheduler(&o, piped)
	}
	var objects read.Kubernetes
	if err := a.readCluster(&objects, &o, piped); err != nil {
		return nil, err
	}
	asking, err := a.readManifest(&objects, &o, piped)
	if err != nil {
		return nil, err
	}
	c := objects.Cluster()
	a.warnings = append(a.warnings, bridge.Texts(c.Notes)...)
	pending := c.Pending
	if o.manifest != "" {
		pending = slices.DeleteFunc(pending, func(p kubernetes.Pending) bool {
			return !slices.ContainsFunc(p.Request.Pods, func(p workload.Pod) bool { return slices.Contains(asking, asked{"Pod", p.ID}) })
		})
	}
	one, err := choose(&o, pending)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, input.FirstLeftOut(a.warnings))
	}
	if one.Unread {
		a.id, a.request, a.doubts = one.ID, one.Request, []string{one.Unresolved.Error()}
		return a, nil
	}
	if one.Unresolved != nil && (o.count == 0 || one.Request.Group != "") {
		return nil, fmt.Errorf("%s: %w%s", one.ID, one.Unresolved, input.FirstLeftOut(a.warnings))
	}
	a.id, a.request, a.notes, a.held = one.ID, one.Request, bridge.Texts(one.Notes), one.Held()
	filter, notes := objects.Filter()
	a.warnings = append(a.warnings, bridge.Texts(notes)...)
	for _, n := range notes {
		c.Doubts = append(c.Doubts, bridge.Doubt{Note: n})
	}
	if err := a.copyPods(o.count, filter); err != nil {
		return nil, err
	}
	if filter != nil {
		o.config.Filters = []placement.Filter{filter}
	}
	c.Notes = nil
	if a.snapshot, err = c.Snapshot(); err != nil {
		return nil, err
	}
	a.warnings, a.nodes = append(a.warnings, bridge.Texts(c.Notes)...), map[string]string{}
	for _, p := range c.State.Pods {
		a.nodes[p.ID] = p.Node
	}
	a.split(&c.State, o.topology)
	if len(c.State.Nodes) == 0 {
		a.notes = append(a.notes, "there are no nodes in the input")
	}
	if a.preemptor, err = placement.New(o.config); err != nil {
		return nil, err
	}
	a.request.Now = o.now
	if a.decision, err = a.preemptor.Decide(a.snapshot, a.request); err != nil {
		return nil, a.named(err)
	}
	one.Request = a.request
	a.decided = true
	a.doubts, a.assumed = accept(doubtsOf(c.DoubtsOn(&one, &a.decision)), o.assume)
	return a, nil
}

// doubtsOf are notes as doubts, with the names by which -assume accepts them.
func doubtsOf(notes []bridge.Note) (list []doubt) {
	for _, n := range notes {
		list = append(list, doubt{cmp.Or(n.Path, n.Object), n.Text})
	}
	return list
}

var requestPod = regexp.MustCompile(`^request\.pods\[(\d+)\]\.?`)

// named names the pods in faults of the request.
func (a *answer) named(err error) error {
	var faults preemption.Faults
	if !errors.As(err, &faults) {
		return err
	}
	for i, f := range faults {
		match := requestPod.FindStringSubmatch(f.Path)
		if match == nil {
			continue
		}
		if n, err := strconv.Atoi(match[1]); err == nil && n < len(a.request.Pods) {
			faults[i].Path = fmt.Sprintf("pod %s: %s", a.request.Pods[n].ID, f.Path[len(match[0]):])
		}
	}
	return faults
}

// objects take what is read.
type objects interface {
	Add(*input.Object) error
	Lose(*input.Object, error)
}

// asked is an object of a manifest.
type asked struct{ kind, id string }

// readCluster reads the files, else standard input, else the sample.
func (a *answer) readCluster(objects objects, o *options, piped io.Reader) error {
	files := o.files
	if len(files) == 0 && piped != nil && o.manifest != "-" {
		files = []string{"-"}
	}
	sources, err := input.Files(files, piped)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		a.isSample = true
		if o.pod == "" && o.group == "" && o.manifest == "" {
			o.group = sampleGroup
		}
		sources = []input.Source{{Name: "the sample", Reader: bytes.NewReader(sample)}}
	}
	a.warnings, err = input.Read(sources, input.Options{Lost: objects.Lose}, objects.Add)
	return err
}

// readManifest reads the manifest, if there is one, and returns the objects in it.
func (a *answer) readManifest(objects objects, o *options, piped io.Reader) (list []asked, err error) {
	if o.manifest == "" {
		return nil, nil
	}
	sources, err := input.Files([]string{o.manifest}, piped)
	if err != nil {
		return nil, err
	}
	warnings, err := input.Read(sources, input.Options{Lost: objects.Lose}, func(one *input.Object) error {
		err := objects.Add(one)
		list = append(list, asked{one.Kind, one.ID()})
		return err
	})
	a.warnings = append(a.warnings, warnings...)
	return list, err
}

// choose finds the pod or group of the request.
func choose(o *options, pending []kubernetes.Pending) (kubernetes.Pending, error) {
	var names []string
	for _, p := range pending {
		kind, asked := "pod", o.pod
		if p.Request.Group != "" {
			kind, asked = "group", o.group
		}
		if asked == p.ID {
			return p, nil
		}
		names = append(names, fmt.Sprintf("-%s %s", kind, p.ID))
	}
	if o.pod == "" && o.group == "" && len(pending) == 1 {
		return pending[0], nil
	}
	list := "no pod waits"
	if len(names) > 0 {
		list = "waiting: " + strings.Join(names[:min(10, len(names))], ", ")
	}
	switch {
	case o.manifest != "" && len(pending) == 0:
		return kubernetes.Pending{}, fmt.Errorf("%s: it has no waiting pod", o.manifest)
	case o.manifest != "":
		return kubernetes.Pending{}, fmt.Errorf("%s: want one pod or one group with its pods (%s)", o.manifest, list)
	case o.pod+o.group == "":
		return kubernetes.Pending{}, fmt.Errorf("give -pod, -group or -m (%s)", list)
	}
	return kubernetes.Pending{}, fmt.Errorf("%s does not wait in the input (%s)", o.pod+o.group, list)
}

// copyPods makes count copies of the one pod, to be placed all or none.
func (a *answer) copyPods(count int, filter *kubernetes.Filter) error {
	if count == 0 {
		return nil
	}
	if len(a.request.Pods) != 1 || a.request.Group != "" {
		return fmt.Errorf("-count: want a manifest with one pod and no group")
	}
	pod := a.request.Pods[0]
	a.request.Group, a.request.MinCount, a.request.Pods = a.id, count, nil
	for i := range count {
		one := pod
		one.ID = fmt.Sprintf("%s-%d", pod.ID, i)
		if filter != nil {
			filter.As(one.ID, pod.ID)
		}
		a.request.Pods = append(a.request.Pods, one)
	}
	return nil
}

// split makes a domain of the nodes with the same value of a label.
func (a *answer) split(state *placement.State, label string) {
	if label == "" {
		return
	}
	if a.request.Group == "" {
		a.notes = append(a.notes, "-topology is for groups: a pod goes to one node anyway")
		return
	}
	if slices.ContainsFunc(state.Groups, func(g workload.PodGroup) bool { return g.ID == a.request.Group && g.Basic }) {
		a.notes = append(a.notes, "-topology is for gangs: the pods of a basic group are placed each by itself")
		return
	}
	if len(a.request.Domains) > 0 {
		a.notes = append(a.notes, "-topology takes the place of the group's own topology constraint")
	}
	a.request.Domains = kubernetes.Domains(state.Nodes, label)
	if len(a.request.Domains) == 0 {
		a.request.Domains = []placement.Domain{{Name: label}} // no node
		a.notes = append(a.notes, fmt.Sprintf("no node has the label %s", label))
	}
}
