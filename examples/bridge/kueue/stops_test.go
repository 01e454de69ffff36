package kueue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
)

// What keeps Kueue from admitting, each as a note; without it there is none.
func TestStops(t *testing.T) {
	flavor := item("ResourceFlavor", "f", "")
	read := func(queueSpec, queueStatus, localSpec, spec, status string, more ...string) (read.Cluster, []string) {
		c := mustRead(t, list(append(more, flavor,
			item("ClusterQueue", "q", `"spec":{"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]`+queueSpec+`},"status":{`+queueStatus+`}`),
			item("LocalQueue", "n/lq", `"spec":{"clusterQueue":"q"`+localSpec+`}`),
			item("Workload", "n/w", `"spec":{"queueName":"lq"`+spec+`},"status":{`+status+`}`))...))
		p := c.Pending[0]
		return c, append(bridge.Texts(slices.Concat(p.Notes, p.LocalNotes)), bridge.Texts(c.NotesOn("q", "n"))...)
	}
	const all = `,"namespaceSelector":{}`
	named := `,"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"n"}}`
	team := `,"namespaceSelector":{"matchExpressions":[{"key":"team","operator":"In","values":["x","y"]}]}`
	namespace := func(labels string) string {
		return `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n","labels":` + labels + `}}`
	}
	checks := func(names ...string) (list []string) {
		for _, name := range names {
			list = append(list, item("AdmissionCheck", name, `"spec":{"controllerName":"x"},"status":{"conditions":[{"type":"Active","status":"True"}]}`))
		}
		return list
	}
	for _, c := range []struct {
		queueSpec, queueStatus, localSpec, spec, status string
		more                                            []string
		want                                            string
	}{
		{all, `"conditions":[{"type":"Active","status":"True","reason":"Ready","message":"m"}]`, "", "", "", nil, ""},
		{all + `,"stopPolicy":"Hold"`, "", "", "", "", nil, "is stopped (stopPolicy Hold)"},
		{all, "", `,"stopPolicy":"HoldAndDrain"`, "", "", nil, "LocalQueue n/lq is stopped (stopPolicy HoldAndDrain)"},
		{"", "", "", "", "", nil, "admits workloads of no namespace"},
		{`,"namespaceSelector":null`, "", "", "", "", nil, "admits workloads of no namespace"},
		{named, "", "", "", "", nil, ""},
		{strings.Replace(named, `"n"`, `"other"`, 1), "", "", "", "", nil, "and n is none"},
		{team, "", "", "", "", nil, "whether n is one is not known"},
		{team, "", "", "", "", []string{namespace(`{"team":"y"}`)}, ""},
		{team, "", "", "", "", []string{namespace(`{"team":"z"}`)}, "namespaces with team in (x,y) only, and n is none"},
		{all + `,"admissionChecks":["prov"]`, "", "", "", "", checks("prov"), "admission checks are ready: prov"},
		{all + `,"admissionChecksStrategy":{"admissionChecks":[{"name":"a"},{"name":"b"}]}`, "", "", "", "", checks("a", "b"), "admission checks are ready: a, b"},
		{all, "", "", `,"active":false`, "", nil, "inactive"},
		{all, "", "", "", `"conditions":[{"type":"Requeued","status":"False","reason":"EvictedByDeactivation"}]`, nil, "not back in its queue yet"},
		{all, "", "", "", `"requeueState":{"requeueAt":"2026-01-01T00:00:00Z"},"conditions":[{"type":"Requeued","status":"False","reason":"Preempted"}]`, nil, "not back in its queue yet"},
		{all, "", "", "", `"conditions":[{"type":"Requeued","status":"False","reason":"ClusterQueueStopped"}]`, nil, ""},
		{all, "", "", "", `"conditions":[{"type":"Requeued","status":"False","reason":"Deactivated"}]`, nil, ""},
		{all, "", "", "", `"requeueState":{"requeueAt":"2026-01-01T00:00:00Z"},"conditions":[{"type":"Requeued","status":"False","reason":"PodsReadyTimeout"}]`, nil, ""},
		{all, "", "", "", `"conditions":[{"type":"QuotaReserved","status":"False","reason":"OnHold"}]`, nil, "its job holds it back"},
		{all, "", "", "", `"conditions":[{"type":"WaitingForReplacementPods","status":"True","reason":"PodsFailed"}]`, nil, "waits for pods that replace others"},
		{all, "", "", "", `"admissionChecks":[{"name":"prov","state":"Rejected"}]`, nil, ""}, // the queue does not have it
	} {
		_, notes := read(c.queueSpec, c.queueStatus, c.localSpec, c.spec, c.status, c.more...)
		if got := strings.Join(notes, "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) || len(notes) > 1 {
			t.Errorf("%+v:\n%q", c, notes)
		}
	}
	read1, _ := read(all, "", "", "", `"requeueState":{"count":2,"requeueAt":"2026-05-04T09:00:00Z"}`)
	if got := read1.Pending[0].BackoffUntil; !got.Equal(at(t, "09:00:00")) {
		t.Error(got)
	}
	// What a check says counts if it is for all flavors of the queue.
	for strategy, want := range map[string]bool{`[{"name":"prov"}]`: true, `[{"name":"prov","onFlavors":["f"]}]`: true, `[{"name":"prov","onFlavors":["other"]}]`: false} {
		_, notes := read(all+`,"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}],"admissionChecksStrategy":{"admissionChecks":`+strategy+`}`, "", "", "",
			`"admissionChecks":[{"name":"prov","state":"Rejected"}]`, checks("prov")...)
		if got := slices.ContainsFunc(notes, func(text string) bool { return strings.Contains(text, "admission check prov is Rejected") }); got != want {
			t.Errorf("%s: %q", strategy, notes)
		}
	}
	deleted := mustRead(t, strings.Replace(list(flavor, item("ClusterQueue", "q", `"spec":{"namespaceSelector":{}}`)), `"uid":"uid-q"`, `"deletionTimestamp":"2026-05-04T08:00:00Z"`, 1))
	if notes := bridge.Texts(deleted.NotesOn("q", "n")); len(notes) != 1 || !strings.Contains(notes[0], "is being deleted") {
		t.Errorf("%q", notes)
	}
}

