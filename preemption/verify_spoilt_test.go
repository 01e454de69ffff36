package preemption_test

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// spoil is a way to make a right decision wrong; false: it does not apply.
type spoil struct {
	name string
	do   func(st preemption.State, r preemption.Request, d *preemption.Decision) bool
}

// some changes the middle victim, if there is one for which ok holds.
func some(ok func(preemption.Victim) bool, change func(*preemption.Victim)) func(preemption.State, preemption.Request, *preemption.Decision) bool {
	return func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		for i := range d.Victims {
			if v := &d.Victims[(i+len(d.Victims)/2)%len(d.Victims)]; ok(*v) {
				change(v)
				return true
			}
		}
		return false
	}
}

func anyOne(preemption.Victim) bool    { return true }
func partly(v preemption.Victim) bool  { return len(v.Replicas) > 0 }
func byARule(v preemption.Victim) bool { return len(v.Rules) > 0 }

// toOutcome changes outcomes consistently: what does not belong to the new one is cleared.
func toOutcome(from, to preemption.Outcome) func(preemption.State, preemption.Request, *preemption.Decision) bool {
	return func(_ preemption.State, r preemption.Request, d *preemption.Decision) bool {
		if d.Outcome != from || len(d.Assignment) > 0 && !from.Possible() && !to.Possible() {
			return false // of flavors that may change only the answer for now is judged
		}
		if d.Outcome = to; to == preemption.Wait && d.RetryAt.IsZero() {
			d.RetryAt = r.Now.Add(time.Hour)
		}
		if !to.Possible() {
			d.Victims = nil
		}
		if to != preemption.Wait {
			d.RetryAt = time.Time{}
		}
		if to == preemption.Fits {
			w := d.Assignment.Pin(r.Workload)
			w.ReservedAt, d.Admitted = r.Now, &w
		} else {
			d.Admitted = nil
		}
		return true
	}
}

func shiftRetryAt(by time.Duration) func(preemption.State, preemption.Request, *preemption.Decision) bool {
	return func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		ok := d.Outcome == preemption.Wait && len(d.Assignment) == 0
		d.RetryAt = d.RetryAt.Add(by)
		return ok
	}
}

