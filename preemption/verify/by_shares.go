package verify

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/preemption"
)

// byShares judges a decision by fair shares: who may yield, whether all may together, that nobody can stay, and
// what is said beside. A refusal is wrong if one workload by itself would make room, now or where time alone is said to
// help no earlier; sets of several are not looked for.
func (j *judge) byShares() (faults fault.List) {
	d := j.d
	over := j.OverQuota()
	refuses := d.Outcome == preemption.Impossible || d.Outcome == preemption.Wait && !d.Leaving
	switch {
	case over && d.Outcome != preemption.Impossible:
		faults.Add("decision.outcome", "%v, but it never yields and is over a quota", d.Outcome)
	case over:
		return faults
	}
	j.outcome(&faults)
	j.admitted(&faults)
	switch {
	case len(d.Victims) > 0:
		faults = append(faults, j.VictimsByShares(d.Victims)...)
	case refuses && !j.request.Workload.NeverPreempts:
		j.refusedByShares(&faults)
	}
	return faults
}

func (j *judge) refusedByShares(faults *fault.List) {
	d, now := j.d, j.request.Now
	if who := j.OneYields(now); who != "" {
		faults.Add("decision.outcome", "%v, but %q may yield now", d.Outcome, who)
	}
	waits := d.Outcome == preemption.Wait && !d.RetryAt.IsZero()
	ends := j.Ends()
	if waits && j.config.MaxRetrySteps == 0 && !slices.ContainsFunc(ends, d.RetryAt.Add(-time.Nanosecond).Equal) {
		faults.Add("decision.retryAt", "%v, but no protection ends then", d.RetryAt)
	}
	if d.Outcome == preemption.Wait && !waits {
		return // no time is asked for
	}
	for _, end := range ends {
		at := end.Add(time.Nanosecond)
		if waits && !at.Before(d.RetryAt) {
			break
		}
		if who := j.OneYields(at); who != "" {
			faults.Add("decision.retryAt", "%v, but at %v %q may yield", d.RetryAt, at, who)
			break
		}
	}
}
