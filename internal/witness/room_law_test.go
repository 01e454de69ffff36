package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
)

// places is a room with a number of places: each workload takes some, or each of its replicas one.
type places struct {
	free   int64
	takes  map[string]int64
	absent map[string]bool
}

func (p *places) Remove(id string)  { p.absent[id] = true }
func (p *places) Restore(id string) { delete(p.absent, id) }
func (p *places) Fits() bool {
	free := p.free
	for id := range p.absent {
		free += p.takes[id]
	}
	return free >= 0
}

// TestRoom: the engine and the witness choose alike where a room is asked, too.
func TestRoom(t *testing.T) {
	ask(t, rapid.Custom(func(t *rapid.T) question {
		q := questions(func(c *preemption.Config) {
			if c.Sharing == preemption.Stable {
				c.Sharing = preemption.Fair
			}
		}).Draw(t, "question")
		room := &places{takes: map[string]int64{}, absent: map[string]bool{}}
		for _, w := range q.Record.State.Admitted {
			room.takes[w.ID] = rapid.Int64Range(0, 3).Draw(t, "takes")
		}
		room.free = rapid.Int64Range(-5, 1).Draw(t, "free")
		if r := q.Record.Request; r.Replaces != "" || r.HoldsQuota {
			room.takes[r.Replaces], room.takes[r.Workload.ID] = 0, 0
		}
		q.Record.Request.Room = room
		return q
	}))
}
