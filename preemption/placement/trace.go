package placement

import "github.com/cedesched/cede/internal/engine/trace"

func init() {
	trace.Place = func(preemptor, snapshot, request any, r *trace.Recorder) (any, error) {
		asked := request.(Request)
		return preemptor.(*Preemptor).decideTo(snapshot.(*Snapshot), &asked, r)
	}
}
