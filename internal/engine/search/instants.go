package search

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
)

// queueInstants orders the runs by their next change from an instant on: those of the last
// firstFit, where a minimum runtime, minAdmitDuration or a guard ends, and those where only
// the order changes. These are where time ends for an equal in the own queue that may yield
// already as newer; where workloads without reservation, which stand at now, become newer or
// pass a reservation that lies ahead.
func (s *Searcher) queueInstants(from int64) {
	if s.request.NewerByReservation && s.equalsMayYield() && s.request.Created < math.MaxInt64 {
		s.addInstant(0, s.request.Created+1) // the own queue is the first donor
	}
	unreserved := slices.ContainsFunc(s.donors, func(d donor) bool {
		running := s.cluster.Running(d.queue)
		return running.Lane(cluster.EvictedUnreserved).Len()+running.Lane(cluster.ActiveUnreserved).Len() > 0
	})
	for i := range s.donors {
		running := s.cluster.Running(s.donors[i].queue)
		for _, lane := range [...]*cluster.LaneSet{running.Lane(cluster.Active), running.Lane(cluster.Evicted)} {
			if s.donors[i].class == own && s.equalsMayYield() && s.request.MinAdmit > 0 {
				s.runs = append(s.runs, run{donor: i, lane: lane, priority: s.request.Priority, delay: s.request.MinAdmit})
			}
			if unreserved {
				s.addRuns(i, lane, permission{all: true}, -1, 0)
				s.addRuns(i, lane, permission{all: true}, 0, 0)
			}
		}
	}
	for i := range s.runs {
		s.runs[i].until = s.runs[i].lastBefore(from)
	}
	heap.Init(s.runs, sooner)
}

// sooner is the order of runs by their next change.
func sooner(a, b *run) bool { return a.until < b.until }

// addInstant adds a run that changes at one instant.
func (s *Searcher) addInstant(donor int, at int64) {
	s.runs = append(s.runs, run{donor: donor, until: at - 1})
}

// nextInstant returns the next instant at which anything changes. While draining it notes
// whose.
func (s *Searcher) nextInstant() (at int64, ok bool) {
	if len(s.runs) == 0 || s.runs[0].until == math.MaxInt64 {
		return 0, false
	}
	for at = s.runs[0].until + 1; s.runs[0].until < at; heap.Fix(s.runs, 0, sooner) {
		s.steps++
		if donor := s.runs[0].donor; s.draining && !slices.Contains(s.changed, donor) {
			s.changed = append(s.changed, donor)
		}
		s.runs[0].until = s.runs[0].lastBefore(at)
	}
	return at, true
}
