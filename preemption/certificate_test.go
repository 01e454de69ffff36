package preemption_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// certified is a question whose answer has a certificate.
func certified() *rapid.Generator[certifiedQuestion] {
	return rapid.Custom(func(t *rapid.T) certifiedQuestion {
		q := certifiedQuestion{preemptiontest.Records().Draw(t, "record"), preemptiontest.Configs().Draw(t, "config")}
		q.config.Search, q.config.Cost = preemption.Exact, drawCost(t, &q.record.State)
		q.config.Exact.Certificate = true
		q.config.Exact.FewestFirst = rapid.Bool().Draw(t, "fewest first")
		q.config.Exact.MaxNodes = 2_000
		return q
	})
}

type certifiedQuestion struct {
	record preemption.Record
	config preemption.Config
}

const certificatesHead = `# The certificates of drawn requests: what they show, and their size. Fewer entries are better.
#
# about        sharing    outcome         value    shown attempts  rows  caps  tree
`

// Certificates stay small.
func TestCertificatesAreThoseOfTheGolden(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(certificatesHead)
	line := func(about string, q certifiedQuestion) {
		r := *q.record.Request
		d := decideWith(t, q.config, snapshotOf(t, q.record.State), r)
		if d.Proof == nil || d.Proof.Certificate == nil {
			return
		}
		if err := verify.Decision(q.record.State, r, q.config, d); err != nil {
			t.Errorf("%s: %v", about, err)
		}
		c, rows, caps, tree := d.Proof.Certificate, 0, 0, 0
		for _, a := range c.Attempts {
			rows, caps, tree = rows+len(a.Rows), caps+len(a.Caps), tree+len(a.Tree)
		}
		fmt.Fprintf(&b, "%-14s %-10s %-12s %8d %8d %8d %5d %5d %5d\n", about, strings.ToLower(q.config.Sharing.String()),
			d.Outcome, d.Proof.Value, c.Bound, len(c.Attempts), rows, caps, tree)
	}
	for seed := range 300 {
		line(fmt.Sprint("record ", seed), certified().Example(seed))
	}
	for seed := range uint64(2) {
		for _, columns := range []int{1, 4} {
			for _, cost := range []preemption.Cost{nil, preemption.CostByAge{Resources: []string{"r0"}}} {
				st, r := fullQueue(seed, columns, 400, 16)
				q := certifiedQuestion{preemption.Record{State: st, Request: &r}, preemption.Config{Search: preemption.Exact, Cost: cost}}
				q.config.Exact.MaxNodes, q.config.Exact.Certificate = 5_000, true
				line(fmt.Sprintf("full %d %d %v", seed, columns, cost != nil), q)
			}
		}
	}
	for _, columns := range []int{1, 4} {
		for _, most := range []int64{4, 14} {
			st, r := fullQueue(0, columns, 400, 16)
			q := certifiedQuestion{preemption.Record{State: st, Request: &r}, preemption.Config{Search: preemption.Exact, Limits: atMost(most)}}
			q.config.Exact.MaxNodes, q.config.Exact.Certificate = 5_000, true
			line(fmt.Sprintf("limited %d %d", columns, most), q)
		}
	}
	keptIn(t, "certificates.golden", b.Bytes())
}

// attemptSpoil spoils the last attempt for which it applies.
func attemptSpoil(do func(a *preemption.CertifiedAttempt) bool) func(*preemption.Decision) bool {
	return func(d *preemption.Decision) bool {
		for i := len(d.Proof.Certificate.Attempts) - 1; i >= 0; i-- {
			if do(&d.Proof.Certificate.Attempts[i]) {
				return true
			}
		}
		return false
	}
}

func rowSpoil(do func(r *preemption.CertifiedRow)) func(*preemption.Decision) bool {
	return attemptSpoil(func(a *preemption.CertifiedAttempt) bool {
		if len(a.Rows) == 0 {
			return false
		}
		do(&a.Rows[len(a.Rows)/2])
		return true
	})
}

func capSpoil(do func(c *preemption.CertifiedCap)) func(*preemption.Decision) bool {
	return attemptSpoil(func(a *preemption.CertifiedAttempt) bool {
		if len(a.Caps) == 0 {
			return false
		}
		do(&a.Caps[len(a.Caps)/2])
		return true
	})
}

