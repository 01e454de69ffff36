package placement

import (
	"sync"

	"github.com/cedesched/cede/internal/engine/trace"
)

var traceEnabled sync.Once

// enableTrace sets [trace.Place]. New calls it: at initialization it would link the search into
// every program that imports this package for its types.
func enableTrace() {
	traceEnabled.Do(func() {
		trace.Place = func(preemptor, snapshot, request any, r *trace.Recorder) (any, error) {
			asked := request.(Request)
			return preemptor.(*Preemptor).decideTo(snapshot.(*Snapshot), &asked, r)
		}
	})
}
