package judge_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/kueue/judge"
)

// at is the time of the questions about testdata/found.
var at = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// What Kueue answers about inputs with one deciding field each, as its code was read before it was run.
func TestAnswersAreKueues(t *testing.T) {
	const churn, sweep, tokenizer = "analytics/job-churn-forecast-5b77a", "language/job-reward-model-sweep-c2e19", "language/job-tokenizer-ablation-77ac1"
	const forecast, detector = "analytics/job-demand-forecast-train-e61b4", "vision/job-detector-evaluation-03fd8"
	const usage = "\n---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nadmissionFairSharing: {usageHalfLifeTime: 24h, usageSamplingInterval: 5m}\n"
	for _, c := range []struct {
		file, workload string
		verdict        judge.Verdict
		says           string // victims, flavors, or a part of the message
		more           func([]byte) []byte
	}{
		{file: "01-cq-check-missing-queue-of-victims", workload: forecast, verdict: judge.Preempts, says: churn},
		{file: "02-admission-scope-orders-victims", workload: forecast, verdict: judge.Unknown, says: "admissionFairSharing"},
		{file: "02-admission-scope-orders-victims", workload: forecast, verdict: judge.Preempts, says: sweep, more: with(usage)},
		{file: "03-ac-without-condition", workload: detector, verdict: judge.Held, says: "inactive AdmissionCheck"},
		{file: "04-ac-other-name", workload: detector, verdict: judge.Held, says: "missing AdmissionCheck"},
		{file: "05-ac-multikueue-with-provisioning", workload: detector, verdict: judge.Held, says: "MultiKueue"},
		{file: "06-topology-missing-queue-of-victims", workload: forecast, verdict: judge.Preempts, says: churn},
		{file: "07-flavor-names-missing-topology", workload: detector, verdict: judge.Held, says: "no Topology"},
		{file: "08-weight-of-local-queue-orders-victims", workload: forecast, verdict: judge.Unknown, says: "admissionFairSharing"},
		{file: "08-weight-of-local-queue-orders-victims", workload: forecast, verdict: judge.Preempts, says: sweep, more: with(usage)},
		{file: "08-weight-of-local-queue-orders-victims", workload: forecast, verdict: judge.Preempts, says: tokenizer, more: func(b []byte) []byte {
			return append(bytes.Replace(b, []byte(`"weight":"40"`), []byte(`"weight":"1"`), 1), usage...)
		}},
		{file: "09-requests-over-limits", workload: detector, verdict: judge.Held, says: "must not exceed its limits"},
		{file: "10-preemption-gate-by-default", workload: forecast, verdict: judge.Preempts, says: sweep},
		{file: "11-annotation-that-kueue-does-not-have", workload: forecast, verdict: judge.Preempts, says: sweep},
		{file: "12-requests-over-limits-pod-level", workload: detector, verdict: judge.Held, says: "must not exceed its limits"},
		{file: "13-priority-boost-of-pending-with-gate-off", workload: detector, verdict: judge.No, says: "insufficient unused quota"},
		{file: "14-gate-reclaimable-pods-off", workload: forecast, verdict: judge.Preempts, says: sweep},
		{file: "15-gate-partial-admission-off", workload: detector, verdict: judge.No, says: "insufficient unused quota"},
		{file: "16-gate-flavor-fungibility-off", workload: forecast, verdict: judge.Fits, says: "a100-pcie-40gb"},
		{file: "17-requeuing-timestamp-creation", workload: detector, verdict: judge.Fits},
		{file: "F4-evicted-four-days-ago", workload: "a/urgent", verdict: judge.Waits, says: "a/slice"},
		{file: "F5-partial-admission-not-named", workload: "a/var", verdict: judge.Preempts, says: "a/low"},
		{file: "F8-explain-offers-nothing", workload: "t1/job1", verdict: judge.No, says: "insufficient unused quota"},
		{file: "h83-api", workload: "team-a/want", verdict: judge.Unknown, says: "has no apiVersion"},
		{file: "p28-dra", workload: "team-a/want", verdict: judge.Held, says: "ResourceClaimTemplate"},
		{file: "p32-admissiongated", workload: "team-a/want", verdict: judge.Held, says: "Admission is gated by: example.com/gate"},
		{file: "s1-strictfifo", workload: "team-a/want", verdict: judge.Held, says: "team-a/big stands before it"},
		{file: "s1-strictfifo", workload: "team-a/big", verdict: judge.No, says: "insufficient quota"},
		{file: "s3-two", workload: "team-a/want", verdict: judge.Fits},
		{file: "s3-two", workload: "team-a/big", verdict: judge.Fits},
		{file: "s5-retain", workload: "team-a/want", verdict: judge.No, says: "credits"},
		{file: "w1-blockadmission", workload: "team-a/want", verdict: judge.Unknown, says: `unknown field "waitForPodsReady.enable"`},
		{file: "w1-blockadmission", workload: "team-a/want", verdict: judge.Held, says: "blockAdmission", more: func(b []byte) []byte {
			return bytes.Replace(b, []byte(`enable: true\n  `), nil, 1)
		}},
	} {
		text, err := os.ReadFile(filepath.Join("..", "testdata", "found", c.file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if c.more != nil {
			text = c.more(text)
		}
		a, err := judge.Ask(t.Context(), text, c.workload, at)
		if said := fmt.Sprint(a.Victims, a.Leaving, a.Flavors, a.Message); err != nil || a.Verdict != c.verdict || a.Workload != c.workload || !strings.Contains(said, c.says) {
			t.Errorf("%s, %s: %v, %+v; want %s, %q", c.file, c.workload, err, a, c.verdict, c.says)
		}
	}
}

func with(document string) func([]byte) []byte {
	return func(b []byte) []byte { return append(b, document...) }
}
