package main

import (
	"strings"
	"testing"
)

// ofGroups is a case about nested groups that passes: of two units of the lower priority the group of groups stays.
const ofGroups = `{"id":"n","suite":"group_random","source":{"repo":"r","version":"v","test":"t"},"input":{"composite_enabled":true,
"nodes":[{"name":"a","capacity":{"size":2}},{"name":"b","capacity":{"size":1}}],
"pods":[{"name":"nested","node":"a","group":"g","priority":7,"requests":{"size":1},"labels":{"x":"1"},"start":9},
{"name":"alone","node":"a","priority":2,"requests":{"size":1},"labels":{"x":"1"},"start":5},
{"name":"high","node":"b","priority":9,"requests":{"size":1},"start":5}],
"groups":[{"kind":"CompositePodGroup","name":"c","priority":2,"mode":"all"},
{"kind":"PodGroup","name":"g","parent":"c","priority":8,"mode":"single"}],
"pdbs":[{"name":"p","selector":{"x":"1"},"allowed":1},{"name":"none","selector":{},"allowed":0}],
"preemptor":{"kind":"group","name":"in","priority":5,"policy":"LowerPriority","min_count":1,"pods":[{"name":"in0","requests":{"size":2}}]},
"options":{"placement":"round_robin"}},
"want":{"outcome":"preempt","victims":["alone","nested"],"violations":1,"group_disruptions":1,"nominated":{"in0":"a"},
"units":[{"kind":"pod","priority":9,"pods":["high"],"nodes":["b"]},
{"kind":"compositepodgroup","priority":2,"pods":["nested"],"nodes":["a"]},
{"kind":"pod","priority":2,"pods":["alone"],"nodes":["a"],"violating":1}]}}`

func groupsLine(replacements ...string) string {
	return strings.NewReplacer(append([]string{"\n", ""}, replacements...)...).Replace(ofGroups) + "\n"
}

// Every kind of answer about groups is compared.
func TestDifferencesOfGroupsAreSeen(t *testing.T) {
	if status, stdout, _ := call(groupsLine()); status != 0 || !strings.Contains(stdout, "1 passed") {
		t.Errorf("status %d: %s", status, stdout)
	}
	for name, c := range map[string]struct {
		replace []string
		want    string
	}{
		"victims":             {[]string{`["alone","nested"]`, `["alone"]`}, "+ nested"},
		"violations":          {[]string{`"violations":1`, `"violations":0`}, "violations"},
		"group disruptions":   {[]string{`"group_disruptions":1`, `"group_disruptions":0`}, "groups or of one"},
		"nominated":           {[]string{`"in0":"a"`, `"in0":"b"`}, "nominated"},
		"order":               {[]string{`"priority":2,"mode":"all"`, `"priority":1,"mode":"all"`}, "most important first"},
		"no victims":          {[]string{`"outcome":"preempt"`, `"outcome":"no_victims"`}, "reason"},
		"not eligible":        {[]string{`"outcome":"preempt"`, `"outcome":"not_eligible"`}, "reason"},
		"policy":              {[]string{`"LowerPriority"`, `"Never"`}, "possible"},
		"composite gate":      {[]string{`"composite_enabled":true`, `"composite_enabled":false`}, "most important first"},
		"other namespace":     {[]string{`"name":"p",`, `"name":"p","namespace":"x",`}, "violations"},
		"a pod of no node":    {[]string{`"node":"b"`, `"node":"z"`}, `unknown node "z"`},
		"more than there are": {[]string{`"min_count":1`, `"min_count":2`}, "request.minCount"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, _ := call(groupsLine(c.replace...))
			if status != 1 || !strings.Contains(stdout, c.want) {
				t.Errorf("status %d, without %q:\n%s", status, c.want, stdout)
			}
		})
	}
}