func treeSpoil(do func(a *preemption.CertifiedAttempt)) func(*preemption.Decision) bool {
	return attemptSpoil(func(a *preemption.CertifiedAttempt) bool {
		if len(a.Tree) == 0 {
			return false
		}
		do(a)
		return true
	})
}

// certificateSpoils are ways to make a certificate wrong. With another multiplier, or a cap of
// another reason, it may show the same: if, say, the cap limits nobody.
var certificateSpoils = []struct {
	name string
	do   func(*preemption.Decision) bool
}{
	{"it shows more", func(d *preemption.Decision) bool {
		d.Proof.Certificate.Bound++
		return true
	}},
	{"a proof that it does not show", func(d *preemption.Decision) bool {
		if p := d.Proof; p.LowerBound < p.Value {
			p.LowerBound, p.Certificate.Bound, p.Optimal = p.Value, p.Value, true
			return true
		}
		return false
	}},
	{"no attempt", func(d *preemption.Decision) bool {
		d.Proof.Certificate.Attempts = d.Proof.Certificate.Attempts[1:]
		return len(d.Proof.Certificate.Attempts) == 0
	}},
	{"the bound of an attempt is larger", attemptSpoil(func(a *preemption.CertifiedAttempt) bool { a.Bound += 1 + a.Bound/100; return true })},
	{"the bound of an attempt is smaller", attemptSpoil(func(a *preemption.CertifiedAttempt) bool { a.Bound -= 1 + a.Bound/100; return true })},
	{"a negative multiplier of a row", rowSpoil(func(r *preemption.CertifiedRow) { r.Multiplier = -r.Multiplier })},
	{"a row without end", rowSpoil(func(r *preemption.CertifiedRow) { r.Multiplier = math.Inf(1) })},
	{"another multiplier of a row", rowSpoil(func(r *preemption.CertifiedRow) { r.Multiplier /= 1000 })},
	{"no multiplier of the rows", attemptSpoil(func(a *preemption.CertifiedAttempt) bool { a.Rows = nil; return a.Bound > 0 })},
	{"another resource", rowSpoil(func(r *preemption.CertifiedRow) { r.Resource += "x" })},
	{"another cohort", rowSpoil(func(r *preemption.CertifiedRow) { r.Cohort += "x" })},
	{"a row of another kind", rowSpoil(func(r *preemption.CertifiedRow) { r.Nominal, r.Cohort = !r.Nominal, r.Cohort+"x" })},
	{"a negative multiplier of a cap", capSpoil(func(c *preemption.CertifiedCap) { c.Multiplier = -c.Multiplier })},
	{"another reason of a cap", capSpoil(func(c *preemption.CertifiedCap) { c.Reason = c.Reason%5 + 1 })},
	{"another multiplier of a cap", capSpoil(func(c *preemption.CertifiedCap) { c.Multiplier = 1000 + 1000*c.Multiplier })},
	{"an unknown candidate", treeSpoil(func(a *preemption.CertifiedAttempt) { a.Candidates[0].Workload += "x" })},
	{"an unknown pod set", treeSpoil(func(a *preemption.CertifiedAttempt) { a.Candidates[0].PodSet += "x" })},
	{"a candidate too few", treeSpoil(func(a *preemption.CertifiedAttempt) { a.Candidates = a.Candidates[1:] })},
	{"no tree", treeSpoil(func(a *preemption.CertifiedAttempt) { a.Tree = nil })},
	{"no candidate of that number", treeSpoil(func(a *preemption.CertifiedAttempt) { a.Tree[0] += len(a.Candidates) })},
	{"a tree that ends early", treeSpoil(func(a *preemption.CertifiedAttempt) { a.Tree = a.Tree[:len(a.Tree)-1] })},
	{"a tree that goes on", treeSpoil(func(a *preemption.CertifiedAttempt) { a.Tree = append(a.Tree, -1) })},
	{"a branch that is cut off", treeSpoil(func(a *preemption.CertifiedAttempt) { a.Tree[0] = -1 })},
	{"a kind that was decided against", treeSpoil(func(a *preemption.CertifiedAttempt) {
		a.Tree = append(a.Tree[:len(a.Tree)-1], a.Tree[0], -1, -1)
	})},
}

