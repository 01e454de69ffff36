package preemptiontest

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// drawn is a record, with a configuration, and the decision about it.
type drawn struct {
	preemption.Record
	preemption.Config
	preemption.Decision
}

// kinds is what has to be drawn often enough to be tested, in percent; the last not more
// often than that.
var kinds = []struct {
	name    string
	percent float64
	is      func(*drawn) bool
}{
	{"Preempt", 30, func(d *drawn) bool { return d.Outcome == preemption.Preempt }},
	{"Wait", 8, func(d *drawn) bool { return d.Outcome == preemption.Wait }},
	{"Gated", 4, func(d *drawn) bool { return d.Outcome == preemption.Gated }},
	{"Impossible", 8, func(d *drawn) bool { return d.Outcome == preemption.Impossible }},
	{"Fits", 4, func(d *drawn) bool { return d.Outcome == preemption.Fits }},
	{"two or more victims", 15, func(d *drawn) bool { return len(d.Victims) > 1 }},
	{"a victim in the own queue", 8, anyVictim(func(d *drawn, v preemption.Victim) bool { return v.Cohort == "" })},
	{"a victim in another queue", 15, anyVictim(func(d *drawn, v preemption.Victim) bool { return v.Cohort != "" })},
	{"a victim through a higher cohort", 5, anyVictim(func(d *drawn, v preemption.Victim) bool {
		return v.Cohort != "" && !slices.ContainsFunc(d.Queues(), func(q [2]string) bool { return q == [2]string{d.Request.Workload.Queue, v.Cohort} })
	})},
	{"a victim by time", 2.5, anyVictim(func(d *drawn, v preemption.Victim) bool { return v.Reason == preemption.InClusterQueueTimeBased })},
	{"a victim of equal priority, one of the two queued nobody knows when", 0.8, anyVictim(func(d *drawn, v preemption.Victim) bool {
		asks := &d.Request.Workload
		return v.Cohort == "" && slices.ContainsFunc(d.State.Admitted, func(w workload.Workload) bool {
			return w.ID == v.Workload && w.EffectivePriority() == asks.EffectivePriority() && (w.Queued.IsZero() || asks.Queued.IsZero())
		})
	})},
	{"a less important workload stays, whose local queue has used less than the victim's", 1, func(d *drawn) bool {
		used := map[string]float64{}
		for _, u := range d.Request.LocalQueueUsage {
			used[u.LocalQueue] = u.Usage
		}
		return slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool {
			w := d.admitted(v.Workload)
			return v.Cohort == "" && !w.Evicted && slices.ContainsFunc(d.State.Admitted, func(o workload.Workload) bool {
				stays := !slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return v.Workload == o.ID })
				return stays && o.Queue == w.Queue && o.EffectivePriority() < w.EffectivePriority() && used[o.LocalQueue] < used[w.LocalQueue]
			})
		})
	}},
	{"surplus replicas", 3, anyVictim(func(d *drawn, v preemption.Victim) bool { return len(v.Replicas) > 0 })},
	{"several resources short", 4, func(d *drawn) bool { return len(d.Shortage) > 1 }},
	{"a blocker", 8, func(d *drawn) bool { return len(d.Blockers) > 0 }},
	{"an inactive queue that blocks", 1, func(d *drawn) bool {
		return slices.ContainsFunc(d.Blockers, func(b preemption.Blocker) bool { return b.Rule == preemption.RuleQueueInactive })
	}},
	{"a blocker that never yields", 1, func(d *drawn) bool {
		return slices.ContainsFunc(d.Blockers, func(b preemption.Blocker) bool { return b.Rule == preemption.RuleNeverYields })
	}},
}

func (d *drawn) admitted(id string) *workload.Workload {
	i := slices.IndexFunc(d.State.Admitted, func(w workload.Workload) bool { return w.ID == id })
	return &d.State.Admitted[i]
}

// Queues lists the queues, each with its cohort.
func (d *drawn) Queues() (list [][2]string) {
	for _, q := range d.State.Queues {
		list = append(list, [2]string{q.Name, q.Cohort})
	}
	return list
}

func anyVictim(is func(*drawn, preemption.Victim) bool) func(*drawn) bool {
	return func(d *drawn) bool {
		return slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return is(d, v) })
	}
}

// moreThanCouldBe: something is asked for of which more than there is, in any flavor where
// that is open.
func moreThanCouldBe(t *testing.T, d *drawn) bool {
	s, err := preemption.NewSnapshot(d.State)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := s.QueueStatus(d.Request.Workload.Queue)
	return slices.ContainsFunc(d.Request.Workload.Usage(), func(a quota.Amount) bool {
		return a.Amount > 0 && !slices.ContainsFunc(rows, func(row preemption.QuotaStatus) bool {
			return row.Resource == a.Resource && (a.Flavor == "" || a.Flavor == row.Flavor) && a.Amount <= row.PotentialAvailable
		})
	})
}

// TestRecordsReach counts what is drawn, of a fixed number of examples of fixed seeds.
func TestRecordsReach(t *testing.T) {
	const examples = 3000
	classical, fair := preemption.Config{}, preemption.Config{Sharing: preemption.Fair}
	for _, c := range []struct {
		name    string
		records *rapid.Generator[preemption.Record]
		configs []preemption.Config // none: drawn
	}{
		{"of any configuration", Records(), nil},
		{"in classical or fair sharing", Records(), []preemption.Config{classical, fair}},
		{"without flavors", RecordsWithoutFlavors(), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			count, tooMuch := map[string]int{}, 0
			for seed := range examples {
				d := drawn{Record: c.records.Example(seed)}
				if d.Config = Configs().Example(examples + seed); c.configs != nil {
					d.Config = c.configs[seed%len(c.configs)]
				}
				p, err := preemption.New(d.Config)
				if err != nil {
					t.Fatal(err)
				}
				s, err := preemption.NewSnapshot(d.State)
				if err != nil {
					t.Fatal(err)
				}
				if d.Decision, err = p.Decide(s, *d.Request); err != nil {
					t.Fatal(err)
				}
				for _, k := range kinds {
					if k.is(&d) {
						count[k.name]++
					}
				}
				if moreThanCouldBe(t, &d) {
					tooMuch++
				}
			}
			for _, k := range kinds {
				line := fmt.Sprintf("%s: %.1f %%, wanted at least %g %%", k.name, float64(count[k.name])*100/examples, k.percent)
				t.Log(line)
				if float64(count[k.name])*100 < k.percent*examples {
					t.Error(line)
				}
			}
			line := fmt.Sprintf("more than could ever be: %.1f %%, wanted at most 5 %%", float64(tooMuch)*100/examples)
			t.Log(line)
			if tooMuch*100 > 5*examples {
				t.Error(line)
			}
		})
	}
}
