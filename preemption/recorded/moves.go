package recorded

import (
	"math"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
)

// Departures of answers in which victims move, by name.
const (
	fewerMoves  = "no more pods move than need to"
	otherOrders = "moves are found that one order of placing does not find"
	oneSet      = "one set of victims is tried for each domain"
)

// Moving is a question about victims that move: each request in turn has room if all its victims have a place elsewhere.
type Moving struct {
	State    placement.State     `json:"state"`
	Requests []placement.Request `json:"requests"`
	Want     Moved               `json:"want"`
}

// Moved is the answer to all requests together.
type Moved struct {
	// Placed are the pods of the requests that have a place.
	Placed []string `json:"placed"`
	// Moves is the number of pods that move.
	Moves int `json:"moves,omitzero"`
}

func (q *Moving) check(r *Report) error {
	got, wrong, err := q.ask()
	if err != nil {
		return err
	}
	r.compare(excuse{}, "what the judge finds wrong", nil, wrong)
	placed, found := slices.Sorted(slices.Values(q.Want.Placed)), slices.Sorted(slices.Values(got.Placed))
	r.compare(q.placedExcuse(found), "placed", placed, found)
	if slices.Equal(placed, found) {
		r.compare(q.movesExcuse(got.Moves), "pods that move", one(q.Want.Moves), one(got.Moves))
	}
	return nil
}

// placedExcuse excuses that more or less is placed than one order of placing does.
func (q *Moving) placedExcuse(found []string) excuse {
	if len(found) > len(q.Want.Placed) {
		return excuse{otherOrders, found}
	}
	return excuse{oneSet, found}
}

// movesExcuse excuses another number of pods that move.
func (q *Moving) movesExcuse(got int) excuse {
	if got < q.Want.Moves {
		return excuse{fewerMoves, one(got)}
	}
	return excuse{oneSet, one(got)}
}

// ask makes the requests, one after the other, each in the state that the answers before leave. Units of any priority may move, and none
// may yield.
func (q *Moving) ask() (got Moved, wrong []string, err error) {
	s, err := placement.NewSnapshot(q.State)
	if err != nil {
		return got, nil, err
	}
	c := moves.Config{Price: func(placement.Unit) (yield, move int64) { return -1, 0 }}
	for _, r := range q.Requests {
		r.Priority = math.MaxInt32
		d, err := moves.Decide(nil, s, r, c)
		if err != nil {
			return got, nil, err
		}
		if err := verify.Moves(s.State(), r, placement.Config{}, c, d); err != nil {
			wrong = append(wrong, err.Error())
		}
		if !d.Decision.Outcome.Succeeds() {
			continue
		}
		for _, m := range d.Moves {
			got.Moves += len(m.Pods)
		}
		for _, n := range d.Decision.Nominations {
			got.Placed = append(got.Placed, n.Pod)
		}
		edits := d.EditsWhenDone(s)
		if d.Decision.Outcome == preemption.Fits {
			edits = d.Decision.Edits()
		}
		if s, err = s.With(edits...); err != nil {
			return got, nil, err
		}
	}
	return got, wrong, nil
}