var spoils = []spoil{
	{"a victim is left out", func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		if len(d.Victims) == 0 {
			return false
		}
		i := len(d.Victims) / 2
		for j := range d.Victims {
			if d.Victims[j].Order > d.Victims[i].Order {
				d.Victims[j].Order--
			}
		}
		d.Victims = slices.Delete(d.Victims, i, i+1)
		return true
	}},
	{"another workload yields", func(st preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		for _, w := range st.Admitted {
			at, found := slices.BinarySearchFunc(d.Victims, w.ID, func(v preemption.Victim, id string) int {
				if v.Workload < id {
					return -1
				} else if v.Workload > id {
					return 1
				}
				return 0
			})
			if !found && len(d.Victims) > 0 {
				v := d.Victims[0]
				v.Workload, v.Queue, v.Order, v.Replicas = w.ID, w.Queue, len(d.Victims)+1, nil
				d.Victims = slices.Insert(d.Victims, at, v)
				return true
			}
		}
		return false
	}},
	{"a wrong reason", some(anyOne, func(v *preemption.Victim) { v.Reason = v.Reason%5 + 1 })},
	{"a wrong queue", some(anyOne, func(v *preemption.Victim) { v.Queue += "x" })},
	{"a wrong cohort", some(anyOne, func(v *preemption.Victim) { v.Cohort += "x" })},
	{"a wrong timestamp of the preemptor", some(anyOne, func(v *preemption.Victim) { v.PreemptorQueued = v.PreemptorQueued.Add(1) })},
	{"a victim that is leaving already, or is not", some(anyOne, func(v *preemption.Victim) { v.Leaving = !v.Leaving })},
	{"an unknown victim", some(anyOne, func(v *preemption.Victim) { v.Workload += "x" })},
	{"a replica more", some(partly, func(v *preemption.Victim) { v.Replicas[0].Count++ })},
	{"a replica fewer", some(partly, func(v *preemption.Victim) { v.Replicas[0].Count-- })},
	{"replicas of which others were leaving", some(partly, func(v *preemption.Victim) { v.Replicas[0].Leaving ^= 1 })},
	{"all of it in place of replicas", some(partly, func(v *preemption.Victim) { v.Replicas = nil })},
	{"an unknown pod set", some(partly, func(v *preemption.Victim) { v.Replicas[0].PodSet += "x" })},
	{"a victim twice", func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		if len(d.Victims) > 0 {
			d.Victims = append(d.Victims[:1:1], d.Victims...)
		}
		return len(d.Victims) > 0
	}},
	{"victims not sorted", func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		slices.Reverse(d.Victims)
		return len(d.Victims) > 1
	}},
	{"two numbers exchanged", func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		if len(d.Victims) < 2 {
			return false
		}
		d.Victims[0].Order, d.Victims[1].Order = d.Victims[1].Order, d.Victims[0].Order
		return true
	}},
	{"a number twice", func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		if len(d.Victims) < 2 {
			return false
		}
		d.Victims[0].Order = d.Victims[1].Order
		return true
	}},
	{"a wrong borrow height", func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		d.BorrowHeight++
		return d.Assignment == nil
	}},
	{"RetryAt too early", shiftRetryAt(-1)},
	{"RetryAt too late", shiftRetryAt(1)},
	{"RetryAt not after now", func(_ preemption.State, r preemption.Request, d *preemption.Decision) bool {
		d.RetryAt = r.Now
		return d.Outcome == preemption.Wait
	}},
	{"admitted at another time", func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		if d.Admitted == nil {
			return false
		}
		d.Admitted.ReservedAt = d.Admitted.ReservedAt.Add(1)
		return true
	}},
	{"not admitted", func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		ok := d.Admitted != nil
		d.Admitted = nil
		return ok
	}},
	{"Fits and not Impossible", toOutcome(preemption.Fits, preemption.Impossible)},
	{"Preempt and not Impossible", toOutcome(preemption.Preempt, preemption.Impossible)},
	{"Preempt and not Wait", toOutcome(preemption.Preempt, preemption.Wait)},
	{"Preempt and not Fits", toOutcome(preemption.Preempt, preemption.Fits)},
	{"Preempt and not Gated", toOutcome(preemption.Preempt, preemption.Gated)},
	{"Gated and not Preempt", toOutcome(preemption.Gated, preemption.Preempt)},
	{"Wait and not Impossible", toOutcome(preemption.Wait, preemption.Impossible)},
	{"Wait and not Fits", toOutcome(preemption.Wait, preemption.Fits)},
	{"Impossible and not Wait", toOutcome(preemption.Impossible, preemption.Wait)},
	{"Impossible and not Fits", toOutcome(preemption.Impossible, preemption.Fits)},
	{"Impossible and not Preempt", toOutcome(preemption.Impossible, preemption.Preempt)},
	{"no outcome", func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		d.Outcome = 0
		return true
	}},
}

// ruleSpoils are ways to spoil decisions by rules.
var ruleSpoils = []spoil{
	{"a trigger too few", func(_ preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		ok := len(d.Triggers) > 0
		d.Triggers = d.Triggers[:max(0, len(d.Triggers)-1)]
		return ok
	}},
	{"another rule", some(byARule, func(v *preemption.Victim) { v.Rules[0].Rule += "x" })},
	{"another configuration", some(byARule, func(v *preemption.Victim) { v.Rules[0].Config += "x" })},
	{"another trigger", some(byARule, func(v *preemption.Victim) { v.Rules[0].Trigger += "x" })},
	{"rules not in order", some(func(v preemption.Victim) bool { return len(v.Rules) > 1 }, func(v *preemption.Victim) { slices.Reverse(v.Rules) })},
	{"a rule too few", func(st preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		for i := range d.Victims {
			list := d.Victims[i].Rules
			for k := 1; k < len(list); k++ {
				at := slices.IndexFunc(st.Rules[0].Rules, func(r rules.Rule) bool { return r.Name == list[k].Rule })
				if slices.ContainsFunc(list[k].Selectors, func(n int) bool { return st.Rules[0].Rules[at].CandidateSelectors[n].Quota == "" }) {
					d.Victims[i].Rules = slices.Delete(list, k, k+1) // with constraints alone it might not have accepted
					return true
				}
			}
		}
		return false
	}},
	{"a selector too few", func(st preemption.State, _ preemption.Request, d *preemption.Decision) bool {
		for i := range d.Victims {
			for k := range d.Victims[i].Rules {
				of := &d.Victims[i].Rules[k]
				at := slices.IndexFunc(st.Rules[0].Rules, func(r rules.Rule) bool { return r.Name == of.Rule })
				if n := len(of.Selectors) - 1; st.Rules[0].Rules[at].CandidateSelectors[of.Selectors[n]].Quota == "" {
					of.Selectors = of.Selectors[:n] // with a constraint it might not have held
					return true
				}
			}
		}
		return false
	}},
	{"a selector too many", some(byARule, func(v *preemption.Victim) { v.Rules[0].Selectors = append(v.Rules[0].Selectors, 61) })},
	{"no rule", some(byARule, func(v *preemption.Victim) { v.Rules = nil })},
}

