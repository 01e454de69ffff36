package recorded

import (
	"fmt"
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
	wholeGroups = "a group moves whole, also pods of it that are not in the way"
	greedyMoves = "the greedy search tries one set of victims for each domain"
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
	// Least is the least number of pods that can move, by trying all sets; negative: there is no answer. Nil: not recorded.
	Least *int `json:"least,omitempty"`
}

func (q *Moving) check(r *Report) error {
	for _, search := range []placement.Search{placement.Exact, placement.Greedy} {
		got, proved, wrong, err := q.ask(search)
		if err != nil {
			return err
		}
		r.compare(excuse{}, fmt.Sprintf("what the judge finds wrong (%v)", search), nil, wrong)
		placed, found := slices.Sorted(slices.Values(q.Want.Placed)), slices.Sorted(slices.Values(got.Placed))
		r.compare(q.placedExcuse(found), fmt.Sprintf("placed (%v)", search), placed, found)
		if slices.Equal(placed, found) {
			r.compare(q.movesExcuse(search, got.Moves), fmt.Sprintf("pods that move (%v)", search), one(q.Want.Moves), one(got.Moves))
		}
		if least := q.Want.Least; search == placement.Exact && least != nil {
			if len(found) == 0 {
				got.Moves = -1
			}
			r.compare(excuse{}, "the least number of pods that move", one(*least), one(got.Moves))
			r.compare(excuse{}, "proved", one(true), one(proved))
		}
	}
	return nil
}

// placedExcuse excuses that more is placed than one order of placing does.
func (q *Moving) placedExcuse(found []string) excuse {
	if len(found) > len(q.Want.Placed) {
		return excuse{otherOrders, found}
	}
	return excuse{}
}

// movesExcuse excuses another number of pods that move.
func (q *Moving) movesExcuse(search placement.Search, got int) excuse {
	switch {
	case got < q.Want.Moves:
		return excuse{fewerMoves, one(got)}
	case search == placement.Greedy:
		return excuse{greedyMoves, one(got)}
	case len(q.State.Groups) > 0:
		return excuse{wholeGroups, one(got)}
	}
	return excuse{}
}

// ask makes the requests, one after the other, each in the state that the answers before leave.
func (q *Moving) ask(search placement.Search) (got Moved, proved bool, wrong []string, err error) {
	s, err := placement.NewSnapshot(q.State)
	if err != nil {
		return got, false, nil, err
	}
	proved = true
	for _, r := range q.Requests {
		c := moves.Config{Only: true, Search: search}
		d, err := moves.Decide(nil, s, r, c)
		if err != nil {
			return got, false, nil, err
		}
		if err := verify.Moves(s.State(), r, placement.Config{}, c, d); err != nil {
			wrong = append(wrong, err.Error())
		}
		if proved = proved && (d.Proof == nil || d.Proof.Optimal); !d.Decision.Outcome.Succeeds() {
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
			return got, false, nil, err
		}
	}
	return got, proved, wrong, nil
}
