package right

import (
	"math"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Verdict is [trace.Verdict]; SetBy may be SetByProtection.
type Verdict = trace.Verdict

// Verdict returns the verdict of the third layer on a workload of a donor: never, minimum runtime,
// guards, stable sharing. Surplus replicas may yield whatever the first two say; for them ask
// [Case.VerdictOfSurplus].
func (c *Case) Verdict(d *Donor, w *cluster.Workload) Verdict {
	if v := c.VerdictByRules(d, w); !v.MayYield() || !c.refuses(d.Queue, w) {
		return v
	}
	return Verdict{Rule: trace.Unstable, Until: math.MaxInt64, SetBy: -1}
}

// VerdictByRules is Verdict without stable sharing, for victims of rules.
func (c *Case) VerdictByRules(d *Donor, w *cluster.Workload) Verdict {
	if w.Facts.NeverYields && !w.Facts.Evicted {
		return Verdict{Rule: trace.NeverYields, Until: math.MaxInt64, SetBy: -1}
	}
	if until, ok := d.Protects(w); ok && c.Now <= until {
		return Verdict{Rule: trace.MinRuntime, Until: until, SetBy: d.setByFor(w)}
	}
	return c.byGuards(w)
}

func (c *Case) byGuards(w *cluster.Workload) Verdict {
	if c.Request.Guard != nil {
		if until := c.Request.Guard(w); c.Now <= until {
			return Verdict{Rule: trace.Guarded, Until: until, SetBy: -1}
		}
	}
	return Verdict{SetBy: -1}
}

// ProtectedUntil returns the last instant at which a minimum runtime or a guard protects a workload; the
// lowest int64 if none does.
func (c *Case) ProtectedUntil(d *Donor, w *cluster.Workload) int64 {
	last := int64(math.MinInt64)
	if c.Request.Guard != nil {
		last = c.Request.Guard(w)
	}
	if until, ok := d.Protects(w); ok {
		last = max(last, until)
	}
	return last
}

// VerdictOfSurplus is Verdict for the surplus replicas of a workload.
func (c *Case) VerdictOfSurplus(d *Donor, w *cluster.Workload) Verdict {
	if v := c.byGuards(w); !v.MayYield() {
		return v
	}
	if c.refuses(d.Queue, w) {
		return Verdict{Rule: trace.Unstable, Until: math.MaxInt64, SetBy: -1}
	}
	return Verdict{SetBy: -1}
}

// NotNewer returns the verdict on an equal that is neither newer nor expired.
func (c *Case) NotNewer(w *cluster.Workload) Verdict {
	if held, ends := c.Request.HeldUntil(w); ends {
		return Verdict{Rule: trace.NotNewer, Until: held, SetBy: -1}
	}
	return Verdict{Rule: trace.NotNewer, Until: math.MaxInt64, SetBy: -1}
}

// VerdictOfAll returns the verdict of all layers on a workload while no victim is taken. idle is
// the first node, on the way from the donor to the common cohort, that borrows nothing; -1: none.
func (c *Case) VerdictOfAll(d *Donor, w *cluster.Workload, idle int) Verdict {
	switch {
	case !c.UsesNeeded(w.Loads):
		return Verdict{Rule: trace.NotUsed, SetBy: -1}
	case d.Class == Own && !c.OwnMayYield(w):
		v := Verdict{Rule: trace.WithinClusterQueue, Until: math.MaxInt64, SetBy: -1}
		if c.Equal(w) {
			v.Until = c.NotNewer(w).Until
		}
		return v
	case d.Class != Own && !c.Permission(d.Class, false).Permits(w):
		return Verdict{Rule: trace.ReclaimWithinCohort, SetBy: -1}
	case d.Class != Own && idle >= 0:
		return Verdict{Rule: trace.WithinNominal, SetBy: idle}
	case d.Class == Priority && !c.Permission(Priority, true).Permits(w):
		return Verdict{Rule: trace.BorrowWithinCohort, SetBy: -1}
	}
	return c.Verdict(d, w)
}

// OwnMayYield reports whether the policy of the own queue permits a workload now.
func (c *Case) OwnMayYield(w *cluster.Workload) bool {
	if c.Equal(w) {
		return c.Newer(w) || c.Expired(w)
	}
	return c.Permission(Own, true).Permits(w)
}
