package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
)

// Add asks about a new workload: so many replicas in a queue, each of which takes what the text says. It gets a name that no
// other has, and is selected.
func (m *Model) Add(queue, each string, replicas, priority int64) (id string, err error) {
	id = "new"
	for n := 2; m.isKnown(id); n++ {
		id = fmt.Sprint("new-", n)
	}
	err = m.Set(Edit{Kind: "workload", Node: id, Field: strings.TrimSpace(queue), Value: strings.TrimSpace(each), Replicas: replicas, Priority: priority})
	if err != nil {
		return "", err
	}
	return id, m.Select(id)
}

func (m *Model) isKnown(id string) bool {
	_, runs := m.now.Snapshot.Find(id)
	_, waits := m.now.index[id]
	return runs || waits
}

// add adds a new workload to those that wait.
func (o *overlay) add(e Edit) error {
	if e.Replicas < 1 {
		return fmt.Errorf("%d replicas: want at least 1", e.Replicas)
	}
	if _, err := o.queue(e.Field); err != nil {
		return err
	}
	w, err := answers.Describe(e.Node, e.Value, e.Replicas, o.now)
	if err != nil {
		return err
	}
	if _, waits := o.index[w.ID]; waits {
		return fmt.Errorf("workload %q waits already", w.ID)
	}
	w.Queue, w.Priority = e.Field, e.Priority
	o.index[w.ID], o.cloned[w.ID] = len(o.waiting), true
	of := Waiting{Request: preemption.Request{Workload: w}}
	if !o.shares.IsZero() {
		p, err := kai.Describe(w)
		if err != nil {
			return err
		}
		of.Request.Workload, of.Pods = p.Workload, p.Pods
		o.shares = answers.Requesting(o.shares, &p.Workload, nil)
	}
	o.waiting = append(o.waiting, of)
	return nil
}

// without returns edits without those with a key, and without what was changed of a workload that then is not there.
func without(edits []Edit, key string) []Edit {
	gone := map[string]bool{}
	for _, e := range edits {
		if e.Kind == "workload" && (key == "" || e.Key() == key) {
			gone[e.Node] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(edits), func(e Edit) bool {
		ofWorkload := slices.Contains([]string{"priority", "replicas", "flavor", "gates", "mayPreempt"}, e.Kind)
		return key == "" || e.Key() == key || ofWorkload && gone[e.Node]
	})
}

// Queues returns the names of all queues.
func (m *Model) Queues() []string {
	list := []string{}
	for q := range m.now.Snapshot.Queues() {
		list = append(list, q.Name)
	}
	slices.Sort(list)
	return list
}
