package suite

import (
	"encoding/json"
	"fmt"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
)

var answers = map[string]func(question []byte) (any, error){
	Decide: reading(decide), Place: reading(place), Orchestrate: reading(orchestrate), Cycles: reading(cycles),
	Settle: reading(settled), Move: reading(moved), Clear: reading(cleared),
}

// Answer is cede's answer to a question of a form.
func Answer(form string, question []byte) (json.RawMessage, error) {
	ask := answers[form]
	if ask == nil {
		return nil, fmt.Errorf("unknown form %q", form)
	}
	answer, err := ask(question)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// reading reads a question before it is answered.
func reading[Q any](answer func(q *Q) (any, error)) func(question []byte) (any, error) {
	return func(question []byte) (any, error) {
		q := new(Q)
		if err := strict(question, q); err != nil {
			return nil, err
		}
		return answer(q)
	}
}

// ready returns what a question is about.
func (q *DecideQuestion) ready() (p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request, err error) {
	config := preemption.Config{}
	if q.Config != nil {
		config = *q.Config
	}
	if p, err = preemption.New(config); err != nil {
		return
	}
	if s, err = preemption.NewSnapshot(q.State); err != nil {
		return
	}
	r = q.Request
	if len(q.History) > 0 {
		r.History, err = limits.NewHistory(q.History)
	}
	return
}

func decide(q *DecideQuestion) (any, error) {
	p, s, r, err := q.ready()
	if err != nil {
		return nil, err
	}
	return p.Decide(s, r)
}

func (q *PlaceQuestion) ready() (*placement.Preemptor, *placement.Snapshot, error) {
	config := placement.Config{}
	if q.Config != nil {
		config = *q.Config
	}
	p, err := placement.New(config)
	if err != nil {
		return nil, nil, err
	}
	s, err := placement.NewSnapshot(q.State)
	return p, s, err
}

func place(q *PlaceQuestion) (any, error) {
	p, s, err := q.ready()
	if err != nil {
		return nil, err
	}
	return p.Decide(s, q.Request)
}

func settled(q *SettleQuestion) (any, error) {
	of := DecideQuestion{Config: q.Config, State: q.State}
	p, s, _, err := of.ready()
	if err != nil {
		return nil, err
	}
	return settle.Decide(p, s, q.Request)
}

func moved(q *MoveQuestion) (any, error) {
	p, s, err := (&PlaceQuestion{Config: q.Config, State: q.State}).ready()
	if err != nil {
		return nil, err
	}
	return moves.Decide(p, s, q.Request, moves.Config{Prefer: q.Moving.Prefer, Start: q.Moving.Start})
}

func cleared(q *ClearQuestion) (any, error) {
	p, s, err := (&PlaceQuestion{Config: q.Config, State: q.State}).ready()
	if err != nil {
		return nil, err
	}
	return moves.Clear(p, s, q.Request, moves.Config{Prefer: q.Moving.Prefer, Start: q.Moving.Start})
}

func orchestrate(q *OrchestrateQuestion) (any, error) {
	config := gate.Config{}
	if q.Config != nil {
		config = *q.Config
	}
	return gate.Orchestrate(config, q.Now, q.Replicas)
}

func cycles(q *CyclesQuestion) (any, error) {
	config := cycle.Config{Borrowing: q.Borrowing}
	if q.Config != nil {
		config.Preemption = *q.Config
	}
	c, err := cycle.New(config)
	if err != nil {
		return nil, err
	}
	s, err := preemption.NewSnapshot(q.State)
	if err != nil {
		return nil, err
	}
	waiting, err := queue.NewPending(q.State.Cohorts, q.State.Queues)
	for i := 0; i < len(q.Waiting) && err == nil; i++ {
		waiting, err = waiting.Add(q.Waiting[i])
	}
	if err != nil {
		return nil, err
	}
	out := CyclesAnswer{Cycles: make([]cycle.Result, 0, len(q.At))}
	for i, now := range q.At {
		if i > 0 {
			if s, err = s.With(s.Removals()...); err != nil {
				return nil, err
			}
			waiting = waiting.Release(queuesOf(&q.State)...).Advance(now)
		}
		result, err := c.Run(s, waiting.Heads(), now)
		if err != nil {
			return nil, err
		}
		out.Cycles = append(out.Cycles, result)
		if s, waiting, err = result.Apply(s, waiting, now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func queuesOf(st *preemption.State) (names []string) {
	for i := range st.Queues {
		names = append(names, st.Queues[i].Name)
	}
	return names
}