// Verify refuses each spoilt certificate, and only for the certificate.
func TestSpoiltCertificates(t *testing.T) {
	applied, kept := map[string]int{}, map[string]int{}
	for seed := range 780 {
		q := certified().Example(seed)
		if q.config.SkipRetryAt = true; seed%4 < 3 {
			q.config.Exact.MaxNodes = 1 + seed%2
		}
		st, r := q.record.State, *q.record.Request
		d := decideWith(t, q.config, snapshotOf(t, st), r)
		if d.Proof == nil || d.Proof.Certificate == nil {
			continue
		}
		form, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range certificateSpoils {
			var d preemption.Decision
			if err := json.Unmarshal(form, &d); err != nil {
				t.Fatal(err)
			}
			if !way.do(&d) {
				continue
			}
			applied[way.name]++
			switch err := verify.Decision(st, r, q.config, d); {
			case err == nil && strings.HasPrefix(way.name, "another multiplier") || strings.HasPrefix(way.name, "another reason"):
				kept[way.name]++
			case err == nil:
				t.Errorf("%d: %s: %s", seed, way.name, form)
			case !strings.Contains(err.Error(), "decision.proof"):
				t.Errorf("%d: %s: %v", seed, way.name, err)
			}
		}
	}
	for _, way := range certificateSpoils {
		t.Logf("%s: %d, shows the same: %d", way.name, applied[way.name], kept[way.name])
		if applied[way.name] < 5 || strings.HasSuffix(way.name, "of a row") && kept[way.name] > applied[way.name]/20 {
			t.Errorf("%s: applies %d times, shows the same %d times", way.name, applied[way.name], kept[way.name])
		}
	}
}

// A worse answer with a bound that makes it look proven is refused: the checker finds the branch
// in which better sets are left.
func TestCertificateOfAWorseAnswer(t *testing.T) {
	worse := 0
	for seed := range 780 {
		q := certified().Example(seed)
		q.config.Exact.IgnoreCaps = true
		st, r := q.record.State, *q.record.Request
		s := snapshotOf(t, st)
		best := decideWith(t, q.config, s, r)
		greedy := q.config
		greedy.Search, greedy.Exact, greedy.Fair.RecheckShares = preemption.Greedy, preemption.ExactSearch{}, q.config.Sharing == preemption.Fair && !q.config.Fair.Stable
		d := decideWith(t, greedy, s, r)
		if len(d.Victims) == 0 || best.Proof == nil || best.Proof.Certificate == nil || len(best.Victims) == 0 {
			continue
		}
		value := int64(len(d.Victims))
		if q.config.Cost != nil && !q.config.Exact.FewestFirst {
			value = d.Lost
		}
		if value <= best.Proof.Value {
			continue
		}
		worse++
		d.Proof = &preemption.Proof{Optimal: true, Value: value, LowerBound: value, Certificate: best.Proof.Certificate}
		d.Proof.Certificate.Bound = value
		if err := verify.Decision(st, r, q.config, d); err == nil {
			t.Errorf("%d: %d in place of %d", seed, value, best.Proof.Value)
		}
	}
	if worse < 20 {
		t.Errorf("%d answers are worse", worse)
	}
}

// Candidates that only an amount of zero tells apart are of one kind: the tree names one of them, and
// the branch without it is without all of them.
func TestCertificateOfAmountsOfZero(t *testing.T) {
	amounts := func(list ...int64) (out []quota.Amount) {
		for i, amount := range list {
			out = append(out, quota.Amount{Flavor: "h100", Resource: string(rune('x' + i)), Amount: amount})
		}
		return out
	}
	st := preemption.State{Queues: []queue.Queue{{
		Name: "q", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		Quotas: []quota.Quota{{Flavor: "h100", Resource: "x", Nominal: 6}, {Flavor: "h100", Resource: "y", Nominal: 4}},
	}}}
	for i, requests := range [][]quota.Amount{amounts(2, 2), amounts(0, 2, 0), amounts(2, 0, 0), amounts(2, 0)} {
		w := job(string(rune('a'+i)), "q", 0, 1, started(i))
		w.PodSets[0].Requests = requests
		st.Admitted = append(st.Admitted, w)
	}
	r := pending("q", 3, 1)
	r.Workload.PodSets[0].Requests = amounts(3, 3)
	config := preemption.Config{Search: preemption.Exact, Exact: preemption.ExactSearch{Certificate: true, IgnoreCaps: true}}
	d := decideWith(t, config, snapshotOf(t, st), r)
	if len(d.Proof.Certificate.Attempts[0].Tree) == 0 {
		t.Error("the certificate has no tree")
	}
	if err := verify.Decision(st, r, config, d); err != nil {
		t.Error(err)
	}
}
