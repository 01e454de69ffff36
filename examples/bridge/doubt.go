package bridge

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Doubt is something that is not known, and on which answers depend: an object or a field that
// cannot be read, is not known or is not supported. An answer that a doubt reaches is no yes and
// no no: it is unknown. Each doubt is among the notes, too: those of the workload, or of the cluster.
//
// Workload, Queue, Cohort and Node say which answers it reaches. A doubt about a workload reaches
// the answer about that workload; one about a queue or a cohort reaches every answer in the cohort
// tree; one about a node reaches every answer that may need room there. A doubt with none of them
// reaches every answer.
type Doubt struct {
	Note
	Workload string `json:"workload,omitempty"` // the ID of one that waits
	// Queue and Cohort may both be given: a queue that is not in the state belongs to the tree of its cohort.
	Queue  string `json:"queue,omitempty"`
	Cohort string `json:"cohort,omitempty"`
	Node   string `json:"node,omitempty"` // of a cluster of Kubernetes
	// Room: it is about room on nodes, which one who knows the nodes can find out; see [Pending.NoRoom].
	Room bool `json:"room,omitempty"`
	// NotInInput: Object is named by others and not in the input. The cluster may have it.
	NotInInput bool `json:"notInInput,omitempty"`
	// OnlyYes: what is not known can make a no of a yes, never a yes of a no. A no stands.
	OnlyYes bool `json:"onlyYes,omitempty"`
}

// ofAll reports whether the doubt reaches every answer.
func (d *Doubt) ofAll() bool {
	return d.Workload == "" && d.Queue == "" && d.Cohort == "" && d.Node == ""
}

// DoubtsOn returns what is not known and the answer about a workload in a queue depends on: sorted
// by object, path and text, each once. The ID may be empty: a workload that is not in the input. So may the
// queue: it is not known. To ask about many workloads use [Cluster.DoubtIndex].
func (c *Cluster) DoubtsOn(id, queueName string) []Note { return c.DoubtIndex().On(id, queueName) }

// DoubtsOnNo is DoubtsOn without what can only make a no of a yes: if it is empty, a no stands.
func (c *Cluster) DoubtsOnNo(id, queueName string) []Note { return c.DoubtIndex().OnNo(id, queueName) }