// The ways of the other suites to ask.
func TestSuitesOfGroups(t *testing.T) {
	cycle := `"groups":[{"kind":"PodGroup","name":"g","parent":"c"},{"kind":"CompositePodGroup","name":"c","parent":"d","mode":"all"},
		{"kind":"CompositePodGroup","name":"d","parent":"c","mode":"all"}],"composite_enabled":true`
	for name, line := range map[string]string{
		"unit key":        `"suite":"unit_key","input":{"pod":{"name":"p","group":"g"},` + cycle + `},"want":{"has_all":true,"unit":{"kind":"CompositePodGroup","name":"d"}}`,
		"walk":            `"suite":"walk_up","input":{"start":{"kind":"PodGroup","name":"g"},` + cycle + `},"want":{"visited":[{"kind":"PodGroup","name":"g"},{"kind":"CompositePodGroup","name":"c"},{"kind":"CompositePodGroup","name":"d"}]}`,
		"priority":        `"suite":"pod_priority","input":{"pod":{"name":"p","group":"g","priority":4},"groups":[{"kind":"PodGroup","name":"g","parent":"gone","priority":6}]},"want":{"priority":6}`,
		"importance":      `"suite":"importance","input":{"a":{"kind":"compositepodgroup","size":1},"b":{"kind":"podgroup","size":9}},"want":{"a_more_important":true}`,
		"split":           `"suite":"pdb_split","input":{"units":[{"pods":[{"name":"p","labels":{"a":"b"}}]}],"pdbs":[{"selector":{"a":"b"},"allowed":0}]},"want":{"violating":[0],"counts":[1]}`,
		"terminating":     `"suite":"terminating","input":{"pod":{"name":"p","terminating":true,"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]}},"want":{"terminating_by_preemption":true}`,
		"policy of a pod": `"suite":"group_policy","input":{"group":{"name":"g"},"pods":[{"name":"p","preemption_policy":"Never"}]},"want":{"policy":"Never"}`,
		"cycle": `"suite":"group_integration","input":{"gates":{"CompositePodGroup":false},"nodes":[{"name":"n","capacity":{"cpu":2},"labels":{"zone":"z"}},
			{"name":"m","capacity":{"cpu":2}}],"groups":[{"kind":"PodGroup","name":"g","priority":5,"policy":"gang","min_count":2,"constraints":{"topology":[{"key":"zone"}]}}],
			"pods":[{"name":"low","node":"n","priority":1,"requests":{"cpu":1}},{"name":"low2","node":"m","requests":{"cpu":1}}],
			"preemptor_pods":[{"name":"p","group":"g","priority":5,"requests":{"cpu":1},"node_selector":{"kubernetes.io/hostname":"n"}},
			{"name":"q","group":"g","priority":5,"requests":{"cpu":1}}]},"want":{"preempted":["low"],"scheduled":["p","q"]}`,
		"cycle of a pod": `"suite":"composite_integration","input":{"nodes":[{"name":"n","capacity":{"cpu":1}}],"pods":[{"name":"low","requests":{"cpu":1}}],
			"preemptor_pods":[{"name":"p","priority":5,"preemption_policy":"Never","requests":{"cpu":1}}]},"want":{"preempted":[],"unschedulable":["p"]}`,
		"resize": `"suite":"resize","input":{"nodes":[{"name":"n","capacity":{"cpu":3}}],"pods":[{"name":"v","node":"n","requests":{"cpu":1}}],"resizing":{"name":"p","node":"n","priority":2,"requests":{"cpu":3},"allocated":{"cpu":2}}},"want":{"victims":["v"]}`,
	} {
		line = `{"id":"x",` + strings.NewReplacer("\n", "", "\t", "").Replace(line) + "}\n"
		if status, stdout, stderr := call(line); status != 0 || !strings.Contains(stdout, "1 passed") {
			t.Errorf("%s: status %d: %s%s", name, status, stdout, stderr)
		}
	}
	for line, want := range map[string]string{
		`{"id":"x","suite":"other","input":{}}`:                                  `unknown suite "other"`,
		`{"id":"x","suite":"group","input":{}}`:                                  "no preemptor",
		`{"id":"x","suite":"pdb_split","input":{},"want":{"violating":[1]}}`:     "1 violating units with 0 counts",
		`{"id":"x","suite":"pdb_split","input":{},"want":{"non_violating":[1]}}`: "no unit 1",
		`{"id":"x","suite":"importance","input":{}}`:                             "a or b is missing",
	} {
		if status, _, stderr := call(line); status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("status %d, %q, want %q", status, stderr, want)
		}
	}
}

// ofTree is a story about a tree of groups: two groups of two pods, each in a rack, in one zone; a pod yields, and later another one.
const ofTree = `{"id":"t","suite":"topology","input":{"gates":{"CompositePodGroup":"both"},"steps":[
{"create_nodes":[{"name":"a","capacity":{"cpu":2},"labels":{"zone":"1","rack":"1"}},{"name":"b","capacity":{"cpu":3},"labels":{"zone":"2","rack":"1"}},
{"name":"c","capacity":{"cpu":2},"labels":{"zone":"2","rack":"2"},"taints":[{"key":"t","effect":"NoSchedule"}]}]},
{"create_group":{"kind":"CompositePodGroup","name":"root","priority":5,"policy":"gang","min_group_count":2,"constraints":{"topology":[{"key":"zone"}]}}},
{"create_group":{"kind":"PodGroup","name":"x","parent":"root","policy":"gang","min_count":2,"constraints":{"topology":[{"key":"rack"}]}}},
{"create_group":{"kind":"PodGroup","name":"y","parent":"root","policy":"gang","min_count":2}},
{"create_pods":[{"name":"low","node":"b","priority":1,"requests":{"cpu":2}},{"name":"low2","node":"c","priority":1,"requests":{"cpu":1}}]},
{"create_pods":[{"name":"x1","group":"x","priority":5,"requests":{"cpu":1}},{"name":"x2","group":"x","priority":5,"requests":{"cpu":1}},
{"name":"y1","group":"y","priority":5,"requests":{"cpu":1},"tolerations":[{"key":"t"}]},{"name":"y2","group":"y","priority":5,"requests":{"cpu":1},"tolerations":[{"key":"t"}]}]},
{"create_pods":[{"name":"y3","group":"y","priority":5,"requests":{"cpu":1},"tolerations":[{"key":"t","operator":"Exists"}]},
{"name":"y4","group":"y","priority":5,"requests":{"cpu":1}}]}]},
"want":{"checks":[{"after_step":6,"scheduled":["x1","x2","y1","y2"]},{"after_step":6,"removed":["low"]},
{"after_step":6,"on_nodes":{"pods":["x1","x2"],"nodes":["b"]}},{"after_step":6,"in_one_domain":{"pods":["x1","x2","y1","y2"],"topology_key":"zone"}},
{"after_step":7,"scheduled":["y3"],"unschedulable":["y4"],"removed":["low2"]}],"preempted":["low"]},
"observed":{"pods":{"y1":{"node":"b"},"y2":{"node":"c"}}}}`

