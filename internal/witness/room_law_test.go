package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
)

// places is a room with a number of places, of which each workload takes some. Some are free once what terminates is gone.
type places struct {
	free   int64
	soon   int64
	takes  map[string]int64
	absent map[string]bool
}

func (p *places) Remove(id string)  { p.absent[id] = true }
func (p *places) Restore(id string) { delete(p.absent, id) }
func (p *places) Fits() bool        { return p.left() >= 0 }
func (p *places) FitsSoon() bool    { return p.left()+p.soon >= 0 }
func (p *places) left() int64 {
	free := p.free
	for id := range p.absent {
		free += p.takes[id]
	}
	return free
}

// TestRoom: the engine and the witness choose alike where a room is asked, too.
func TestRoom(t *testing.T) {
	ask(t, roomQuestions())
}

// roomQuestions draws questions in which a room is asked.
func roomQuestions() *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		q := questions(func(c *preemption.Config) {
			c.Compat.Kueue016 = c.Compat.Kueue016 && c.Sharing != preemption.Stable
		}).Draw(t, "question")
		q.Record.Request.Room = placesFor(t, q)
		return q
	})
}

// placesFor draws a room for the workloads of a question.
func placesFor(t *rapid.T, q question) *places {
	room := &places{takes: map[string]int64{}, absent: map[string]bool{}}
	for _, w := range q.Record.State.Admitted {
		room.takes[w.ID] = rapid.Int64Range(0, 3).Draw(t, "takes")
	}
	room.free = rapid.Int64Range(-5, 1).Draw(t, "free")
	room.soon = max(0, rapid.Int64Range(-4, 4).Draw(t, "soon"))
	if r := q.Record.Request; r.Replaces != "" || r.HoldsQuota {
		room.takes[r.Replaces], room.takes[r.Workload.ID] = 0, 0
	}
	return room
}
