package witness

import (
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
)

// sharesCase is a small world of fair shares, and a request.
type sharesCase struct {
	state   preemption.State
	request preemption.Request
	config  preemption.Config
}

// anySet returns those who by themselves, or together, make room at an instant; nil: there is no such set.
func anySet(c *sharesCase, at time.Time) []*candidate {
	q := Ask(c.config, c.state, c.request)
	s := sharesOf(q.world)
	var told []*candidate
	for _, one := range s.byShares(q.world, at) {
		if one.leaving {
			one.remove()
		} else {
			told = append(told, one)
		}
	}
	for set := range 1 << len(told) {
		var chosen []*candidate
		own, others := false, false
		for i, one := range told {
			if set>>i&1 == 1 {
				chosen = append(chosen, one)
				own, others = own || one.of.home == q.own, others || one.of.home != q.own
			}
		}
		if own && others {
			continue
		}
		for _, one := range chosen {
			one.remove()
		}
		fits := q.fits(true) && s.allows(q.world, chosen)
		restore(chosen)
		if fits {
			return chosen
		}
	}
	return nil
}

// ByShares holds decisions by fair shares against all sets of those who may yield: victims are allowed, and none can stay;
// where a request is refused no set would make room, now or at an instant before RetryAt, and at RetryAt one does.
func ByShares(t *rapid.T, state preemption.State, request preemption.Request, config preemption.Config) preemption.Outcome {
	c := sharesCase{state, request, config}
	s, err := preemption.NewSnapshot(c.state)
	if err != nil {
		t.Fatal(err)
	}
	p, err := preemption.New(c.config)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decide(s, c.request)
	if err != nil {
		t.Fatal(err)
	}
	q := Ask(c.config, c.state, c.request)
	if fits := q.Fits() && !q.OverQuota(); fits != (d.Outcome == preemption.Fits) {
		t.Fatalf("%v, but it fits: %t", d.Outcome, fits)
	}
	if faults := q.VictimsByShares(d.Victims); len(d.Victims) > 0 && len(faults) > 0 {
		t.Fatalf("%+v: %v", d.Victims, faults)
	}
	if d.Possible() || d.Leaving || q.OverQuota() {
		return d.Outcome
	}
	if set := anySet(&c, c.request.Now); set != nil {
		t.Fatalf("%v, but %s may yield", d.Outcome, names(set))
	}
	for _, end := range q.Ends() {
		at := end.Add(time.Nanosecond)
		set := anySet(&c, at)
		switch first := set != nil; {
		case first && !d.RetryAt.Equal(at):
			t.Fatalf("%v, %v, but at %v %s may yield", d.Outcome, d.RetryAt, at, names(set))
		case first:
			return d.Outcome
		}
	}
	if !d.RetryAt.IsZero() {
		t.Fatalf("at %v time has not helped", d.RetryAt)
	}
	return d.Outcome
}
