package selectors_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// twin reads a configuration each time anew, in the words of KEP-13396.
type twin struct {
	cohorts []queue.Cohort
	queues  []queue.Queue
	config  rules.Config
}

func (t twin) queue(name string) queue.Queue {
	return t.queues[slices.IndexFunc(t.queues, func(q queue.Queue) bool { return q.Name == name })]
}

// above lists the cohorts above a queue, the root last.
func (t twin) above(name string) (list []string) {
	for at := t.queue(name).Cohort; at != ""; {
		list = append(list, at)
		at = t.cohorts[slices.IndexFunc(t.cohorts, func(c queue.Cohort) bool { return c.Name == at })].Parent
	}
	return list
}

// selects lists the selectors that accept a candidate.
func (t twin) selects(trigger rules.Trigger, m selectors.Moment, preemptor, candidate workload.Workload) (list []rules.Match) {
	if t.queue(preemptor.Queue).Rules != t.config.Name {
		return nil
	}
	for i, r := range t.config.Rules {
		if r.ActivationPolicy.Trigger != trigger || !has(r.PreemptorSelector, preemptor.Labels) || !named(r.PreemptorPriorityClass, preemptor.PriorityClass) {
			continue
		}
		held := time.Duration(0)
		if !m.Since.IsZero() {
			held = m.Now.Sub(m.Since)
		}
		if wait := r.ActivationPolicy.MinTriggerRequiredDuration.Or(0); wait > 0 && held <= wait {
			continue
		}
		for j, s := range r.CandidateSelectors {
			if t.accepts(s, preemptor, candidate) && inTime(s.Time, m.Now, preemptor, candidate) && (s.Quota == "" || m.Quota.Meets(s.Quota)) {
				list = append(list, rules.Match{Rule: i, Selector: j})
			}
		}
	}
	return list
}

// inTime reads the bounds of times, each after the other.
func inTime(s rules.Times, now time.Time, preemptor, candidate workload.Workload) bool {
	for at := range 2 {
		from, of := []time.Time{candidate.ReservedAt, candidate.Created}[at], []time.Time{preemptor.ReservedAt, preemptor.Created}[at]
		least := []quota.OptionalDuration{s.MinExecutionDuration, s.MinTimeFromCreationDuration}[at]
		most := []quota.OptionalDuration{s.MaxExecutionDuration, s.MaxTimeFromCreationDuration}[at]
		c := []rules.Comparison{s.ExecutionTimeRelation, s.TimeFromCreationRelation}[at]
		if from.IsZero() {
			from = now
		}
		if of.IsZero() {
			of = now
		}
		d, bounded := least.Get()
		if bounded && !now.After(from.Add(d)) {
			return false
		}
		d, bounded = most.Get()
		if bounded && now.After(from.Add(d)) {
			return false
		}
		if c != "" && !related(c, int64(now.Sub(from)), int64(now.Sub(of))) {
			return false
		}
	}
	return true
}

func has(s *workload.LabelSelector, labels map[string]string) bool {
	return s == nil || s.Matches(labels)
}

func named(s rules.ClassSelector, class string) bool {
	for _, name := range s.NotMatchNames {
		if class != "" && name == class {
			return false
		}
	}
	for _, name := range s.MatchNames {
		if class != "" && name == class {
			return true
		}
	}
	return len(s.MatchNames) == 0
}

