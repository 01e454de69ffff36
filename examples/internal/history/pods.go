package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/input"
)

// Pods is what is known of pods and nodes over time, and of the preemptions of kube-scheduler.
type Pods struct {
	First, Last time.Time // the first and the last instant that it tells of
	// Lacks says why some pods may not be in the history; empty: nothing shows that.
	Lacks string

	together, ahead time.Duration // with the skew: how far signs of one instant are apart, and a decision before the first of them

	lives  map[string]*podLife // by UID
	byID   map[string][]*podLife
	sorted []*podLife // by UID
	nodes  map[string][]nodeVersion
	rest   map[string][]restVersion // objects of other kinds, by kind and name
	told   []podSign
	listed bool // there is a Pod that is not of an audit log
}

// podLife is what is known of one pod.
type podLife struct {
	uid, id     string
	object      *input.Object // its latest version
	version     uint64        // that of object
	created     time.Time
	node        string
	bound       time.Time // when it got its node; zero: it did not, or that is not known
	leaves      time.Time // when it was asked to stop; zero: it was not
	preempted   time.Time // when a scheduler told it to; zero: none did
	by          podSign
	done, after time.Time // it had ended by itself: it held its room until done, and did not after
	deleted     bool
	gone        time.Time // when it was deleted; zero: that is not known
	before      bool      // it was deleted at gone, or before
	started     time.Time // when its kubelet took it
	resources   []byte    // what its containers ask for
	resized     bool
	slow        bool // its binding may take long: volumes, claims, a group
	promised    []promise
}

// promise is a node that a pod was nominated to while it waited.
type promise struct {
	node string
	from time.Time // not before; zero: it is not said
}

// podSign is what an Event says: a pod was told to stop so that another one has room.
type podSign struct {
	uid      string // of the victim
	at       time.Time
	by, byID string // the preemptor's UID, or its NAMESPACE/NAME; empty: it is not said
	on       string // the node; empty: it is not said
}

// nodeVersion is a version of a Node, as far as pods go.
type nodeVersion struct {
	what   string
	object *input.Object
}

// restVersion is a version of another object.
type restVersion struct {
	what    []byte
	object  *input.Object
	version uint64
}

// podKinds are the kinds beside Pod and Node on which the preemption of pods depends.
var podKinds = []string{"PodDisruptionBudget", "PriorityClass", "PodGroup", "CompositePodGroup", "Namespace", "ResourceClaim", "ResourceSlice", "DeviceClass"}

// takes reports whether an object is one of those.
func (h *Pods) takes(o *input.Object) bool {
	core := o.Group() == "" && slices.Contains([]string{"Pod", "Node", "Namespace"}, o.Kind)
	return core || strings.HasSuffix(o.Group(), ".k8s.io") && slices.Contains(podKinds, o.Kind) || o.Group() == "policy" && o.Kind == "PodDisruptionBudget"
}

// head is what of the metadata of an object only a history reads.
type head struct {
	Version string `json:"resourceVersion"`
	Grace   int64  `json:"deletionGracePeriodSeconds"`
}

func headOf(o *input.Object) (version uint64, grace time.Duration) {
	var h head
	_ = json.Unmarshal(o.Head, &h) // what it lacks is zero
	version, _ = strconv.ParseUint(h.Version, 10, 64)
	return version, time.Duration(h.Grace) * time.Second
}

// add takes a version of an object in. At is when it was written, if the input says it.
func (h *Pods) add(o *input.Object, at time.Time) error {
	kept := *o
	switch o.Kind {
	case "Pod":
		h.listed = h.listed || at.IsZero()
		return h.pod(&kept, at)
	case "Node":
		var spec struct {
			Unschedulable bool            `json:"unschedulable"`
			Taints        json.RawMessage `json:"taints"`
		}
		var status struct {
			Allocatable json.RawMessage `json:"allocatable"`
		}
		if err := o.Read(&spec, &status); err != nil {
			return err
		}
		what, _ := json.Marshal([]any{o.Deleted, o.Metadata.UID, o.Metadata.Labels, spec, status}) // of no part can it fail
		if !slices.ContainsFunc(h.nodes[o.ID()], func(v nodeVersion) bool { return v.what == string(what) }) {
			h.nodes[o.ID()] = append(h.nodes[o.ID()], nodeVersion{string(what), &kept})
		}
		return nil
	}
	key := o.Kind + " " + o.ID()
	version, _ := headOf(o)
	what := slices.Concat(o.Spec, o.Status)
	if !slices.ContainsFunc(h.rest[key], func(v restVersion) bool { return bytes.Equal(v.what, what) && v.object.Deleted == o.Deleted }) {
		h.rest[key] = append(h.rest[key], restVersion{what, &kept, version})
	}
	return nil
}

