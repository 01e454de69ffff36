package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// moment returns an instant, one nanosecond after the one before.
func moment(n int) time.Time { return time.Date(2026, 11, 21, 12, 0, 0, n, time.UTC) }

// "Keeps, sets and clears": a trigger that holds keeps its first time, a new one begins now, one
// that does not hold is gone.
func TestObserve(t *testing.T) {
	before := []rules.Observation{{Trigger: rules.InsufficientQuota, Since: moment(1)}, {Trigger: rules.Always, Since: moment(2)}}
	got := rules.Observe(before, []rules.Trigger{rules.QuotaFeasibleAndInsufficientTopology, rules.Always}, moment(3))
	want := []rules.Observation{{Trigger: rules.Always, Since: moment(2)}, {Trigger: rules.QuotaFeasibleAndInsufficientTopology, Since: moment(3)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if rules.Observe(before, nil, moment(3)) != nil {
		t.Error("what does not hold is kept")
	}
	err := rules.ValidateObservations("list", append(before, before[0], rules.Observation{Trigger: "No", Since: time.Time{}}))
	far := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) // its nanoseconds are those of another time
	if err := rules.ValidateObservations("list", []rules.Observation{{Trigger: rules.Always, Since: far}}); err == nil ||
		err.Error() != "list[0].since: 9999-01-01 00:00:00 +0000 UTC is not within the years 1678 to 2262" {
		t.Error(err)
	}
	if err == nil || !strings.HasPrefix(err.Error(), `list[2].trigger: "InsufficientQuota" has an entry already; list[3].trigger: "No" is none of`) || !strings.HasSuffix(err.Error(), "list[3].since: is not set") {
		t.Error(err)
	}
}

func TestValidateTimes(t *testing.T) {
	r := rule("r", rules.Always, rules.CandidateSelector{Scope: rules.OtherClusterQueue, Time: rules.Times{
		MinExecutionDuration: quota.Some(2 * time.Second), MaxExecutionDuration: quota.Some(time.Second), ExecutionTimeRelation: "Less",
		MinTimeFromCreationDuration: quota.Some(-time.Second), MaxTimeFromCreationDuration: quota.Some(-time.Second), TimeFromCreationRelation: "More",
	}, Priority: rules.Priority{MinValue: quota.Some[int64](2), MaxValue: quota.Some[int64](1)}})
	r.ActivationPolicy.MinTriggerRequiredDuration = quota.Some(-time.Second)
	err := rules.Validate([]rules.Config{{Name: "c", Rules: []rules.Rule{r}}})
	for _, want := range []string{
		"activationPolicy.minTriggerRequiredDuration: -1s is negative",
		"priority.minValue: 2 is more than the maxValue 1",
		"time.minExecutionDuration: 2s is more than the maxExecutionDuration 1s",
		"time.minTimeFromCreationDuration: -1s is negative", "time.maxTimeFromCreationDuration: -1s is negative",
		`time.executionTimeRelation: "Less" is none of`, `time.timeFromCreationRelation: "More" is none of`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestValidateOrdering(t *testing.T) {
	err := rules.Validate([]rules.Config{{Name: "c", Ordering: []rules.Ordering{{Key: rules.ByCost, Direction: "Up"}, {Key: "Age"}, {Key: rules.ByCost}}}})
	const want = `configs[0].ordering[0].direction: "Up" is none of ["Ascending" "Descending"]; configs[0].ordering[1].key: "Age" is none of ["Priority" "AdmissionTimestamp" "IsOtherCQ" "IsOtherCohort" "LocalQueueDRS" "ClusterQueueDRS" "IsDRSLessThanInitialShare" "IsDRSLessThanOrEqualToFinalShare" "Cost"]; configs[0].ordering[2].key: "Cost" is there already`
	if err == nil || err.Error() != want {
		t.Error(err)
	}
}

func rule(name string, trigger rules.Trigger, selectors ...rules.CandidateSelector) rules.Rule {
	return rules.Rule{Name: name, ActivationPolicy: rules.ActivationPolicy{Trigger: trigger}, CandidateSelectors: selectors}
}