// Accepts reports whether an assumption accepts what a note says: it is the path of the note's field, or of one above it,
// with indexes or without; the object as KIND/NAME; or both with ":" between them.
func (c *Cluster) Accepts(n *Note) bool {
	if c.Sharing.Said && n.Path == SharingPath {
		return true
	}
	if len(c.Assumptions) == 0 {
		return false
	}
	object, path := strings.Replace(n.Object, " ", "/", 1), plainPath(n.Path)
	return slices.ContainsFunc(c.Assumptions, func(a string) bool {
		if a == object {
			return true
		}
		if of, field, both := strings.Cut(a, ":"); both && of == object {
			a = field
		}
		rest, is := strings.CutPrefix(path, plainPath(a))
		return is && a != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// SharingPath is the path of the doubt whether fair sharing is on.
const SharingPath = "fairSharing"

// Assumption is what accepts the doubt: its field, or the object.
func (d *Doubt) Assumption() string {
	if d.Path == "" || d.NotInInput {
		return strings.Replace(d.Object, " ", "/", 1)
	}
	return plainPath(d.Path)
}

// plainPath is a path without the numbers of items.
func plainPath(path string) string {
	if file, of, in := strings.Cut(path, "]."); in && strings.HasPrefix(file, "data[") { // a configuration in a ConfigMap
		path = of
	}
	return itemIndex.ReplaceAllString(path, "[]")
}

var itemIndex = regexp.MustCompile(`\[[0-9]+\]`)

// DoubtIndex finds doubts by what they reach. The zero value has none, and so has nil.
type DoubtIndex struct {
	doubts     []Doubt
	accepted   []bool // by an assumption
	trees      trees
	ofAll      []int // indexes in doubts
	byWorkload map[string][]int
	byTree     map[tree][]int
}

// On is [Cluster.DoubtsOn].
func (x *DoubtIndex) On(id, queueName string) []Note {
	return x.on(id, queueName, false, func(*Doubt) bool { return true })
}

// Accepted are the doubts that an assumption accepts.
func (x *DoubtIndex) Accepted(id, queueName string) []Note {
	return x.on(id, queueName, true, func(d *Doubt) bool { return d.Path != SharingPath })
}

// OnNo is [Cluster.DoubtsOnNo].
func (x *DoubtIndex) OnNo(id, queueName string) []Note {
	return x.on(id, queueName, false, func(d *Doubt) bool { return !d.OnlyYes })
}

// OnUsage are the doubts about what is used and what may be: those that are not about one workload that waits.
func (x *DoubtIndex) OnUsage() []Note {
	if x == nil {
		return nil
	}
	var notes []Note
	for i := range x.doubts {
		if d := &x.doubts[i]; d.Workload == "" && !x.accepted[i] {
			notes = append(notes, d.Note)
		}
	}
	return SortedNotes(notes)
}

// OnRoom is the part of On that is about room on nodes.
func (x *DoubtIndex) OnRoom(id, queueName string) []Note {
	return x.on(id, queueName, false, func(d *Doubt) bool { return d.Room })
}

func (x *DoubtIndex) on(id, queueName string, accepted bool, which func(*Doubt) bool) []Note {
	if x == nil {
		return nil
	}
	reach := slices.Clone(x.ofAll)
	if id != "" {
		reach = append(reach, x.byWorkload[id]...)
	}
	if queueName != "" {
		reach = append(reach, x.byTree[x.trees.ofQueue(queueName)]...)
	}
	var notes []Note
	for _, i := range reach {
		if d := &x.doubts[i]; x.accepted[i] == accepted && which(d) {
			notes = append(notes, d.Note)
		}
	}
	return SortedNotes(notes)
}

// DoubtIndex returns the doubts of the cluster, and what each reaches. Changes of the cluster do not change it.
func (c *Cluster) DoubtIndex() *DoubtIndex {
	x := new(DoubtIndex)
	if len(c.Doubts) == 0 {
		return x
	}
	x.doubts, x.trees, x.byWorkload, x.byTree = slices.Clone(c.Doubts), c.trees(), map[string][]int{}, map[tree][]int{}
	x.accepted = make([]bool, len(c.Doubts))
	for i := range c.Doubts {
		d := &c.Doubts[i]
		x.accepted[i] = c.Accepts(&d.Note)
		if d.ofAll() || d.Node != "" {
			x.ofAll = append(x.ofAll, i)
		}
		if d.Workload != "" {
			x.byWorkload[d.Workload] = append(x.byWorkload[d.Workload], i)
		}
		if d.Queue != "" {
			t := x.trees.ofQueue(d.Queue)
			x.byTree[t] = append(x.byTree[t], i)
		}
		if d.Cohort != "" {
			t := x.trees.ofCohort(d.Cohort)
			x.byTree[t] = append(x.byTree[t], i)
		}
	}
	return x
}

// SortedNotes sorts notes by object, path and text, and leaves out those that are there already.
func SortedNotes(notes []Note) []Note {
	slices.SortFunc(notes, func(a, b Note) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Path, b.Path), strings.Compare(a.Text, b.Text))
	})
	return slices.CompactFunc(notes, func(a, b Note) bool { return a.Object == b.Object && a.Path == b.Path && a.Text == b.Text })
}

// trees are the cohort trees of a state.
type trees struct{ parent, cohort map[string]string }

func (c *Cluster) trees() trees {
	t := trees{make(map[string]string, len(c.State.Cohorts)), make(map[string]string, len(c.State.Queues))}
	for i := range c.State.Cohorts {
		t.parent[c.State.Cohorts[i].Name] = c.State.Cohorts[i].Parent
	}
	for i := range c.State.Queues {
		t.cohort[c.State.Queues[i].Name] = c.State.Queues[i].Cohort
	}
	return t
}

// tree is the root of a cohort tree: a cohort, or a queue in no cohort.
type tree struct {
	isQueue bool
	root    string
}

func (t trees) ofQueue(name string) tree {
	if cohort := t.cohort[name]; cohort != "" {
		return t.ofCohort(cohort)
	}
	return tree{true, name}
}

func (t trees) ofCohort(name string) tree {
	for range len(t.parent) { // parents may be a cycle in the state of KAI
		above := t.parent[name]
		if above == "" {
			break
		}
		name = above
	}
	return tree{false, name}
}
