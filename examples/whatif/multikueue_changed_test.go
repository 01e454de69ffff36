package main

import "strings"

// The workloads of the situations that are changed.
const (
	asr    = "team-speech/job-asr-large-resume-28ad2" // 03: a open since 09:27:10, two victims leave; b signals since 09:27:30
	layout = "team-docs/job-layout-parser-v4-dea7a"   // 09: a without signal, b signals
	codec  = "team-video/job-neural-codec-v2-6816f"   // 17: a open since 09:27:00, b and c signal
	vision = "team-vision/job-detector-train-v7-0c9b8"
	fold   = "team-genomics/job-fold-proteome-batch3-cee68"
)

func copyOf(w world, cluster, id string) map[string]any {
	_, name, _ := strings.Cut(id, "/")
	return w.find(cluster, "Workload", name)
}

// lose makes the manager not reach a worker.
func lose(w world, cluster string) {
	condition(w.find("manager", "MultiKueueCluster", cluster), "Active", "False", "ClientConnectionFailed", "09:29:00")
}

// changed are worlds of which no answer was given: a situation with something changed, the answer by the rules of Kueue 0.19, and
// what a doubt or the sentence says.
var changed = map[string]struct {
	from, workload string
	change         func(w world)
	want, says     string
	status         int
}{
	"the turn is over, and victims still leave": {"03-victims-leaving", asr, func(w world) { position(copyOf(w, "a", asr), "Open", "09:25:00") },
		"waits-for-victims a", "The gate in b opens now, too", 0},
	"the turn ends in a second": {"17-clock-off", codec, func(w world) { position(copyOf(w, "a", codec), "Open", "09:25:01") }, "gate-opens-at c at 09:30:01", "", 1},
	"the turn is over":          {"17-clock-off", codec, func(w world) { position(copyOf(w, "a", codec), "Open", "09:25:00") }, "gate-opens-now c", "", 0},
	"an opening after now":      {"17-clock-off", codec, func(w world) { position(copyOf(w, "a", codec), "Open", "09:33:00") }, "gate-opens-at c at 09:38:00", "its clock is ahead", 1},
	"the worker is lost":        {"17-clock-off", codec, func(w world) { lose(w, "a") }, "gate-opens-now c", "by the design no other opens before 09:32:00", 0},
	"the first to signal is lost": {"17-clock-off", codec, func(w world) { lose(w, "c") }, "gate-opens-at b at 09:32:00",
		"the manager does not reach c", 1},
	"a worker that preempts is lost": {"03-victims-leaving", asr, func(w world) { lose(w, "a") }, "waits-for-victims a", "The gate in b opens now, too", 0},
	"a lost worker without a file":   {"17-clock-off", codec, func(w world) { lose(w, "a"); delete(w, "a") }, "gate-opens-now c", "nothing was read of worker a", 0},
	"a worker without a file":        {"17-clock-off", codec, func(w world) { delete(w, "a") }, "unknown nowhere", "nothing was read of worker a", 3},
	"one to which it was not sent": {"17-clock-off", codec, func(w world) {
		set(copyOf(w, "manager", codec), "status.nominatedClusterNames", []any{"a", "c"})
		delete(w, "b")
	}, "gate-opens-at c at 09:32:00", "", 1},
	"nobody signals": {"09-evicted-gate-closed", layout, func(w world) {
		condition(copyOf(w, "b", layout), "BlockedOnPreemptionGates", "False", "QuotaReserved", "09:29:00")
	},
		"nothing-can-open nowhere", "a does not signal, b does not signal", 1},
	"all are open": {"09-evicted-gate-closed", layout, func(w world) {
		position(copyOf(w, "b", layout), "Open", "09:27:06")
	}, "nothing-can-open nowhere", "that in b is open since 09:27:06, and team-docs/job-handwriting-5-24125 yields there", 1},
	"another reason is a signal, too": {"09-evicted-gate-closed", layout, func(w world) {
		condition(copyOf(w, "b", layout), "BlockedOnPreemptionGates", "True", "Other", "09:29:00")
	},
		"gate-opens-now b", "", 0},
	"one worker without gates": {"03-victims-leaving", asr, func(w world) {
		set(copyOf(w, "a", asr), "spec.preemptionGates", nil)
		set(copyOf(w, "a", asr), "status.preemptionGates", nil)
		condition(copyOf(w, "a", asr), "BlockedOnPreemptionGates", "", "", "")
	}, "waits-for-victims a", "the copy in a has no gate: it cannot be held back", 0},
	"another gate is closed, too": {"09-evicted-gate-closed", layout, func(w world) {
		set(copyOf(w, "b", layout), "spec.preemptionGates", []any{map[string]any{"name": "kueue.x-k8s.io/multikueue"}, map[string]any{"name": "example.com/own"}})
	}, "gate-opens-now b", "another gate of the copy in b is closed", 0},
	"only another gate, which is closed": {"09-evicted-gate-closed", layout, func(w world) {
		set(copyOf(w, "b", layout), "spec.preemptionGates", []any{map[string]any{"name": "example.com/own"}})
		set(copyOf(w, "b", layout), "status.preemptionGates", nil)
	}, "gate-opens-now b", "does not name the gate: Kueue opens it in vain", 0},
	"a signal read without gates": {"09-evicted-gate-closed", layout, func(w world) {
		b := copyOf(w, "b", layout)
		b["apiVersion"] = "kueue.x-k8s.io/v1beta1"
		set(b, "spec.preemptionGates", nil)
		set(b, "status.preemptionGates", nil)
	}, "unknown nowhere", "b was read in v1beta1", 3},
	"no signal, read without gates": {"09-evicted-gate-closed", layout, func(w world) {
		a := copyOf(w, "a", layout)
		a["apiVersion"] = "kueue.x-k8s.io/v1beta1"
		set(a, "spec.preemptionGates", nil)
		set(a, "status.preemptionGates", nil)
		condition(a, "BlockedOnPreemptionGates", "", "", "")
	}, "gate-opens-now b", "a was read in v1beta1", 0},
	"it runs": {"09-evicted-gate-closed", layout, func(w world) {
		condition(copyOf(w, "b", layout), "QuotaReserved", "True", "QuotaReserved", "09:29:00")
		condition(copyOf(w, "b", layout), "Admitted", "True", "Admitted", "09:29:10")
		set(copyOf(w, "b", layout), "status.admission", map[string]any{"clusterQueue": "docs-l40s", "podSetAssignments": []any{}})
	}, "running b", "runs in b", 0},
	"it has its quota and waits for checks": {"03-victims-leaving", asr, func(w world) {
		condition(copyOf(w, "a", asr), "QuotaReserved", "True", "QuotaReserved", "09:29:00")
		set(copyOf(w, "a", asr), "status.admission", map[string]any{"clusterQueue": "speech-h100", "podSetAssignments": []any{}})
	}, "gate-opens-at b at 09:32:10", "it opens no gate while a copy has its quota", 1},
	"the manager has no quota": {"09-evicted-gate-closed", layout, func(w world) {
		condition(copyOf(w, "manager", layout), "QuotaReserved", "False", "Pending", "09:29:00")
	}, "nothing-can-open nowhere", "the manager has no quota for it", 1},
	"its check is rejected": {"09-evicted-gate-closed", layout, func(w world) {
		copyOf(w, "manager", layout)["status"].(map[string]any)["admissionChecks"].([]any)[0].(map[string]any)["state"] = "Rejected"
	}, "nothing-can-open nowhere", "is Rejected", 1},
	"evicted where it ran": {"09-evicted-gate-closed", layout, func(w world) {
		copyOf(w, "manager", layout)["status"].(map[string]any)["admissionChecks"].([]any)[0].(map[string]any)["state"] = "Ready"
	}, "nothing-can-open nowhere", "it was evicted in a, and the manager resets it", 1},
	"it runs where it is lost": {"17-clock-off", codec, func(w world) {
		lose(w, "a")
		m := copyOf(w, "manager", codec)
		m["status"].(map[string]any)["admissionChecks"].([]any)[0].(map[string]any)["state"] = "Ready"
		set(m, "status.clusterName", "a")
	}, "running a", "", 0},
	"it runs where it is lost, and its check waits": {"17-clock-off", codec, func(w world) {
		lose(w, "a")
		condition(copyOf(w, "a", codec), "QuotaReserved", "True", "QuotaReserved", "09:29:00")
		condition(copyOf(w, "a", codec), "Admitted", "True", "Admitted", "09:29:00")
		set(copyOf(w, "a", codec), "status.admission", map[string]any{"clusterQueue": "video-a100", "podSetAssignments": []any{}})
	}, "running a", "The gate in c opens now, too", 0},
	"two fit": {"01-fits-on-one", vision, func(w world) {
		w["b"] = deleteObject(w["b"], "job-pose-baseline")
	}, "fits nowhere", "fits in a, b now", 0},
	"it fits behind a head that waits": {"01-fits-on-one", vision, func(w world) {
		set(w.find("a", "ClusterQueue", "vision-h100"), "spec.queueingStrategy", "StrictFIFO")
		head := clone(copyOf(w, "a", vision))
		set(head, "metadata.name", "job-first")
		set(head, "metadata.uid", "7a3c6c1e-0000-4000-8000-000000000001")
		set(head, "metadata.creationTimestamp", "2026-11-27T08:00:00Z")
		head["spec"].(map[string]any)["podSets"].([]any)[0].(map[string]any)["count"] = 7
		w["a"] = append(w["a"], head)
	}, "nothing-can-open nowhere", "", 1},
	"the queue is stopped": {"01-fits-on-one", vision, func(w world) { set(w.find("a", "ClusterQueue", "vision-h100"), "spec.stopPolicy", "Hold") },
		"nothing-can-open nowhere", "", 1},
	"one fits, and another signals": {"01-fits-on-one", vision, func(w world) {
		condition(copyOf(w, "b", vision), "QuotaReserved", "False", "AdmissionGated", "09:29:59")
		condition(copyOf(w, "b", vision), "BlockedOnPreemptionGates", "True", "PreemptionGated", "09:29:59")
	}, "fits a", "The gate in b opens now, too", 0},
	"the manager's objects have no workers": {"09-evicted-gate-closed", layout, func(w world) {
		w["manager"] = deleteKind(w["manager"], "MultiKueueCluster")
	}, "unknown nowhere", "whether the manager reaches it is not known", 3},
	"nor their list": {"09-evicted-gate-closed", layout, func(w world) {
		w["manager"] = deleteKind(w["manager"], "MultiKueueConfig")
	}, "gate-opens-now b", "its workers are those that it was sent to", 0},
	"nor their check": {"09-evicted-gate-closed", layout, func(w world) {
		w["manager"] = deleteKind(w["manager"], "AdmissionCheck")
	}, "gate-opens-now b", "is not in the manager's objects", 0},
	"a worker is the manager": {"09-evicted-gate-closed", layout, func(w world) { w["b"] = w["manager"] }, "unknown nowhere", "as the manager and as b is one cluster", 3},
	"a copy that has variants": {"09-evicted-gate-closed", layout, func(w world) {
		set(copyOf(w, "b", layout), "metadata.labels", map[string]any{"kueue.x-k8s.io/multikueue-origin": "m", "kueue.x-k8s.io/concurrent-admission-parent": "x"})
	}, "gate-opens-now b", "the manager reads their parent alone, which never signals", 0},
	"a copy that cannot be read": {"09-evicted-gate-closed", layout, func(w world) { set(copyOf(w, "b", layout), "status.preemptionGates", "none") },
		"unknown nowhere", "the copy in b cannot be read", 3},
	"a gate that its worker does not obey": {"03-victims-leaving", asr, func(w world) {
		set(copyOf(w, "a", asr), "status.preemptionGates", nil)
		condition(copyOf(w, "a", asr), "BlockedOnPreemptionGates", "", "", "")
	}, "waits-for-victims a", "a does not obey gates", 0},
	"victims leave, read without gates": {"03-victims-leaving", asr, func(w world) {
		a := copyOf(w, "a", asr)
		a["apiVersion"] = "kueue.x-k8s.io/v1beta1"
		set(a, "spec.preemptionGates", nil)
		set(a, "status.preemptionGates", nil)
		condition(copyOf(w, "b", asr), "BlockedOnPreemptionGates", "", "", "")
	}, "waits-for-victims a", "a was read in v1beta1", 0},
	"no LocalQueue in a worker": {"09-evicted-gate-closed", layout, func(w world) {
		w["a"] = deleteKind(w["a"], "LocalQueue")
		condition(copyOf(w, "a", layout), "QuotaReserved", "False", "Inadmissible", "09:29:59")
	}, "gate-opens-now b", "", 0},
	"nothing said of a LocalQueue that is not there": {"09-evicted-gate-closed", layout, func(w world) { w["a"] = deleteKind(w["a"], "LocalQueue") },
		"unknown nowhere", "in a the answer is unknown: LocalQueue", 3},
	"a time that is none": {"09-evicted-gate-closed", layout, func(w world) {
		set(copyOf(w, "a", layout), "status.preemptionGates", []any{map[string]any{"name": "kueue.x-k8s.io/multikueue", "position": "Open", "lastTransitionTime": "9999-12-31T23:59:59Z"}})
	}, "unknown nowhere", "the copy in a cannot be read", 3},
	"an open state of a gate that is not named": {"09-evicted-gate-closed", layout, func(w world) {
		position(copyOf(w, "a", layout), "Open", "09:27:00")
		set(copyOf(w, "a", layout), "spec.preemptionGates", nil)
	}, "gate-opens-at b at 09:32:00", "which it does not name: in Kueue its time counts all the same", 1},
	"a clock is behind": {"17-clock-off", codec, func(w world) {
		b := copyOf(w, "b", codec)
		set(b, "metadata.creationTimestamp", "2026-11-27T09:19:51Z")
		condition(b, "BlockedOnPreemptionGates", "True", "PreemptionGated", "09:20:30")
	}, "gate-opens-at b at 09:32:00", "its clock is behind", 1},
	"the shorter time of the user": {"17-clock-off", codec, func(world) {}, "gate-opens-at c at 09:32:00", "", 1},
	"no worker knows gates":        {"07-workers-without-gates", fold, func(w world) { lose(w, "b") }, "waits-for-victims nowhere", "the manager does not reach b", 0},
}
