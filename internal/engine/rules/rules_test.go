package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	engine "github.com/cedesched/cede/internal/engine/rules"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var (
	gpu  = quota.FlavorResource{Flavor: "h100", Resource: "gpu"}
	noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

// runs is a workload "queue/name" of so many GPUs, with a label "team" if it is not empty.
func runs(id string, priority, gpus int64, minutes int, team string) workload.Workload {
	name, _, _ := strings.Cut(id, "/")
	at := noon.Add(-time.Duration(minutes) * time.Minute)
	w := workload.Workload{ID: id, UID: id, Queue: name, Priority: priority, Created: at, Queued: at, ReservedAt: at, AdmittedAt: at,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: gpu.Flavor, Resource: gpu.Resource, Amount: gpus}}}}}
	if team != "" {
		w.Labels = map[string]string{"team": team}
	}
	return w
}

func rule(trigger rules.Trigger, list ...rules.CandidateSelector) rules.Rule {
	return rules.Rule{Name: string(trigger), ActivationPolicy: rules.ActivationPolicy{Trigger: trigger}, CandidateSelectors: list}
}

// take returns the victims of a request of priority 5 in queue "asks", which has 4 GPUs and a policy for lower priorities. So many has
// queue "lent", and none of either are those of the cohort.
func take(t *testing.T, ofCohort []quota.Quota, running []workload.Workload, config rules.Config, gpus int64) (ids []string) {
	t.Helper()
	cohorts := []queue.Cohort{{Name: "all", Quotas: ofCohort}}
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}
	queues := []queue.Queue{{Name: "asks", Cohort: "all", Rules: "r", Preemption: policy}, {Name: "lent", Cohort: "all"}}
	for i := range queues {
		queues[i].Quotas = []quota.Quota{{Flavor: gpu.Flavor, Resource: gpu.Resource, Nominal: 4}}
	}
	all, err := cluster.New(cohorts, queues, running)
	if err != nil {
		t.Fatal(err)
	}
	config.Name = "r"
	e, err := selectors.New(cohorts, queues, []rules.Config{config})
	if err != nil {
		t.Fatal(err)
	}
	node, _ := all.QueueNode("asks")
	r := &right.Request{Queue: node, Priority: 5, Queued: noon.UnixNano(), Now: noon.UnixNano(), Columns: []int{all.Columns.Number(gpu)}, Amounts: []int64{gpus},
		Needs: []bool{false}, FindNeeds: true, Retry: right.Retry{Skip: true}, Rules: right.RuleOptions{OfShares: e.ReadsShares("asks")}}
	var taker engine.Taker
	now := noon.UnixNano()
	taker.Begin(e, &workload.Workload{ID: "preemptor", Queue: "asks", Priority: 5}, now, [...]int64{now, now, now})
	var s decide.Searcher
	for _, v := range s.Search(all, r, &taker, 4).Victims {
		ids = append(ids, v.Workload.Facts.ID)
		if ofPolicy := v.Workload.Facts.ID == "asks/1"; v.ByRules == ofPolicy {
			t.Errorf("%s yields by rules: %t", v.Workload.Facts.ID, v.ByRules)
		}
	}
	return ids
}