func (t twin) accepts(s rules.CandidateSelector, preemptor, candidate workload.Workload) bool {
	own, theirs := t.above(preemptor.Queue), t.above(candidate.Queue)
	in := map[rules.Scope]bool{
		rules.WithinLocalQueue:   preemptor.Queue == candidate.Queue && preemptor.LocalQueue == candidate.LocalQueue && preemptor.LocalQueue != "",
		rules.WithinClusterQueue: preemptor.Queue == candidate.Queue,
		rules.WithinParentCohort: preemptor.Queue == candidate.Queue || len(own) > 0 && len(theirs) > 0 && own[0] == theirs[0],
		rules.WithinCohortTree:   preemptor.Queue == candidate.Queue || len(own) > 0 && len(theirs) > 0 && own[len(own)-1] == theirs[len(theirs)-1],
		rules.AnyClusterQueue:    true,

		rules.OtherInParentCohort: preemptor.Queue != candidate.Queue && len(own) > 0 && len(theirs) > 0 && own[0] == theirs[0],
		rules.OtherInCohortTree:   preemptor.Queue != candidate.Queue && len(own) > 0 && len(theirs) > 0 && own[len(own)-1] == theirs[len(theirs)-1],
		rules.OtherClusterQueue:   preemptor.Queue != candidate.Queue,
	}
	ok := in[s.Scope] && has(s.ClusterQueueSelector, t.queue(candidate.Queue).Labels) && has(s.LabelSelector, candidate.Labels) &&
		named(s.Priority.ClassSelector, candidate.PriorityClass)
	switch s.Priority.Mode {
	case rules.Base:
		ok = ok && related(s.Priority.Comparison, candidate.Priority, preemptor.Priority)
	case rules.Boosted:
		ok = ok && related(s.Priority.Comparison, candidate.Priority+candidate.PriorityBoost, preemptor.Priority+preemptor.PriorityBoost)
	}
	of := candidate.Priority + candidate.PriorityBoost
	if s.Priority.Mode == rules.Base {
		of = candidate.Priority
	}
	if least, bounded := s.Priority.MinValue.Get(); bounded && of < least {
		ok = false
	}
	if most, bounded := s.Priority.MaxValue.Get(); bounded && of > most {
		ok = false
	}
	for _, n := range s.NumericLabels {
		value, readable := valueOf(candidate, n)
		with, comparable := valueOf(preemptor, n)
		least, bounded := n.MinValue.Get()
		most, limited := n.MaxValue.Get()
		ok = ok && readable && (!bounded || least <= value) && (!limited || value <= most)
		ok = ok && (n.Comparison == "" || comparable && related(n.Comparison, value, with))
	}
	return ok
}

func valueOf(w workload.Workload, n rules.NumericLabel) (int64, bool) {
	value, err := strconv.Atoi(w.Labels[n.Key])
	if err != nil || value > 1<<31-1 || value < -1<<31 {
		return n.Fallback.Get()
	}
	return int64(value), true
}

func related(c rules.Comparison, candidate, preemptor int64) bool {
	switch {
	case candidate < preemptor:
		return c == rules.LessThan || c == rules.LessThanOrEqual
	case candidate > preemptor:
		return c == rules.GreaterThan || c == rules.GreaterThanOrEqual
	}
	return c == rules.LessThanOrEqual || c == rules.GreaterThanOrEqual
}

// one draws true once in so many draws.
func one(t *rapid.T, in int, what string) bool { return rapid.IntRange(1, in).Draw(t, what) == in }

func pick[T any](t *rapid.T, what string, from ...T) T { return rapid.SampledFrom(from).Draw(t, what) }

var values = []string{"", "0", "1", "2", "-1", "007", "2147483647", "2147483648", "x"}

func labels(t *rapid.T) map[string]string {
	l := map[string]string{}
	for _, key := range []string{"size", "team"} {
		if rapid.Bool().Draw(t, "has "+key) {
			l[key] = pick(t, key, values...)
		}
	}
	return l
}

func selector(t *rapid.T) *workload.LabelSelector {
	s := &workload.LabelSelector{}
	switch pick(t, "selector", "nil", "nil", "nil", "nil", "empty", "label", "expression") {
	case "nil":
		return nil
	case "label":
		s.MatchLabels = map[string]string{pick(t, "key", "size", "team"): pick(t, "value", values...)}
	case "expression":
		r := workload.LabelRequirement{Key: pick(t, "key", "size", "team"), Operator: pick(t, "operator", workload.In, workload.NotIn, workload.Exists, workload.DoesNotExist)}
		if r.Operator <= workload.NotIn {
			r.Values = rapid.SliceOfN(rapid.SampledFrom(values), 1, 4).Draw(t, "values")
		}
		s.MatchExpressions = append(s.MatchExpressions, r)
	}
	return s
}

func classes(t *rapid.T) rules.ClassSelector {
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"low", "high", "mid"}), 0, 2)
	return rules.ClassSelector{MatchNames: names.Draw(t, "match names"), NotMatchNames: names.Draw(t, "not match names")}
}

var comparisons = []rules.Comparison{rules.LessThan, rules.LessThanOrEqual, rules.GreaterThan, rules.GreaterThanOrEqual}

func maybe(t *rapid.T, what string) quota.OptionalInt64 {
	if rapid.Bool().Draw(t, what+" is set") {
		return quota.Some(rapid.Int64Range(-2, 2).Draw(t, what))
	}
	return quota.OptionalInt64{}
}

