package workers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/answers"
)

// Fleet is a manager cluster and its workers. Make it with [NewFleet].
type Fleet struct {
	Hub   *answers.Cluster // the manager
	Now   time.Time
	Notes []string // on what was read

	manager kueue.MultiKueue
	members map[string]*Member // the workers
	copies  map[string]kueue.MultiKueue
	waiting map[string]map[string]answers.Waiting // of each worker, by ID
	mixed   map[string]string                     // why the objects of a worker, or of the manager (""), are not those of one cluster
}

// NewFleet puts clusters together: the manager, which has no name, and the workers. It fails on a worker that the manager does not
// have.
func NewFleet(members []*Member) (*Fleet, error) {
	f := &Fleet{members: map[string]*Member{}, copies: map[string]kueue.MultiKueue{}, waiting: map[string]map[string]answers.Waiting{}, mixed: map[string]string{}, Notes: []string{}}
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b *Member) int { return strings.Compare(a.Name, b.Name) }) // the manager is first
	for _, m := range members {
		for _, note := range m.Notes {
			if !strings.Contains(note, gatesPath) { // that gates count is seen
				f.Notes = append(f.Notes, m.title()+": "+note)
			}
		}
		if m.Name == "" {
			f.Hub, f.manager, f.Now = m.Cluster, m.Cluster.MultiKueue(), m.Cluster.Now
			continue
		}
		f.members[m.Name], f.copies[m.Name], f.waiting[m.Name] = m, m.Cluster.MultiKueue(), map[string]answers.Waiting{}
		for _, w := range m.Waiting {
			f.waiting[m.Name][w.Workload.ID] = w
		}
	}
	f.findMixed(members)
	return f, f.known(members)
}

// findMixed finds files that are not of one cluster each: two clusters share no UID, and one cluster has no two objects of one kind
// and name.
func (f *Fleet) findMixed(members []*Member) {
	for i, m := range members {
		if m.twice != "" {
			f.mixed[m.Name] = fmt.Sprintf("what was read as %s holds the objects of two clusters: %s is there with two UIDs", m.title(), m.twice)
		}
		for _, other := range members[:i] {
			var same []string
			for uid, key := range m.uids {
				if other.uids[uid] != "" {
					same = append(same, key)
				}
			}
			if len(same) == 0 {
				continue
			}
			text := fmt.Sprintf("what was read as %s and as %s is one cluster: %s has one UID in both", other.title(), m.title(), slices.Min(same))
			f.mixed[m.Name], f.mixed[other.Name] = text, text
		}
	}
}

// known fails on a worker that the manager does not have.
func (f *Fleet) known(members []*Member) error {
	if len(f.manager.Unreached) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(f.manager.Unreached))
	for _, m := range members[1:] {
		if !slices.Contains(names, m.Name) {
			return fmt.Errorf("worker %s: the manager has no MultiKueueCluster of that name; it has %s", m.Name, strings.Join(names, ", "))
		}
	}
	return nil
}

// checkOf is the AdmissionCheck of MultiKueue of a workload of the manager. sure is false if the check is not among the objects.
func (f *Fleet) checkOf(c *kueue.Copy) (name string, sure bool) {
	for _, s := range c.Checks {
		if _, is := f.manager.Checks[s.Name]; is {
			return s.Name, true
		}
	}
	if len(c.Checks) == 1 && len(f.manager.Checks) == 0 && (len(c.Nominated) > 0 || c.Cluster != "") {
		return c.Checks[0].Name, false
	}
	return "", true
}

// workersOf are the workers of a workload: those of the MultiKueueConfig of its check.
func (f *Fleet) workersOf(q *Question) []string {
	if list, has := f.manager.Workers[f.manager.Checks[q.Check]]; has {
		return slices.Compact(slices.Sorted(slices.Values(list)))
	}
	if len(q.Manager.Nominated) > 0 {
		q.Doubts = append(q.Doubts, "the MultiKueueConfig of its check is not in the manager's objects: its workers are those that it was sent to")
		return slices.Compact(slices.Sorted(slices.Values(q.Manager.Nominated)))
	}
	if q.Check != "" && q.Unread == "" {
		q.Unread = "the MultiKueueConfig of its check is not in the manager's objects: which workers it has is not known"
	}
	return slices.Sorted(maps.Keys(f.members))
}