// KEP-13396: the policies come first, then the rules tier by tier; who is not needed is put back.
func TestTake(t *testing.T) {
	of := func(value string) *workload.LabelSelector {
		return &workload.LabelSelector{MatchLabels: map[string]string{"team": value}}
	}
	anybody := rules.CandidateSelector{Scope: rules.AnyClusterQueue}
	within := []workload.Workload{runs("asks/1", 9, 4, 60, ""), runs("lent/1", 9, 2, 30, "red"), runs("lent/2", 9, 2, 20, "blue")}
	borrows := []workload.Workload{runs("asks/1", 1, 2, 60, ""), runs("lent/1", 9, 2, 30, "red"), runs("lent/2", 9, 2, 20, "blue"), runs("lent/3", 9, 2, 10, "red")}
	high := append([]workload.Workload{runs("asks/1", 9, 2, 60, "")}, borrows[1:]...)
	for _, c := range []struct {
		about    string
		running  []workload.Workload
		rules    []rules.Rule
		ordering []rules.Ordering
		asks     int64
		want     string
	}{
		{about: "no rule", running: within, asks: 2},
		{about: "within the nominal quota of others, too", running: within, rules: []rules.Rule{rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue})}, asks: 2, want: "lent/2"},
		{about: "of a team", running: within, rules: []rules.Rule{rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue, LabelSelector: of("red")})}, asks: 2, want: "lent/1"},
		{about: "of a team that has too little", running: within, rules: []rules.Rule{rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue, LabelSelector: of("red")})}, asks: 4},
		{about: "only who borrows: nobody", running: within, rules: []rules.Rule{rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue, Quota: rules.Borrowing})}, asks: 2},
		{about: "only who borrows, while it borrows", running: high, rules: []rules.Rule{rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue, Quota: rules.Borrowing})}, asks: 4},
		{about: "only who borrows, as much as it borrows", running: high, rules: []rules.Rule{rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue, Quota: rules.Borrowing})}, asks: 2, want: "lent/3"},
		{about: "the policies come first", running: borrows, rules: []rules.Rule{rule(rules.Always, anybody)}, asks: 4, want: "asks/1 lent/3"},
		{about: "the oldest first", running: high, rules: []rules.Rule{rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue})},
			ordering: []rules.Ordering{{Key: rules.ByAdmission, Direction: rules.Ascending}}, asks: 2, want: "lent/1"},
		{about: "an unknown key is none: as today, the latest first", running: within, rules: []rules.Rule{rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue})},
			ordering: []rules.Ordering{{Key: "Size"}}, asks: 2, want: "lent/2"},
		{about: "the second tier, if the first is not enough", running: within, rules: []rules.Rule{
			rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue, LabelSelector: of("red")}),
			rule(rules.InsufficientQuota, rules.CandidateSelector{Scope: rules.OtherClusterQueue, LabelSelector: of("blue")})}, asks: 4, want: "lent/1 lent/2"},
		{about: "the second tier is not looked at", running: within, rules: []rules.Rule{
			rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue, LabelSelector: of("red")}),
			rule(rules.InsufficientQuota, rules.CandidateSelector{Scope: rules.OtherClusterQueue, LabelSelector: of("blue")})}, asks: 2, want: "lent/1"},
		{about: "who ran for half an hour", running: within, rules: []rules.Rule{rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue, Time: rules.Times{MinExecutionDuration: quota.Some(25 * time.Minute)}})}, asks: 2, want: "lent/1"},
		{about: "more than there is", running: within, rules: []rules.Rule{rule(rules.Always, anybody)}, asks: 9},
	} {
		t.Run(c.about, func(t *testing.T) {
			got := take(t, nil, c.running, rules.Config{Rules: c.rules, Ordering: c.ordering}, c.asks)
			if strings.Join(got, " ") != c.want {
				t.Errorf("%v, want %q", got, c.want)
			}
		})
	}
}

// A ruling of ours on KEP-13396, quota constraints: a victim that only a constraint accepted "is still justified in the final set", so
// a victim of the own queue stays one while the share without it would be too large.
func TestJustified(t *testing.T) {
	constrained := func(by rules.QuotaConstraint) rules.Config {
		return rules.Config{Rules: []rules.Rule{rule(rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue, Quota: by})}}
	}
	shared := []quota.Quota{{Flavor: gpu.Flavor, Resource: gpu.Resource, Nominal: 2}}
	two := []workload.Workload{runs("asks/1", 1, 1, 60, ""), runs("asks/2", 9, 3, 60, ""), runs("lent/1", 9, 4, 30, ""), runs("lent/2", 9, 2, 20, "")}
	three := []workload.Workload{runs("asks/1", 1, 1, 60, ""), runs("asks/2", 9, 2, 60, ""), runs("lent/1", 9, 5, 30, ""), runs("lent/2", 9, 2, 20, "")}
	for _, c := range []struct {
		about   string
		running []workload.Workload
		config  rules.Config
		want    string
	}{
		{"2 borrowed with the own one, and 2 there", two, constrained(rules.DRSLessThanInitialShare), "asks/1 lent/2"},
		{"1 borrowed with the own one, and 3 there", three, constrained(rules.DRSLessThanInitialShare), "lent/2"},
		{"who borrows yields whatever the share is", two, constrained(rules.Borrowing), "lent/2"},
		{"no constraint", two, constrained(""), "lent/2"},
	} {
		t.Run(c.about, func(t *testing.T) {
			if got := strings.Join(take(t, shared, c.running, c.config, 2), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