// Verify finds each way to spoil a decision, each time.
func TestSpoiltDecisions(t *testing.T) {
	spoilAll(t, "spoilt.golden", func(seed int) (preemption.Config, preemption.State, preemption.Request) {
		record := preemptiontest.Records().Example(seed)
		return preemptiontest.Configs().Example(seed + 1), record.State, *record.Request
	}, spoils)
}

// So it does with limits and rules.
func TestSpoiltDecisionsByRules(t *testing.T) {
	type question struct {
		config preemption.Config
		st     preemption.State
		r      preemption.Request
	}
	questions := rapid.Custom(func(t *rapid.T) (q question) {
		q.config, q.st, q.r = drawLimited(t)
		return q
	})
	spoilAll(t, "spoilt-rules.golden", func(seed int) (preemption.Config, preemption.State, preemption.Request) {
		q := questions.Example(seed)
		return q.config, q.st, q.r
	}, slices.Concat(spoils, ruleSpoils))
}

// spoilAll spoils the decisions about 1500 questions in all ways, and by a guard and by less rights.
func spoilAll(t *testing.T, golden string, ask func(seed int) (preemption.Config, preemption.State, preemption.Request), spoils []spoil) {
	applied, said := map[string]int{}, map[string]string{}
	for seed := range 1500 {
		config, st, r := ask(seed)
		s := snapshotOf(t, st)
		if d := decideWith(t, config, s, r); len(d.Victims) > 0 {
			guarded := config
			guarded.Guards = append(slices.Clone(config.Guards), preemptiontest.ByUID{Never: workloadOf(st, d.Victims[0].Workload).UID, Until: "none"})
			strict := st
			strict.Queues = slices.Clone(st.Queues)
			for i := range strict.Queues {
				strict.Queues[i].Preemption, strict.Queues[i].Rules = queue.PreemptionPolicy{}, ""
			}
			applied["no candidate is permitted"]++
			if verify.Decision(strict, r, config, d) == nil {
				t.Errorf("%d: with no right: %+v", seed, d)
			}
			if !leavingAlone(d) { // what leaves leaves, whatever a guard says
				applied["a guard protects a victim"]++
				if verify.Decision(st, r, guarded, d) == nil {
					t.Errorf("%d: with a guard: %+v", seed, d)
				}
			}
		}
		for _, way := range spoils {
			d := decideWith(t, config, s, r) // each way spoils one of its own
			if !way.do(st, r, &d) {
				continue
			}
			applied[way.name]++
			err := verify.Decision(st, r, config, d)
			if err == nil {
				t.Errorf("%d: %s: %+v", seed, way.name, d)
				continue
			}
			said[way.name] += err.Error() + "\n"
		}
	}
	for _, name := range []string{"a guard protects a victim", "no candidate is permitted"} {
		spoils = append(spoils, spoil{name: name})
	}
	for _, way := range spoils {
		if applied[way.name] < 5 {
			t.Errorf("%s: %d times", way.name, applied[way.name])
		}
		t.Logf("%s: %d", way.name, applied[way.name])
	}
	var b bytes.Buffer
	b.WriteString(spoiltHead)
	for _, way := range spoils {
		if text := said[way.name]; text != "" {
			fmt.Fprintf(&b, "%-36s %5d %08x %s\n", way.name, applied[way.name], crc32.ChecksumIEEE([]byte(text)), shortest(text))
		}
	}
	keptIn(t, golden, b.Bytes())
}

const spoiltHead = `# What Verify says of spoilt decisions: how often each way applies, a checksum of all that is said,
# and the shortest error. A line changes only on purpose.
#
`

// shortest returns the shortest line of a text, the first in order if there are several.
func shortest(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return slices.MinFunc(lines, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
}