// podStatus is what a version says of a pod.
type podStatus struct {
	Phase      string      `json:"phase"`
	Nominated  string      `json:"nominatedNodeName"`
	Started    time.Time   `json:"startTime"`
	Conditions []condition `json:"conditions"`
	Containers []struct {
		State struct {
			Terminated struct {
				At time.Time `json:"finishedAt"`
			} `json:"terminated"`
		} `json:"state"`
	} `json:"containerStatuses"`
}

// pod takes a version of a pod in.
func (h *Pods) pod(o *input.Object, at time.Time) error {
	if o.Fault != nil {
		return o.Fault
	}
	var spec struct {
		Node       string `json:"nodeName"`
		Containers []struct {
			Resources json.RawMessage `json:"resources"`
		} `json:"containers"`
		Volumes []struct {
			Claim     json.RawMessage `json:"persistentVolumeClaim"`
			Ephemeral json.RawMessage `json:"ephemeral"`
		} `json:"volumes"`
		Claims []json.RawMessage `json:"resourceClaims"`
		Group  json.RawMessage   `json:"schedulingGroup"`
	}
	var s podStatus
	if err := o.Read(&spec, &s); err != nil {
		return err
	}
	uid := cmp.Or(o.Metadata.UID, o.ID())
	l := h.lives[uid]
	if l == nil {
		l = &podLife{uid: uid, id: o.ID(), created: o.Metadata.CreationTimestamp}
		h.lives[uid] = l
	}
	version, grace := headOf(o)
	if l.object == nil || version >= l.version {
		l.object, l.version = o, version
	}
	if resources, _ := json.Marshal(spec.Containers); l.resources == nil {
		l.resources = resources
	} else if !bytes.Equal(l.resources, resources) {
		l.resized = true
	}
	l.slow = l.slow || len(spec.Claims)+len(spec.Group) > 0
	for _, v := range spec.Volumes {
		l.slow = l.slow || len(v.Claim)+len(v.Ephemeral) > 0
	}
	l.node, l.started = cmp.Or(l.node, spec.Node), later(l.started, s.Started)
	last := l.created
	for _, c := range s.Conditions {
		last = later(last, c.Since)
		switch is := c.Status == "True"; {
		case is && c.Type == "PodScheduled" && spec.Node != "":
			l.bound = c.Since
		case is && c.Type == "DisruptionTarget" && c.Reason == "PreemptionByScheduler" && (l.preempted.IsZero() || c.Since.Before(l.preempted)):
			l.preempted = c.Since
		}
	}
	if spec.Node == "" && s.Nominated != "" {
		l.promise(s.Nominated, time.Time{})
	}
	if gone := o.Metadata.DeletionTimestamp; gone != nil {
		if asked := gone.Add(-grace); l.leaves.IsZero() || asked.Before(l.leaves) {
			l.leaves = asked
		}
	}
	if s.Phase == "Succeeded" || s.Phase == "Failed" {
		done := time.Time{}
		for _, c := range s.Containers {
			done = later(done, c.State.Terminated.At)
		}
		if done.IsZero() { // it does not say when: perhaps at once
			done = later(l.bound, l.leaves)
		}
		after := later(last, done).Add(h.together)
		if !at.IsZero() && at.Before(after) {
			after = later(at, done)
		}
		if l.after.IsZero() || after.Before(l.after) {
			l.done, l.after = done, after
		}
	}
	if o.Deleted {
		l.deleted = true
		if !at.IsZero() && (l.gone.IsZero() || at.Before(l.gone)) {
			l.gone = at
		}
	}
	return nil
}