// candidateSelector draws a valid selector.
func candidateSelector(t *rapid.T) rules.CandidateSelector {
	s := rules.CandidateSelector{
		Scope:                pick(t, "scope", append([]rules.Scope{rules.AnyClusterQueue, rules.WithinCohortTree}, rules.Scopes()...)...),
		ClusterQueueSelector: selector(t), LabelSelector: selector(t),
	}
	for range pick(t, "numeric labels", 0, 0, 0, 0, 1, 2) {
		n := rules.NumericLabel{Key: pick(t, "key", "size", "team"), Fallback: maybe(t, "fallback"), MinValue: maybe(t, "min")}
		n.Comparison = pick(t, "comparison", append([]rules.Comparison{""}, comparisons...)...)
		if n.MaxValue = maybe(t, "max"); n.MinValue.Or(-9) > n.MaxValue.Or(9) {
			n.MinValue = quota.OptionalInt64{}
		}
		s.NumericLabels = append(s.NumericLabels, n)
	}
	if one(t, 4, "priority") {
		s.Priority = rules.Priority{Mode: pick(t, "mode", rules.Base, rules.Boosted), Comparison: pick(t, "comparison", comparisons...)}
	}
	if one(t, 4, "times") {
		s.Time = drawnTimes(t)
	}
	if s.Scope != rules.WithinLocalQueue && s.Scope != rules.WithinClusterQueue && one(t, 4, "constrained") {
		s.Quota = pick(t, "quota", rules.QuotaConstraints()...)
	}
	if one(t, 4, "bounds") {
		s.Priority.MinValue, s.Priority.MaxValue = quota.Some(rapid.Int64Range(-1, 0).Draw(t, "least")), quota.Some(rapid.Int64Range(0, 1).Draw(t, "most"))
	}
	if one(t, 4, "classes") {
		s.Priority.ClassSelector = classes(t)
	}
	return s
}

func draw(t *rapid.T) twin {
	w := twin{cohorts: []queue.Cohort{{Name: "root"}, {Name: "child", Parent: "root"}, {Name: "other", Parent: "root"}, {Name: "tree"}}, config: rules.Config{Name: "config"}}
	for _, name := range []string{"a", "b", "c", "d"} {
		w.queues = append(w.queues, queue.Queue{Name: name, Labels: labels(t), Rules: "config", Cohort: pick(t, "cohort", "", "root", "child", "child", "other", "tree")})
	}
	w.queues[3].Rules = pick(t, "rules of the last queue", "config", "", "unknown")
	for i := range pick(t, "rules", 3, 3, 3, 2, 1, 0) {
		r := rules.Rule{Name: "r" + strconv.Itoa(i), ActivationPolicy: rules.ActivationPolicy{Trigger: pick(t, "trigger", rules.Triggers()...)}}
		if one(t, 4, "waits") {
			r.ActivationPolicy.MinTriggerRequiredDuration = quota.Some(time.Duration(rapid.IntRange(0, 2).Draw(t, "wait")))
		}
		if one(t, 4, "serves some") {
			r.PreemptorSelector, r.PreemptorPriorityClass = selector(t), classes(t)
		}
		for range pick(t, "selectors", 3, 3, 3, 2, 1, 0) {
			r.CandidateSelectors = append(r.CandidateSelectors, candidateSelector(t))
		}
		w.config.Rules = append(w.config.Rules, r)
	}
	return w
}

// moment returns an instant, one nanosecond after the one before.
func moment(n int) time.Time { return time.Date(2026, 11, 21, 12, 0, 0, n, time.UTC) }

// drawnTimes draws bounds of some nanoseconds.
func drawnTimes(t *rapid.T) (s rules.Times) {
	d := func(least int64) quota.OptionalDuration {
		if n := rapid.Int64Range(-1, 2).Draw(t, "duration"); n >= 0 {
			return quota.Some(time.Duration(least + n))
		}
		return quota.OptionalDuration{}
	}
	s.MinExecutionDuration, s.MinTimeFromCreationDuration = d(0), d(0)
	s.MaxExecutionDuration, s.MaxTimeFromCreationDuration = d(2), d(2)
	of := append([]rules.Comparison{"", ""}, comparisons...)
	s.ExecutionTimeRelation, s.TimeFromCreationRelation = pick(t, "relation", of...), pick(t, "relation", of...)
	return s
}

