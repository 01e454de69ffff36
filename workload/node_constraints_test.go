package workload_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/workload"
)

// Kubernetes' labels.Requirement.Matches.
func TestRequirement(t *testing.T) {
	labels := map[string]string{"zone": "a", "cores": "64", "empty": ""}
	for _, c := range []struct {
		key      string
		operator workload.LabelOperator
		values   string
		want     bool
	}{
		{"zone", workload.In, "b a", true}, {"zone", workload.In, "b", false}, {"rack", workload.In, "a", false},
		{"zone", workload.NotIn, "b", true}, {"zone", workload.NotIn, "b a", false}, {"rack", workload.NotIn, "a", true},
		{"empty", workload.Exists, "", true}, {"rack", workload.Exists, "", false},
		{"empty", workload.DoesNotExist, "", false}, {"rack", workload.DoesNotExist, "", true},
		{"cores", workload.Gt, "63", true}, {"cores", workload.Gt, "64", false}, {"cores", workload.Lt, "65", true}, {"cores", workload.Lt, "64", false},
		{"zone", workload.Gt, "0", false}, {"rack", workload.Lt, "5", false}, {"cores", workload.Gt, "many", false}, {"cores", 0, "64", false},
		{"cores", workload.Gt, "63 x", false}, {"cores", workload.Lt, "65 66", false},
	} {
		r := workload.LabelRequirement{Key: c.key, Operator: c.operator, Values: strings.Fields(c.values)}
		if got := r.Matches(labels); got != c.want {
			t.Errorf("%s %v %q: %v", c.key, c.operator, c.values, got)
		}
	}
}

// Kubernetes' Toleration.ToleratesTaint.
func TestTolerates(t *testing.T) {
	taint := workload.Taint{Key: "dedicated", Value: "ml", Effect: workload.NoExecute}
	for _, c := range []struct {
		toleration workload.Toleration
		want       bool
	}{
		{workload.Toleration{Key: "dedicated", Value: "ml"}, true},
		{workload.Toleration{Key: "dedicated", Value: "ml", Effect: workload.NoExecute}, true},
		{workload.Toleration{Key: "dedicated", Value: "ml", Effect: workload.NoSchedule}, false},
		{workload.Toleration{Key: "dedicated"}, false},
		{workload.Toleration{Key: "dedicated", Operator: workload.TolerationExists}, true},
		{workload.Toleration{Key: "spot", Operator: workload.TolerationExists}, false},
		{workload.Toleration{Operator: workload.TolerationExists}, true},
		{workload.Toleration{}, false},
	} {
		if got := c.toleration.Tolerates(&taint); got != c.want {
			t.Errorf("%+v: %v", c.toleration, got)
		}
	}
}

func TestNodeConstraintsValidate(t *testing.T) {
	one := func(key string, o workload.LabelOperator, values ...string) workload.NodeSelectorTerm {
		return workload.NodeSelectorTerm{MatchExpressions: []workload.LabelRequirement{{Key: key, Operator: o, Values: values}}}
	}
	w := workload.Workload{ID: "a", Queue: "q", PodSets: []workload.PodSet{{Name: "main", NodeConstraints: &workload.NodeConstraints{
		NodeSelector: map[string]string{"": "x"},
		NodeAffinity: []workload.NodeSelectorTerm{
			one("", workload.Exists), one("k", workload.In), one("k", workload.Exists, "v"), one("k", workload.Gt, "many"),
			one("k", workload.Lt), one("k", 9), one("k", workload.Gt, "-3"), {},
		},
		Tolerations: []workload.Toleration{{}, {Operator: 7, Effect: 8}},
	}}}}
	want := []string{
		`nodeSelector: has an empty key, with value "x"`, "nodeAffinity[0].matchExpressions[0].key: is empty",
		"nodeAffinity[1].matchExpressions[0].values: is empty", `nodeAffinity[2].matchExpressions[0].values: ["v"]`,
		`nodeAffinity[3].matchExpressions[0].values[0]: "many"`, "nodeAffinity[4].matchExpressions[0].values: []",
		"nodeAffinity[5].matchExpressions[0].operator: LabelOperator(9)",
		"tolerations[1].operator: TolerationOperator(7)", "tolerations[1].effect: TaintEffect(8)",
	}
	faults, _ := workload.Validate("w", &w).(fault.List)
	if len(faults) != len(want) {
		t.Fatalf("%d faults, want %d: %v", len(faults), len(want), faults)
	}
	for i, f := range faults {
		if got := f.Error(); !strings.HasPrefix(got, "w.podSets[0].nodeConstraints."+want[i]) || !strings.HasSuffix(got, `(workload "a")`) {
			t.Errorf("%s, want %s", got, want[i])
		}
	}
	for _, c := range []workload.NodeConstraints{
		{Tolerations: make([]workload.Toleration, workload.MaxNodeConstraints+1)},
		{NodeAffinity: make([]workload.NodeSelectorTerm, workload.MaxNodeConstraints+1)},
		{NodeAffinity: []workload.NodeSelectorTerm{one("k", workload.In, make([]string, workload.MaxNodeConstraints+1)...)}},
	} {
		if c.Validate("p") == nil {
			t.Error("too many, and no fault")
		}
	}
	// A term counts as one, and so does each requirement, or each of its values.
	most := one("k", workload.Exists)
	for range workload.MaxNodeConstraints - 2 {
		most.MatchExpressions = append(most.MatchExpressions, workload.LabelRequirement{Key: "k", Operator: workload.Exists})
	}
	all := workload.NodeConstraints{NodeAffinity: []workload.NodeSelectorTerm{most}}
	if err := all.Validate("p"); err != nil {
		t.Error(err)
	}
	if all.NodeAffinity[0].MatchExpressions[0] = one("k", workload.In, "a", "b").MatchExpressions[0]; all.Validate("p") == nil {
		t.Error("one value too many, and no fault")
	}
	if err := (*workload.NodeConstraints)(nil).Validate("p"); err != nil {
		t.Error(err)
	}
}

// Constraints read back as they are written, and a clone shares nothing.
func TestNodeConstraintsAreData(t *testing.T) {
	text := `{"name":"main","count":1,"requests":null,"nodeConstraints":{"nodeSelector":{"a":"b"},` +
		`"nodeAffinity":[{"matchExpressions":[{"key":"k","operator":"In","values":["v"]},{"key":"k","operator":"DoesNotExist"}]}],` +
		`"tolerations":[{"key":"t","value":"v"},{"operator":"Exists","effect":"NoExecute"}]}}`
	read := func() (p workload.PodSet) {
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := read()
	if again, err := json.Marshal(p); err != nil || string(again) != text {
		t.Errorf("%s %v", again, err)
	}
	w := workload.Workload{PodSets: []workload.PodSet{p}}
	c := w.Clone().PodSets[0].NodeConstraints
	c.NodeSelector["a"], c.Tolerations[0].Key, c.NodeAffinity[0].MatchExpressions[0].Values[0] = "x", "x", "x"
	c.NodeAffinity[0].MatchExpressions[1].Key = "x"
	if !reflect.DeepEqual(p, read()) {
		t.Errorf("a clone was changed, and so is %+v", p.NodeConstraints)
	}
}

// A pod set takes 96 bytes, as the allocator has it for 88: a caller holds one for each workload
// at least, and most have no constraints.
func TestPodSetIsSmall(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) == 8 && unsafe.Sizeof(workload.PodSet{}) > 96 {
		t.Errorf("%d bytes", unsafe.Sizeof(workload.PodSet{}))
	}
}