// Each step that brings pods of a group is asked, and each check after it compared.
func TestStories(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"as it is":           {"", "", "1 passed"},
		"a victim":           {`"removed":["low"]`, `"removed":[]`, "+ low"},
		"another victim":     {`"removed":["low2"]`, `"removed":["low"]`, "- low"},
		"without a place":    {`"scheduled":["y3"],"unschedulable":["y4"]`, `"scheduled":["y4"],"unschedulable":["y3"]`, "place of y4"},
		"another node":       {`"nodes":["b"]`, `"nodes":["a","c"]`, "nodes of [x1 x2]"},
		"too many groups":    {`"min_group_count":2`, `"min_group_count":3`, "groups are missing"},
		"too many pods":      {`"name":"x","parent":"root","policy":"gang","min_count":2`, `"name":"x","parent":"root","policy":"gang","min_count":3`, "pods are missing"},
		"apart":              {`"in_one_domain":{"pods":["x1","x2","y1","y2"],"topology_key":"zone"}`, `"in_one_domain":{"pods":["x1","y2"],"topology_key":"rack"}`, "nodes of [x1 y2]"},
		"where nothing says": {`"y2":{"node":"c"}`, `"y2":{}`, "1 passed"},
	} {
		line := strings.NewReplacer("\n", "", c.from, c.to).Replace(ofTree)
		if c.from == "" {
			line = strings.ReplaceAll(ofTree, "\n", "")
		}
		if _, stdout, stderr := call(line + "\n"); !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: without %q: %s%s", name, c.want, stdout, stderr)
		}
	}
}

// Rules of other plugins become conflicts, or resources that count pods.
func TestRulesAboutPlaces(t *testing.T) {
	const port, apart = `"containers":[{"ports":[{"hostPort":80}]}]`, `"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
		{"labelSelector":{"matchLabels":{"a":"b"}},"topologyKey":"kubernetes.io/hostname"}]}}`
	const even = `"topology_spread":[{"labelSelector":{"matchLabels":{"a":"b"}},"maxSkew":1,"minDomains":9,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"DoNotSchedule"}]`
	const limit = `,"options":{"reserve_limit":{"max_pods":1,"counted_pods":{"a":"b"},"taken_pods":{"a":"b"}}}`
	for name, c := range map[string]struct{ running, waiting, options, victims string }{
		"nothing":       {"", "", "", ``},
		"a port":        {port, port, "", `"low"`},
		"another port":  {strings.Replace(port, "80", "81", 1), port, "", ``},
		"anti-affinity": {`"labels":{"a":"b"}`, apart, "", `"low"`},
		"not selected":  {`"labels":{"a":"c"}`, apart, "", ``},
		"spread":        {`"labels":{"a":"b"}`, `"labels":{"a":"b"},` + even, "", `"low"`},
		"reserved":      {`"labels":{"a":"b"}`, `"labels":{"a":"b"}`, limit, `"low"`},
		"pod level":     {`"pod_level_resources":{"requests":{"cpu":2}}`, "", "", `"low"`},
		"not reserved":  {"", `"labels":{"a":"b"}`, limit, ``},
	} {
		with := func(fields string) string {
			if fields != "" {
				fields = "," + fields
			}
			return fields
		}
		line := `{"id":"x","suite":"group_integration","input":{"nodes":[{"name":"n","capacity":{"cpu":2}}],"pods":[{"name":"low","requests":{"cpu":1}` +
			with(c.running) + `}],"preemptor_pods":[{"name":"p","priority":5,"requests":{"cpu":1}` + with(c.waiting) + `}]` + c.options +
			`},"want":{"preempted":[` + c.victims + `],"scheduled":["p"]}}`
		line = strings.NewReplacer("\n", "", "\t", "").Replace(line)
		if status, stdout, stderr := call(line + "\n"); status != 0 || !strings.Contains(stdout, "1 passed") {
			t.Errorf("%s: status %d: %s%s", name, status, stdout, stderr)
		}
	}
}
