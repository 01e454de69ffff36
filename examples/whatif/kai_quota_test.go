package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// Another quota, limit or weight of a queue of KAI, and what becomes of the answer about a group.
func TestQuotaOfKAI(t *testing.T) {
	for _, c := range []struct {
		situation, change, group string
		before, after            string
	}{
		{"15 no limit is none", "a:gpu:limit=none", "train", "no: ", "fits now"},
		{"15 no limit is none", "a:gpu:limit=1", "train", "no: ", "fits now"},
		{"1 quick start", "default-queue:gpu=1", "build", "no: ", ""}, // nor has it quota of CPU
		{"3 starved", "dept:gpu:limit=8", "gang", "preempts 2", ""},
		{"3 starved", "b:gpu=8", "gang", "preempts 2", "no: "},
		{"4 weights, as one gang of six", "b:gpu:overQuotaWeight=3", "six", "preempts 6", "no: over its fair share"},
		{"6 idle room does not help the non-preemptible", "a:gpu=3", "inference", "no: ", "fits now"},
		{"6 idle room does not help the non-preemptible", "a:gpu=none", "inference", "no: ", "fits now"},
		{"6 idle room does not help the non-preemptible", "dept:gpu=2", "inference", "no: ", ""},
	} {
		at := slices.IndexFunc(kaiSituations, func(s kaiSituation) bool { return s.name == c.situation })
		k := newKAI()
		kaiSituations[at].build(k)
		_, stdout, stderr := call(strings.NewReader(k.text(t)), "diff", "-f", "-", "-at", kaiNow.Format(time.RFC3339), "-quota", c.change, "-o", "json")
		var got struct {
			Changes []struct {
				Workload      string
				Before, After struct{ Words string }
			}
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || stderr != "" {
			t.Fatalf("%s: %v, %q", c.change, err, stderr)
		}
		before, after := c.before, ""
		for _, row := range got.Changes {
			if row.Workload == kaiNamespace+"/"+k.name(c.group) {
				before, after = row.Before.Words, row.After.Words
			}
		}
		if !strings.HasPrefix(before, c.before) || !strings.HasPrefix(after, c.after) || (after == "") != (c.after == "") {
			t.Errorf("%s, %s: %q, then %q", c.situation, c.change, before, after)
		}
	}
	k := newKAI()
	kaiSituations[0].build(k)
	for change, want := range map[string]string{
		"defualt-queue:gpu=1":                     "there is no queue or cohort \"defualt-queue\"; the nearest: default-queue",
		"default-queue:tpu=1":                     "want cpu, memory or gpu",
		"default-queue:gpu=-1":                    "\"-1\" is negative",
		"default-queue:gpu:limits=1":              "want limit or overQuotaWeight",
		"default-queue:gpu:overQuotaWeight=heavy": "\"heavy\" is no number",
		"default-queue:gpu:overQuotaWeight=-1":    "-1 is negative or not finite",
		"default-queue=1":                         "of KAI want QUEUE:RESOURCE=QUANTITY",
		"all queues:gpu=1":                        "there is no queue \"all queues\"",
	} {
		if status, _, stderr := call(strings.NewReader(k.text(t)), "diff", "-f", "-", "-quota", change); status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", change, status, stderr)
		}
	}
}
