package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/preemption"
)

// cluster is an input, ready to be asked.
type cluster struct {
	input
	snapshot  *preemption.Snapshot
	config    preemption.Config
	preemptor *preemption.Preemptor
	now       time.Time
	sharing   string // why fair sharing decides, if the input says so
}

// load reads the cluster that the options name.
func load(o *options, std stdio, clock func() time.Time) (*cluster, error) {
	in, err := readInput(o, std)
	if err != nil {
		return nil, err
	}
	if in.isSample {
		clock = func() time.Time { return sampleTime }
	}
	c := &cluster{input: in, config: o.config, now: o.now}
	if c.now.IsZero() {
		c.now = clock()
	}
	c.now = c.now.Add(o.in)
	if c.snapshot, err = preemption.NewSnapshot(in.state); err != nil {
		return nil, describeFaults(err)
	}
	c.share(o)
	c.config.MaxBlockers = maxBlockers
	c.preemptor, err = preemption.New(c.config)
	return c, err
}

// maxBlockers is more than the default: a person wants to see more of them than a scheduler.
const maxBlockers = 16

// recordedRequest returns the request of a Record, at the time of the command line if it
// gives one.
func (c *cluster) recordedRequest(o *options) preemption.Request {
	r := *c.recorded
	if r.Now.IsZero() || o.asked {
		r.Now = c.now
	} else {
		r.Now = r.Now.Add(o.in)
	}
	return r
}

// share sets fair sharing if the command line or else the input says so.
func (c *cluster) share(o *options) {
	known := c.found.Sharing
	if o.sharingSaid || !known.Known || !known.On {
		return
	}
	c.config.Sharing, c.config.Fair.Strategies = preemption.Fair, known.Strategies
	c.sharing = fmt.Sprintf("decided by fair sharing because of %s; -fair=false decides without it", known.Source)
}

// describeFaults keeps the first fault of a state, and says how many more there are.
func describeFaults(err error) error {
	var faults fault.List
	if !errors.As(err, &faults) {
		return err
	}
	more := ""
	if len(faults) > 1 {
		more = fmt.Sprintf(" (and %d more faults)", len(faults)-1)
	}
	return fmt.Errorf("the cluster is not valid: %w%s", faults[0], more)
}
