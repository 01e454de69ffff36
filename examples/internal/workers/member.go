package workers

import (
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/preemption"
)

// Member is what was read as one cluster. Make it with [NewMember].
type Member struct {
	Name    string // of a worker; empty: the manager
	Cluster *answers.Cluster
	Waiting []answers.Waiting // what waits in a worker
	Notes   []string          // on what was read

	uids    map[string]string // objects by UID
	objects map[string]string // UIDs by object
	twice   string            // an object that is there with two UIDs; empty: there is none
}

// NewMember returns a cluster of which nothing was read yet.
func NewMember(name string) *Member {
	return &Member{Name: name, uids: map[string]string{}, objects: map[string]string{}}
}

// See keeps which objects are there. Those of a watch may be made anew under their names.
func (m *Member) See(o *objects.Object) {
	uid, key := o.Metadata.UID, strings.TrimSpace(o.Kind+" "+o.ID())
	if uid == "" || o.Watched {
		return
	}
	if before := m.objects[key]; before != "" && before != uid && (m.twice == "" || key < m.twice) {
		m.twice = key
	}
	m.objects[key], m.uids[uid] = uid, key
}

// title names the cluster in a message.
func (m *Member) title() string {
	if m.Name == "" {
		return "the manager"
	}
	return m.Name
}

// gatesPath is the field of the gates of a workload.
const gatesPath = "spec.preemptionGates"

// Assumed is what is assumed of objects of a member: that gates count is seen by their states.
func Assumed(in *answers.Input) []string {
	if slices.ContainsFunc(in.Found.Doubts, func(d bridge.Doubt) bool { return d.Path == gatesPath }) {
		return []string{gatesPath}
	}
	return nil
}

// Read reads a member from the text of its objects, as of a time, without its nodes.
func Read(name string, sources []objects.Source, now time.Time) (*Member, error) {
	m := NewMember(name)
	in, err := answers.ReadSeen(sources, "kueue", nil, m.See)
	if err != nil {
		return nil, err
	}
	if err := in.Assume(Assumed(&in), false); err != nil {
		return nil, err
	}
	c := &answers.Cluster{Input: in, Now: now, Config: preemption.Config{MaxBlockers: answers.MaxBlockers}}
	c.ShareAsFound()
	c.LimitAsFound()
	if c.Snapshot, err = answers.Snapshot(in.State); err != nil {
		return nil, answers.Faults(err)
	}
	if c.Preemptor, err = preemption.New(c.Config); err != nil {
		return nil, err
	}
	m.Cluster, m.Waiting, m.Notes = c, c.Waiting(nil), in.Found.Warnings
	c.Line(m.Waiting)
	return m, nil
}
