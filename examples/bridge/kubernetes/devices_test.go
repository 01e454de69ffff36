package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/preemption/placement"
)

// withDevices has node n with two devices, of which pods a and b share one, and c has one that was made of a template; pod in
// waits for one more.
var withDevices = []string{
	`Node {"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"9","pods":"10"}}}`,
	`ResourceSlice {"metadata":{"name":"old"},"spec":{"driver":"gpu.x.io","nodeName":"n","pool":{"name":"n"},"devices":[{},{},{}]}}`,
	`ResourceSlice {"metadata":{"name":"new"},
		"spec":{"driver":"gpu.x.io","nodeName":"n","pool":{"name":"n","generation":1},"devices":[{},{}]}}`,
	`DeviceClass {"metadata":{"name":"gpu"},
		"spec":{"selectors":[{"cel":{"expression":"device.driver == \"gpu.x.io\""}}],"extendedResourceName":"x.io/gpu"}}`,
	`ResourceClaim {"metadata":{"name":"shared","namespace":"s"},
		"spec":{"devices":{"requests":[{"exactly":{"deviceClassName":"gpu"}}]}},
		"status":{"allocation":{"devices":{"results":[{"driver":"gpu.x.io"},{"driver":"gpu.x.io","adminAccess":true}]}}}}`,
	`ResourceClaim {"metadata":{"name":"made","namespace":"s"},
		"spec":{"devices":{"requests":[{"exactly":{"deviceClassName":"gpu","count":1}}]}}}`,
	`ResourceClaim {"metadata":{"name":"new","namespace":"s"},
		"spec":{"devices":{"requests":[{"exactly":{"deviceClassName":"gpu"}}]}}}`,
	`Pod {"metadata":{"name":"a","namespace":"s"},
		"spec":{"nodeName":"n","priority":1,"containers":[{}],"resourceClaims":[{"name":"x","resourceClaimName":"shared"}]}}`,
	`Pod {"metadata":{"name":"b","namespace":"s"},
		"spec":{"nodeName":"n","priority":2,"containers":[{}],"resourceClaims":[{"name":"x","resourceClaimName":"shared"}]}}`,
	`Pod {"metadata":{"name":"c","namespace":"s"},
		"spec":{"nodeName":"n","priority":3,"containers":[{}],"resourceClaims":[{"name":"x"}]},
		"status":{"resourceClaimStatuses":[{"name":"x","resourceClaimName":"made"}]}}`,
	`Pod {"metadata":{"name":"in","namespace":"s"},
		"spec":{"priority":9,"containers":[{}],"resourceClaims":[{"name":"x","resourceClaimName":"new"}]}}`,
}

// ask decides about the only pod that waits, with lines changed, and returns what yields and what is not known.
func ask(t *testing.T, change ...string) (answer, doubts string) {
	t.Helper()
	var objects kubernetes.Objects

	for _, line := range withDevices {
		line = strings.NewReplacer("\n", "", "\t", "").Replace(line)
		kind, text, _ := strings.Cut(strings.NewReplacer(change...).Replace(line), " ")
		kinds := map[string]kubernetes.Object{
			"Node": new(kubernetes.Node), "Pod": new(kubernetes.Pod), "ResourceSlice": new(kubernetes.ResourceSlice),
			"ResourceClaim": new(kubernetes.ResourceClaim), "DeviceClass": new(kubernetes.DeviceClass),
		}
		if err := json.Unmarshal([]byte(text), kinds[kind]); err != nil {
			t.Fatal(err)
		}
		objects.Add(kinds[kind])
	}
	cluster := objects.Cluster()
	snapshot, err := cluster.Snapshot()
	if err != nil || len(cluster.Pending) != 1 {
		t.Fatal(err, len(cluster.Pending))
	}
	d, err := new(placement.Preemptor).Decide(snapshot, cluster.Pending[0].Request)
	var pods []string
	for _, v := range d.Victims {
		pods = append(pods, v.Pods...)
	}
	return fmt.Sprint(d.Outcome, pods, err), strings.Join(bridge.Texts(cluster.DoubtsOn(&cluster.Pending[0], &d)), "; ")
}

// Claims of whole devices are counted by driver; a shared one is free when all its pods go. What more a claim asks for is a doubt.
func TestDevices(t *testing.T) {
	for name, c := range map[string]struct {
		change       []string
		want, doubts string
	}{
		"a shared claim": {nil, "Preempt [s/a s/b] <nil>", ""},
		"a claim of two": {
			[]string{`"name":"new","namespace":"s"},"spec":{"devices":{"requests":[{"exactly":{`,
				`"name":"new","namespace":"s"},"spec":{"devices":{"requests":[{"exactly":{"count":2,`},
			"Preempt [s/a s/b s/c] <nil>", "",
		},
		"for an administrator": {
			[]string{`"name":"new","namespace":"s"},"spec":{"devices":{"requests":[{"exactly":{`,
				`"name":"new","namespace":"s"},"spec":{"devices":{"requests":[{"exactly":{"adminAccess":true,`},
			"Fits [] <nil>", "",
		},
		"a third device": {
			[]string{`"generation":1},"devices":[{},{}]`, `"generation":1},"devices":[{},{},{}]`},
			"Fits [] <nil>", "",
		},
		"an extended resource": {
			[]string{`"resourceClaims":[{"name":"x","resourceClaimName":"new"}]`, `"overhead":{"x.io/gpu":"2"}`},
			"Preempt [s/a s/b s/c] <nil>", "",
		},
		"that a node has itself": {
			[]string{`"resourceClaims":[{"name":"x","resourceClaimName":"new"}]`,
				`"overhead":{"x.io/gpu":"2"}`, `"cpu":"9"`, `"cpu":"9","x.io/gpu":"2"`},
			"Fits [] <nil>", "",
		},
		"more than the driver": {
			[]string{`\"gpu.x.io\"`, `\"gpu.x.io\" && true`},
			"Preempt [s/a s/b] <nil>", "its selectors ask for more than the driver",
		},
		"another selector": {
			[]string{`device.driver == \"gpu.x.io\"`, `true`},
			"Fits [] <nil>", "does not begin with the name of the driver",
		},
		"a class that is missing": {
			[]string{`"deviceClassName":"gpu"`, `"deviceClassName":"gone"`},
			"Fits [] <nil>", `DeviceClass "gone" is not in the input`,
		},
		"all devices": {
			[]string{`"exactly":{"deviceClassName":"gpu"}`, `"exactly":{"deviceClassName":"gpu","allocationMode":"All"}`},
			"Fits [] <nil>", "does not ask for a number of devices",
		},
		"a claim that is missing": {
			[]string{`"resourceClaimName":"new"`, `"resourceClaimName":"gone"`},
			"Fits [] <nil>", "ResourceClaim s/gone is not in the input",
		},
		"partitions": {
			[]string{`"generation":1},"devices":[{},{}]`, `"generation":1},"devices":[{},{"consumesCounters":[{}]}]`},
			"Preempt [s/a s/b] <nil>", "partitions, shares and taints",
		},
	} {
		answer, doubts := ask(t, c.change...)
		if answer != c.want || !strings.Contains(doubts, c.doubts) || c.doubts == "" && doubts != "" {
			t.Errorf("%s: %s, doubts %q", name, answer, doubts)
		}
	}
}