// A gate is open by its position, as built, or by its state, as KEP-8303 has it.
func TestGateIsOpenByEitherName(t *testing.T) {
	for status, open := range map[string]bool{
		`"name":"g","position":"Open"`: true, `"name":"g","state":"Open"`: true, `"name":"g","state":"Closed"`: false, `"name":"other","state":"Open"`: false,
	} {
		c := mustRead(t, item("Workload", "n/w", `"spec":{"preemptionGates":[{"name":"g"}]},"status":{"preemptionGates":[{`+status+`}]}`))
		if got := !c.Pending[0].Workload.Gates.AnyClosed(); got != open {
			t.Errorf("%s: open %t", status, got)
		}
	}
}

func TestFairSharingIsKnown(t *testing.T) {
	const config = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nfairSharing:\n  enable: true\n  preemptionStrategies: [LessThanInitialShare]\n"
	configMap := func(text string) string {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\n", `\n`), `"`, `\"`)
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kueue-manager-config","namespace":"kueue-system"},"data":{"controller_manager_config.yaml":"` + text + `"}}`
	}
	status := item("ClusterQueue", "q", `"spec":{},"status":{"fairSharing":{"weightedShare":0}}`)
	weight := item("Cohort", "c", `"spec":{"fairSharing":{"weight":"2"}}`)
	for _, c := range []struct {
		name, text, source string
		on                 bool
	}{
		{"nothing", item("ClusterQueue", "q", `"spec":{}`), "", false},
		{"a weight of 1", strings.Replace(weight, `"2"`, `"1"`, 1), "", false},
		{"a weight", weight, `the weight of Cohort "c"`, true},
		{"a status", list(weight, status), `status.fairSharing of ClusterQueue "q"`, true},
		{"a ConfigMap", list(status, configMap(config)), "ConfigMap kueue-system/kueue-manager-config", true},
		{"off", list(status, configMap(strings.Replace(config, "true", "false", 1))), "ConfigMap kueue-system/kueue-manager-config", false},
		{"no switch in v1beta1", list(configMap(strings.Replace(config, "  enable: true\n", "", 1)), status), "ConfigMap kueue-system/kueue-manager-config", false},
		{"the section in v1beta2", configMap(strings.NewReplacer("  enable: true\n", "", "v1beta1", "v1beta2").Replace(config)), "ConfigMap kueue-system/kueue-manager-config", true},
		{"no section", configMap("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"), "ConfigMap kueue-system/kueue-manager-config", false},
		{"a Configuration", config, "the Configuration", true},
	} {
		got := mustRead(t, c.text).Sharing
		if got.On != c.on || got.Source != c.source || got.Known != (c.source != "") {
			t.Errorf("%s: %+v", c.name, got)
		}
		if isConfig := c.on && strings.Contains(c.source, "onfig"); isConfig != (len(got.Strategies) == 1 && got.Strategies[0] == preemption.LessThanInitialShare) {
			t.Errorf("%s: %v", c.name, got.Strategies)
		}
	}
	odd := mustRead(t, list(status, configMap(strings.Replace(config, "LessThanInitialShare", "Sometimes", 1))))
	if len(odd.Warnings) != 1 || !strings.Contains(odd.Warnings[0], "fairSharing.preemptionStrategies") {
		t.Errorf("%q", odd.Warnings)
	}
	other := mustRead(t, list(status, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"b"},"binaryData":{}}`))
	if other.Sharing.Source != `status.fairSharing of ClusterQueue "q"` {
		t.Errorf("%+v", other.Sharing)
	}
}

// An object that the library would refuse the whole state for costs itself alone.
func TestInvalidObjectsCostThemselves(t *testing.T) {
	quotas := `"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"%","borrowingLimit":"1"}]}]}]`
	admitted := func(id, resource, usage string) string {
		return item("Workload", id, `"status":{`+conditions("QuotaReserved x 08:00:00")+`,"admission":{"clusterQueue":"good","podSetAssignments":[{"name":"main","flavors":{"cpu":"`+resource+`"},"resourceUsage":{"cpu":"`+usage+`"}}]}}`)
	}
	c := mustRead(t, list(item("ResourceFlavor", "f", ""),
		item("ClusterQueue", "good", `"spec":{"cohort":"a",`+strings.Replace(quotas, "%", "4", 1)+`}`),
		item("ClusterQueue", "negative", `"spec":{"cohort":"a",`+strings.Replace(quotas, "%", "-4", 1)+`}`),
		item("Cohort", "a", `"spec":{"parentName":"b",`+strings.Replace(quotas, "%", "4", 1)+`}`), item("Cohort", "b", `"spec":{"parentName":"a"}`), item("Cohort", "c", `"spec":{"parentName":"a"}`),
		item("Cohort", "minus", `"spec":{"fairSharing":{"weight":"-1"}}`), item("Cohort", "self", `"spec":{"parentName":"self"}`),
		admitted("n/good", "f", "1"), admitted("n/negative", "f", "-1"), admitted("n/empty", "", "1"),
		item("Workload", "n/twice", `"spec":{"podSets":[{"name":"x"},{"name":"x"}]}`), item("Workload", "n/fine", `"spec":{"podSets":[{"name":"x"}]}`)))
	st := c.State
	if _, err := preemption.NewSnapshot(st); err != nil {
		t.Fatal(err)
	}
	// A queue or cohort that cannot be read is there without quota, a workload that waits without queue.
	if len(c.State.Queues) != 2 || len(c.State.Admitted) != 2 || len(c.Pending) != 2 || len(c.State.Cohorts) != 5 {
		t.Errorf("%d queues, %d admitted, %d pending, %d cohorts", len(c.State.Queues), len(c.State.Admitted), len(c.Pending), len(c.State.Cohorts))
	}
	all := strings.Join(c.Warnings, "\n")
	for _, want := range []string{"ClusterQueue negative:", "Cohorts a, b are a cycle", "Cohort self is its own parent", "Cohort minus:", "Workload n/negative:", "Workload n/empty:", "Workload n/twice:"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// What an object that cannot be read holds keeps its room as far as it is known, and every answer that it
// bears on is in doubt, and no other.
func TestWhatCannotBeReadIsInDoubt(t *testing.T) {
	quotas := `"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"4"}]}]}]`
	runs := func(id, queue, usage, more string) string {
		return item("Workload", id, `"spec":{"priority":1},"status":{`+conditions("QuotaReserved x 08:00:00")+`,"admission":{"clusterQueue":"`+queue+`","podSetAssignments":[{"name":"main","flavors":{"cpu":"f"},"resourceUsage":{"cpu":"`+usage+`"}}]}`+more+`}`)
	}
	waits := func(id, local string) string {
		return item("Workload", id, `"spec":{"queueName":"`+local+`","podSets":[{"name":"main"}]}`)
	}
	base := []string{
		item("ClusterQueue", "a", `"spec":{"cohortName":"left",`+quotas+`}`), item("ClusterQueue", "b", `"spec":{"cohortName":"left",`+quotas+`}`),
		item("ClusterQueue", "c", `"spec":{"cohortName":"right",`+strings.ReplaceAll(quotas, `"f"`, `"g"`)+`}`),
		item("ResourceFlavor", "f", ""), item("ResourceFlavor", "g", ""),
		item("LocalQueue", "n/a", `"spec":{"clusterQueue":"a"}`), item("LocalQueue", "n/b", `"spec":{"clusterQueue":"b"}`), item("LocalQueue", "n/c", `"spec":{"clusterQueue":"c"}`),
		item("ClusterQueue", "alone", `"spec":{`+quotas+`}`), item("LocalQueue", "n/alone", `"spec":{"clusterQueue":"alone"}`), waits("n/alone", "alone"), // in no cohort
		waits("n/in-a", "a"), waits("n/in-b", "b"), waits("n/in-c", "c"), runs("n/runs", "a", "3", ""),
	}
	for _, c := range []struct {
		name, object, reaches string
		used                  int // usage of cohort left, by workloads that run
	}{
		{"nothing", waits("n/more", "c"), "", 3000},
		{"a bad quota", item("ClusterQueue", "a", `"spec":{"cohortName":"left",`+strings.Replace(quotas, `"4"`, `"-4"`, 1)+`}`), "in-a in-b", 3000},
		{"a bad policy", item("ClusterQueue", "a", `"spec":{"cohortName":"left",`+quotas+`,"preemption":{"reclaimWithinCohort":"Sometimes"}}`), "in-a in-b", 3000},
		{"a queue whose cohort is not known", item("ClusterQueue", "a", `"spec":{"cohortName":5,`+quotas+`}`), "in-a in-b in-c", 3000},
		{"a queue that is not there", runs("n/other", "gone", "2", ""), "in-a in-b in-c", 3000},
		{"a version to come", itemOf("kueue.x-k8s.io/v9", "ClusterQueue", "a", `"spec":{"cohortName":"left"}`), "in-a in-b", 3000},
		{"a cohort", item("Cohort", "left", `"spec":{"fairSharing":{"weight":"-1"}}`), "in-a in-b", 3000},
		{"a LocalQueue", item("LocalQueue", "n/b", `"spec":{"clusterQueue":7}`), "in-b", 3000},
		{"a flavor", item("ResourceFlavor", "f", `"spec":{"nodeTaints":[{"key":"k","effect":"Sometimes"}]}`), "alone in-a in-b", 3000},
		{"the priority of one that runs", strings.Replace(runs("n/other", "b", "2", ""), `"priority":1`, `"priority":"high"`, 1), "in-a in-b", 5000},
		{"the time of one that runs", strings.Replace(runs("n/other", "b", "2", ""), "2026-05-04T08:00:00Z", "noon", 1), "in-a in-b", 5000},
		{"the usage of one that runs", runs("n/other", "b", "lots", ""), "in-a in-b", 3000},
		{"whether one holds quota", strings.Replace(runs("n/other", "b", "2", ""), `"status":"True"`, `"status":"true"`, 1), "in-a in-b other", 3000},
		{"a boost of one that runs", strings.Replace(runs("n/other", "b", "2", ""), `"uid"`, `"annotations":{"kueue.x-k8s.io/priority-boost":"lots"},"uid"`, 1), "in-a in-b", 5000},
		{"the queue of one that runs", strings.Replace(runs("n/other", "b", "2", ""), `"clusterQueue":"b"`, `"clusterQueue":5`, 1), "alone in-a in-b in-c", 3000},
		{"one that holds quota, and does not say which", item("Workload", "n/other", `"status":{`+conditions("QuotaReserved x 08:00:00")+`}`), "alone in-a in-b in-c", 3000},
		{"something without a name", `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{}}`, "alone in-a in-b in-c", 3000},
		{"something without a kind", `{"metadata":{"name":"x"}}`, "alone in-a in-b in-c", 3000},
		{"something else without a name", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{}}`, "", 3000},
		{"one that waits", strings.Replace(waits("n/in-c", "c"), `"name":"main"`, `"name":"main","count":-1`, 1), "in-c", 3000},
		{"one that is finished", item("Workload", "n/other", `"spec":{"priority":"high"},"status":{"conditions":[{"type":"Finished","status":"True"}]}`), "", 3000},
	} {
		cluster := mustRead(t, list(append(base[:len(base):len(base)], c.object)...))
		if _, err := preemption.NewSnapshot(cluster.State); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var reached []string
		for _, p := range cluster.Pending {
			if len(cluster.DoubtsOn(p.Workload.ID, p.Workload.Queue)) > 0 {
				reached = append(reached, strings.TrimPrefix(p.Workload.ID, "n/"))
			}
		}
		if got := strings.Join(reached, " "); got != c.reaches {
			t.Errorf("%s: %q are in doubt, want %q: %+v", c.name, got, c.reaches, cluster.Doubts)
		}
		used := 0
		for _, w := range cluster.State.Admitted {
			for _, u := range w.Usage() {
				used += int(u.Amount)
			}
		}
		if used != c.used {
			t.Errorf("%s: %d are held, want %d", c.name, used, c.used)
		}
	}
}
