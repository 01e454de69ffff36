package loop

import (
	"github.com/cedesched/cede/examples/internal/world"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// state is where a job is.
type state uint8

const (
	waiting state = iota // not admitted
	running              // admitted
	leaving              // told to stop, and still holds its room
)

// job is a job in the loop.
type job struct {
	*world.Job
	state     state
	submitted workload.Workload
	victim    preemption.Victim // by which right it was told to stop
	toldAt    int64
	since     int64 // when it came to its state
	stops     int64 // when a leaving job stops working
	saved     int64 // seconds of work that no eviction can undo
	runs      int64 // how often it was admitted
	waited    int64 // seconds, over all its waits
	evictions int64
	lost      int64  // GPUs × seconds
	pairs     []pair // in which it was the victim
}

// kind is what happens to a job.
type kind uint8

const (
	finishes kind = iota
	leaves
	wakes // time alone may help a waiting job
)

// plan sets what happens to a job next, in place of what was planned before.
func (l *Loop) plan(second int64, what kind, job int) {
	l.events = l.events.Set(at(min(second, longest+1)), job, what) // times are nanoseconds in 64 bits
}

// start begins a run.
func (l *Loop) start(j *job, w workload.Workload) {
	j.submitted = w
	j.waited += l.now - j.since
	j.state, j.since = running, l.now
	j.runs++
	l.happens(Starts, j)
	l.move(j)
	l.hold(j.GPU)
	l.result.Busy.from(l.now, j.GPU)
	l.plan(l.now+l.world.Restart+j.Work-j.saved, finishes, l.index[j.ID])
}

// move notes that a job of the highest priority takes or leaves room.
func (l *Loop) move(j *job) {
	if j.Priority == l.highest {
		l.moved = l.now
	}
}

func (l *Loop) hold(gpu int64) {
	l.used += gpu
	l.result.Peak = max(l.result.Peak, l.used)
}

// stop tells a job to stop. By its policy it may go on to its next checkpoint if that is near.
func (l *Loop) stop(j *job, v preemption.Victim, wait int64, preemptor int) {
	if j.state == leaving {
		if wait == 0 {
			l.hurry(j)
		}
		return
	}
	if l.told != nil {
		l.told(j, l.jobs[preemptor])
	}
	if l.Follow != nil {
		l.Follow(Happening{l.now, j.ID, Told, l.jobs[preemptor].ID, v})
	}
	j.victim, j.toldAt, j.state, j.stops = v, l.now, leaving, l.now
	l.count(j, l.index[j.ID], preemptor)
	j.evictions++
	if l.counts(l.now) {
		l.result.Evictions++
		l.result.OfOne = max(l.result.OfOne, j.evictions)
	}
	if every := l.world.Checkpoint; every > 0 {
		worked := l.now - j.since - l.world.Restart
		if left := every - max(0, worked)%every; worked >= 0 && left <= wait {
			j.stops += left
		}
	}
	l.result.Evicted.add(l.now, 1)
	if j.stops > l.now {
		l.goingOn = append(l.goingOn, l.index[j.ID])
	}
	if ends := j.since + l.world.Restart + j.Work - j.saved; ends <= j.stops {
		return // it finishes before
	}
	l.plan(j.stops+l.world.Grace, leaves, l.index[j.ID])
}

// leave ends a run that was told to stop. The job waits again.
func (l *Loop) leave(j *job) error {
	ran := j.stops - j.since
	started := min(ran, l.world.Restart)
	worked, kept := ran-started, int64(0)
	if l.world.Checkpoint > 0 {
		kept = worked / l.world.Checkpoint * l.world.Checkpoint
	}
	j.saved += kept
	l.happens(Stops, j)
	l.account(j, started, kept, worked-kept, l.now-j.stops)
	l.move(j)
	l.used -= j.GPU
	l.result.Busy.to(j.stops, j.GPU)
	back, err := j.victim.Requeued(j.submitted, at(j.toldAt))
	if err != nil {
		return err
	}
	return l.waits(j, back)
}

// finish ends the last run of a job.
func (l *Loop) finish(j *job) {
	if j.state == leaving {
		l.finishedLeaving++
	}
	l.account(j, l.world.Restart, j.Work-j.saved, 0, 0)
	j.saved = j.Work
	l.happens(Finishes, j)
	l.used -= j.GPU
	l.result.Busy.to(l.now, j.GPU)
	l.result.finished(l, j)
	l.forget(j)
	if l.Progress != nil {
		l.Progress()
	}
}

// forget lets a job go that has finished.
func (l *Loop) forget(j *job) {
	for _, p := range j.pairs {
		if l.pairs[p].n < circleTurns {
			delete(l.pairs, p)
		}
	}
	l.jobs[l.index[j.ID]] = nil
	delete(l.index, j.ID)
}

// counts reports whether what happens at an instant counts.
func (l *Loop) counts(at int64) bool {
	return at >= l.world.Warmup && (l.world.Window == 0 || at < l.world.Warmup+l.world.Window)
}

// account adds up a run: its start-up, the work that is kept, the work that is lost, and the grace after it. Every start-up
// after the first is lost, too.
func (l *Loop) account(j *job, started, kept, lost, grace int64) {
	first := int64(0)
	if j.runs == 1 {
		first, started = started, 0
	}
	gone := (started + lost + grace) * j.GPU
	j.lost += gone
	r := &l.result
	if gone > 0 {
		r.LostBy.add(l.now, gone)
	}
	if !l.counts(l.now) {
		return
	}
	r.Held += (first+kept)*j.GPU + gone
	r.StartUp += first * j.GPU
	r.Restarts += started * j.GPU
	r.Done += kept * j.GPU
	r.Redone += lost * j.GPU
	r.Grace += grace * j.GPU
}