// promise keeps that it was nominated to a node. An Event says since when.
func (l *podLife) promise(node string, from time.Time) {
	i := slices.IndexFunc(l.promised, func(p promise) bool { return p.node == node })
	switch {
	case i < 0:
		l.promised = append(l.promised, promise{node, from})
	case l.promised[i].from.IsZero() || !from.IsZero() && from.Before(l.promised[i].from):
		l.promised[i].from = from
	}
}

// The words of kube-scheduler v1.17 to v1.37 about a victim: "[Preempted] by", then the UID of a pod, its NAMESPACE/NAME, or "a pod", then
// "on node".
var (
	byUID  = regexp.MustCompile(`by pod ([0-9A-Za-z-]+) on node`)
	byName = regexp.MustCompile(`by ([^ /]+/[^ /]+) on node`)
	onNode = regexp.MustCompile(`on node ([^ ]+?)\.?(?: \(in kube-scheduler memory\)\.?)?$`)
)

// event takes an Event about a pod that was preempted.
func (h *Pods) event(uid, message string, related reference, at time.Time) {
	sign := podSign{uid: uid, at: at}
	if related.Kind == "Pod" {
		sign.by = related.UID
		if sign.by == "" && related.Name != "" {
			sign.byID = related.Namespace + "/" + related.Name
		}
	}
	message = strings.TrimSpace(message)
	if m := byUID.FindStringSubmatch(message); m != nil && sign.by == "" {
		sign.by = m[1]
	}
	if m := byName.FindStringSubmatch(message); m != nil && sign.byID == "" {
		sign.byID = m[1]
	}
	if m := onNode.FindStringSubmatch(message); m != nil {
		sign.on = m[1]
	}
	h.told = append(h.told, sign)
}

// reference is the object that an Event is about.
type reference struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// finish makes of all signs what the history says.
func (h *Pods) finish() {
	for _, s := range h.told {
		l := h.lives[s.uid]
		if l == nil {
			h.Lacks = cmp.Or(h.Lacks, "versions of pods are missing")
			continue
		}
		if l.preempted.IsZero() || s.at.Before(l.preempted) {
			l.preempted = s.at
		}
		if l.by.at.IsZero() || l.by.by+l.by.byID == "" {
			l.by = s
		}
	}
	for _, l := range h.lives {
		h.sorted = append(h.sorted, l)
	}
	slices.SortFunc(h.sorted, func(a, b *podLife) int { return cmp.Compare(a.uid, b.uid) })
	for _, l := range h.sorted {
		h.byID[l.id] = append(h.byID[l.id], l)
		for _, at := range []time.Time{l.bound, l.leaves, l.preempted, l.done} {
			if at.IsZero() {
				continue
			}
			if h.First.IsZero() || at.Before(h.First) {
				h.First = at
			}
			h.Last = later(h.Last, at)
		}
		if !l.preempted.IsZero() && l.node == "" {
			h.Lacks = cmp.Or(h.Lacks, "versions of pods are missing")
		}
	}
	for _, list := range h.byID {
		slices.SortStableFunc(list, func(a, b *podLife) int { return a.created.Compare(b.created) })
		for i, l := range list[:len(list)-1] { // a name is free again
			next := list[i+1].created
			if !l.deleted && l.after.IsZero() {
				h.Lacks = cmp.Or(h.Lacks, "versions of pods are missing")
			}
			if l.deleted = true; l.gone.IsZero() || next.Before(l.gone) {
				l.gone, l.before = next, true
			}
		}
	}
	for _, l := range h.sorted {
		if p, _ := h.preemptor(l); p != nil && l.by.on != "" {
			p.promise(l.by.on, l.preempted.Add(-h.ahead))
		}
		slices.SortFunc(l.promised, func(a, b promise) int { return cmp.Or(a.from.Compare(b.from), cmp.Compare(a.node, b.node)) })
	}
	for _, list := range h.nodes {
		slices.SortFunc(list, func(a, b nodeVersion) int { return cmp.Compare(a.what, b.what) })
	}
	if !h.listed {
		h.Lacks = cmp.Or(h.Lacks, "an audit log does not have what stayed as it was: give what kubectl get pods -A -o json prints, too")
	}
}