func job(t *rapid.T, id string) workload.Workload {
	var times [2]time.Time
	for i := range times {
		if n := rapid.IntRange(-1, 3).Draw(t, "time"); n >= 0 {
			times[i] = moment(n)
		}
	}
	return workload.Workload{
		Created: times[0], ReservedAt: times[1],
		ID: id, Queue: pick(t, "queue", "a", "b", "c", "d"), LocalQueue: pick(t, "local queue", "", "x", "y"), Labels: labels(t),
		PriorityClass: pick(t, "class", "", "low", "high"), Priority: rapid.Int64Range(-1, 1).Draw(t, "priority"), PriorityBoost: rapid.Int64Range(-1, 1).Draw(t, "boost"),
	}
}

// The compiled rules accept whom a reading of the configuration word by word accepts; what is
// changed afterwards in the configuration changes nothing.
func TestSelectAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { agreesWithTwin(t) })
}

// The law means something: of a hundred states, always the same, some ten percent of the
// candidates are accepted.
func TestTwinAcceptsOften(t *testing.T) {
	asked := rapid.Custom(agreesWithTwin)
	var sum [2]int
	for seed := range 100 {
		n := asked.Example(seed)
		sum[0], sum[1] = sum[0]+n[0], sum[1]+n[1]
	}
	if accepted, refused := sum[0], sum[1]; 12*accepted < accepted+refused || refused < accepted {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}

// agreesWithTwin draws rules and candidates, and returns how many were accepted and refused.
func agreesWithTwin(t *rapid.T) (counts [2]int) {
	w := draw(t)
	if err := rules.Validate([]rules.Config{w.config}); err != nil {
		t.Fatal(err)
	}
	given := w.config.Clone()
	e, err := selectors.New(w.cohorts, w.queues, []rules.Config{given})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w.config, given); diff != "" {
		t.Fatal(diff)
	}
	for i := range given.Rules {
		given.Rules[i] = rules.Rule{}
	}
	preemptor := job(t, "p")
	for range 4 {
		candidate := job(t, "c")
		for _, trigger := range rules.Triggers() {
			tier, err := e.Tier(trigger, &preemptor)
			if err != nil {
				t.Fatal(err)
			}
			m := selectors.Moment{Now: moment(rapid.IntRange(0, 3).Draw(t, "now"))}
			if rapid.Bool().Draw(t, "seen") {
				m.Since = moment(rapid.IntRange(0, 3).Draw(t, "since"))
			}
			m.Quota = pick(t, "holding", 0, selectors.AllQuota(), selectors.QuotaSet(0).With(rules.DRSLessThanInitialShare))
			reach, own := tier.Reaches(), candidate.Queue == preemptor.Queue
			want, got := w.selects(trigger, m, preemptor, candidate), tier.Select(&candidate, m)
			if tier.Accepts(&candidate, m) != (len(got) > 0) || len(got) > 0 && (!tier.AcceptsSometime(&candidate) || !own && !reach.Others) {
				t.Fatalf("%v: %v, but the tier says otherwise elsewhere", trigger, got)
			}
			if !slices.Equal(want, got) {
				t.Fatalf("%v: %v, want %v", trigger, got, want)
			}
			for _, of := range got {
				if c := tier.Constraint(of); c != w.config.Rules[of.Rule].CandidateSelectors[of.Selector].Quota {
					t.Fatalf("%v: the constraint of %v is %q", trigger, of, c)
				}
			}
			in, free := tier.MayAcceptIn(candidate.Queue)
			if len(got) > 0 && !in {
				t.Fatalf("%v: %v, but nobody of the queue may be accepted", trigger, got)
			}
			if m.Quota = 0; tier.Accepts(&candidate, m) && !(free && (own && reach.Own || !own && reach.Anywhere)) {
				t.Fatalf("%v: %v, but %+v", trigger, got, reach)
			}
			if len(got) > 0 && !tier.Serves() {
				t.Fatal("accepted, though no selector serves the preemptor")
			}
			changesAreTold(t, tier, &candidate, m)
			counts[min(1, len(want))]++
		}
	}
	return [2]int{counts[1], counts[0]}
}

// changesAreTold checks that time alone changes what is accepted only at instants that Changes gives.
func changesAreTold(t *rapid.T, tier *selectors.Tier, candidate *workload.Workload, m selectors.Moment) {
	told := map[time.Time]bool{}
	tier.Changes(candidate, func(at time.Time) { told[at] = true })
	m.Since = moment(-1000)
	for n := range 12 {
		m.Now = moment(n)
		before := tier.Select(candidate, m)
		m.Now = moment(n + 1)
		if after := tier.Select(candidate, m); !slices.Equal(before, after) && !told[m.Now] {
			t.Fatalf("at %v %v follows %v, but the changes are %v", m.Now, after, before, told)
		}
	}
}
