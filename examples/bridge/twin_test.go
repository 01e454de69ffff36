package bridge_test

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	podresource "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// What a bridge computes itself, Kubernetes computes too: the tests ask both. (Only tests import
// k8s.io: see TestNoKubernetesImported.)

var (
	aNumber = rapid.OneOf(
		rapid.SampledFrom([]string{"0", "1", "9", "00", "007", "1000", "999999999999999999", "9223372036854775807", "9223372036854775808", "12345678901234567890"}),
		rapid.StringMatching(`[0-9]{1,20}`))
	aFraction = rapid.OneOf(rapid.Just(""), rapid.SampledFrom([]string{".", ".5", ".000000001", ".0000000001", ".9999999999"}), rapid.StringMatching(`\.[0-9]{0,12}`))
	aSuffix   = rapid.SampledFrom([]string{"", "", "n", "u", "m", "k", "K", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-3", "E5", "e+9", "e-12", "e18", "e", "mi", "ki", "x", "e1.5", " "})
	aQuantity = rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "", "-", "+"}).Draw(t, "sign") + aNumber.Draw(t, "number") + aFraction.Draw(t, "fraction") + aSuffix.Draw(t, "suffix")
	})
)

// amountOf is what Kubernetes makes of a quantity: its own conversions wrap, so the ends are
// compared.
func amountOf(name string, q resource.Quantity) int64 {
	most, least := resource.NewQuantity(math.MaxInt64, resource.DecimalSI), resource.NewQuantity(math.MinInt64, resource.DecimalSI)
	if name == "cpu" {
		most, least = resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI), resource.NewMilliQuantity(math.MinInt64, resource.DecimalSI)
	}
	switch {
	case q.Cmp(*most) >= 0:
		return math.MaxInt64
	case q.Cmp(*least) <= 0:
		return math.MinInt64
	case name == "cpu":
		return q.MilliValue()
	}
	return q.Value()
}

func TestQuantityAgreesWithKubernetes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := aQuantity.Draw(t, "text")
		got, err := bridge.ParseQuantity(text)
		want, wantErr := resource.ParseQuantity(text)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, Kubernetes: %v", text, err, wantErr)
		}
		if err != nil {
			return
		}
		if negative, ok := strings.CutPrefix(text, "-"); ok { // the conversions of Kubernetes are wrong below zero
			mirror, err := bridge.ParseQuantity(negative)
			for _, name := range []string{"cpu", "memory"} {
				if g, w := got.Amount(name), -mirror.Amount(name); err != nil || g != w && (g != math.MinInt64 || w != -math.MaxInt64) {
					t.Fatalf("%q of %s: %d, want %d", text, name, g, w)
				}
			}
			return
		}
		for _, name := range []string{"cpu", "memory"} {
			if g, w := got.Amount(name), amountOf(name, want); g != w {
				t.Fatalf("%q of %s: %d, Kubernetes: %d", text, name, g, w)
			}
		}
		if g, w := got.Float64(), want.AsApproximateFloat64(); math.Abs(w) < 1<<62 && math.Abs(g-w) > 1e-8+math.Abs(w)*1e-12 {
			t.Fatalf("%q: %v, Kubernetes: %v", text, g, w)
		}
		data, err := json.Marshal(got)
		var again bridge.Quantity
		if err != nil || json.Unmarshal(data, &again) != nil || again != got {
			t.Fatalf("%q is written as %s and read as %v", text, data, again)
		}
		other := bridge.Milli(rapid.Int64Range(0, 5000).Draw(t, "other"))
		sum := want.DeepCopy()
		sum.Add(resource.MustParse(other.String()))
		if g, w := got.Add(other).Amount("cpu"), amountOf("cpu", sum); g != w {
			t.Fatalf("%q + %v: %d, Kubernetes: %d", text, other, g, w)
		}
	})
}

// A quantity in JSON is a string or a number, as API servers write and take it.
func TestQuantityInJSON(t *testing.T) {
	for text, want := range map[string]bridge.Quantity{
		`"500m"`: bridge.Milli(500), `8`: bridge.Units(8), `1.5`: bridge.Milli(1500), `" 64Ki "`: bridge.Units(64 << 10), `"0"`: {}, `1e3`: bridge.Units(1000),
	} {
		var got bridge.Quantity
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{`""`, `"four"`, `{}`, `[]`, `true`, `null`, `"1e1000000000"`, `1e999`, `"-1"`, `-1`, `"-1m"`, `"m"`, `"."`, `"1` + strings.Repeat("0", 70) + `"`} {
		var got bridge.Quantity
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

var (
	aResource     = rapid.SampledFrom([]string{"cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi"})
	aResourceList = rapid.OneOf(rapid.Just[bridge.ResourceList](nil), rapid.Custom(func(t *rapid.T) bridge.ResourceList {
		return rapid.MapOfN(aResource, rapid.Custom(func(t *rapid.T) bridge.Quantity { return bridge.Milli(rapid.Int64Range(0, 5000).Draw(t, "milli")) }), 0, 3).Draw(t, "list")
	}))
	aName      = rapid.SampledFrom([]string{"a", "b", "c"})
	aContainer = rapid.Custom(func(t *rapid.T) bridge.Container {
		return bridge.Container{
			Name: aName.Draw(t, "name"), RestartPolicy: rapid.SampledFrom([]string{"", "Always", "Never"}).Draw(t, "restart"),
			Resources: bridge.Resources{Requests: aResourceList.Draw(t, "requests"), Limits: aResourceList.Draw(t, "limits")},
		}
	})
	aContainerStatus = rapid.Custom(func(t *rapid.T) bridge.ContainerStatus {
		s := bridge.ContainerStatus{Name: aName.Draw(t, "name"), AllocatedResources: aResourceList.Draw(t, "allocated")}
		if rapid.Bool().Draw(t, "has resources") {
			s.Resources = &bridge.Resources{Requests: aResourceList.Draw(t, "requests")}
		}
		return s
	})
)

func coreList(in bridge.ResourceList) corev1.ResourceList {
	if in == nil {
		return nil
	}
	out := corev1.ResourceList{}
	for name, q := range in {
		out[corev1.ResourceName(name)] = resource.MustParse(q.String())
	}
	return out
}

// coreContainers defaults requests to limits, as the API server does.
func coreContainers(in []bridge.Container) (out []corev1.Container) {
	for _, c := range in {
		one := corev1.Container{Name: c.Name, Resources: corev1.ResourceRequirements{Requests: coreList(c.Resources.Requests), Limits: coreList(c.Resources.Limits)}}
		if c.RestartPolicy != "" {
			policy := corev1.ContainerRestartPolicy(c.RestartPolicy)
			one.RestartPolicy = &policy
		}
		for name, limit := range one.Resources.Limits {
			if _, ok := one.Resources.Requests[name]; !ok {
				if one.Resources.Requests == nil {
					one.Resources.Requests = corev1.ResourceList{}
				}
				one.Resources.Requests[name] = limit
			}
		}
		out = append(out, one)
	}
	return out
}

func coreStatuses(in []bridge.ContainerStatus) (out []corev1.ContainerStatus) {
	for _, c := range in {
		one := corev1.ContainerStatus{Name: c.Name, AllocatedResources: coreList(c.AllocatedResources)}
		if c.Resources != nil {
			one.Resources = &corev1.ResourceRequirements{Requests: coreList(c.Resources.Requests)}
		}
		out = append(out, one)
	}
	return out
}

func TestRequestsAgreeWithKubernetes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := bridge.PodSpec{
			Containers:     rapid.SliceOfN(aContainer, 0, 3).Draw(t, "containers"),
			InitContainers: rapid.SliceOfN(aContainer, 0, 3).Draw(t, "init"),
			Overhead:       aResourceList.Draw(t, "overhead"),
		}
		pod := corev1.Pod{Spec: corev1.PodSpec{
			Containers: coreContainers(spec.Containers), InitContainers: coreContainers(spec.InitContainers), Overhead: coreList(spec.Overhead),
		}}
		if rapid.Bool().Draw(t, "of the pod") {
			spec.Resources = &bridge.Resources{Requests: aResourceList.Draw(t, "pod requests"), Limits: aResourceList.Draw(t, "pod limits")}
			pod.Spec.Resources = &corev1.ResourceRequirements{Requests: coreList(spec.Resources.Requests), Limits: coreList(spec.Resources.Limits)}
		}
		var status *bridge.PodStatus
		if rapid.Bool().Draw(t, "has status") {
			status = &bridge.PodStatus{
				ContainerStatuses:     rapid.SliceOfN(aContainerStatus, 0, 3).Draw(t, "statuses"),
				InitContainerStatuses: rapid.SliceOfN(aContainerStatus, 0, 3).Draw(t, "init statuses"),
			}
			if rapid.Bool().Draw(t, "resizes") {
				c := bridge.PodCondition{Type: "PodResizePending", Reason: rapid.SampledFrom([]string{"Infeasible", "Deferred"}).Draw(t, "reason")}
				status.Conditions = append(status.Conditions, c)
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodConditionType(c.Type), Reason: c.Reason}}
			}
			pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = coreStatuses(status.ContainerStatuses), coreStatuses(status.InitContainerStatuses)
		}
		before, _ := json.Marshal(spec)
		var want []quota.Amount
		total := podresource.PodRequests(&pod, podresource.PodResourcesOptions{UseStatusResources: status != nil})
		for _, name := range slices.Sorted(maps.Keys(total)) {
			want = append(want, quota.Amount{Resource: string(name), Amount: amountOf(string(name), total[name])})
		}
		if diff := cmp.Diff(want, spec.Requests(status)); diff != "" {
			t.Fatalf("-Kubernetes +bridge:\n%s", diff)
		}
		if after, _ := json.Marshal(spec); string(after) != string(before) {
			t.Fatalf("the spec was changed:\n%s\n%s", before, after)
		}
	})
}

var (
	aKey   = rapid.SampledFrom([]string{"zone", "cores", "metadata.name"})
	aValue = rapid.SampledFrom([]string{"", "a", "b", "5", "7", "-3", "07", "+5", "-0"})
)

func TestTolerationsAgreeWithKubernetes(t *testing.T) {
	effect := rapid.SampledFrom([]string{"", "NoSchedule", "NoExecute"})
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"", "zone", "cores"})
		one := bridge.Toleration{Key: key.Draw(t, "key"), Operator: rapid.SampledFrom([]string{"", "Equal", "Exists", "Gt", "Lt", "Gt", "Lt", "Near"}).Draw(t, "operator"),
			Value: aValue.Draw(t, "value"), Effect: effect.Draw(t, "effect")}
		taint := bridge.Taint{Key: key.Draw(t, "taint"), Value: aValue.Draw(t, "its value"), Effect: effect.Draw(t, "its effect")}
		core := corev1.Toleration{Key: one.Key, Operator: corev1.TolerationOperator(one.Operator), Value: one.Value, Effect: corev1.TaintEffect(one.Effect)}
		want := core.ToleratesTaint(klog.Logger{}, &corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)}, true)
		if got := one.Tolerates(taint); got != want {
			t.Fatalf("%+v of %+v: %v, Kubernetes: %v", one, taint, got, want)
		}
	})
}

// aRequirement is valid mostly.
func aRequirement(operators ...workload.LabelOperator) *rapid.Generator[bridge.Requirement] {
	return rapid.Custom(func(t *rapid.T) bridge.Requirement {
		r := bridge.Requirement{Key: aKey.Draw(t, "key"), Operator: rapid.SampledFrom(operators).Draw(t, "operator")}
		n := map[workload.LabelOperator]int{workload.In: 2, workload.NotIn: 1, workload.Gt: 1, workload.Lt: 1}[r.Operator]
		if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
			n = rapid.IntRange(0, 2).Draw(t, "n")
		}
		r.Values = rapid.SliceOfN(aValue, n, n).Draw(t, "values")
		return r
	})
}

func coreRequirements(in []bridge.Requirement) (out []corev1.NodeSelectorRequirement) {
	for _, r := range in {
		out = append(out, corev1.NodeSelectorRequirement{Key: r.Key, Operator: corev1.NodeSelectorOperator(r.Operator.String()), Values: r.Values})
	}
	return out
}

func TestNodeAffinityAgreesWithKubernetes(t *testing.T) {
	field := rapid.Custom(func(t *rapid.T) bridge.Requirement {
		return bridge.Requirement{Key: "metadata.name", Operator: rapid.SampledFrom([]workload.LabelOperator{workload.In, workload.NotIn, workload.Exists}).Draw(t, "operator"),
			Values: rapid.SliceOfN(rapid.SampledFrom([]string{"n", "m"}), 0, 2).Draw(t, "values")}
	})
	rapid.Check(t, func(t *rapid.T) {
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: rapid.MapOfN(aKey, aValue, 0, 3).Draw(t, "labels")}}
		spec := bridge.PodSpec{NodeSelector: rapid.MapOfN(aKey, aValue, 0, 1).Draw(t, "selector")}
		var affinity *corev1.Affinity
		if rapid.Bool().Draw(t, "affinity") {
			required := new(bridge.NodeSelector)
			core := new(corev1.NodeSelector)
			for range rapid.IntRange(0, 3).Draw(t, "terms") {
				term := bridge.NodeSelectorTerm{
					MatchExpressions: rapid.SliceOfN(aRequirement(workload.In, workload.NotIn, workload.Exists, workload.DoesNotExist, workload.Gt, workload.Lt), 0, 2).Draw(t, "expressions"),
					MatchFields:      rapid.SliceOfN(field, 0, 1).Draw(t, "fields"),
				}
				required.Terms = append(required.Terms, term)
				core.NodeSelectorTerms = append(core.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: coreRequirements(term.MatchExpressions), MatchFields: coreRequirements(term.MatchFields)})
			}
			spec.Affinity = &bridge.Affinity{NodeAffinity: &bridge.NodeAffinity{Required: required}}
			affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: core}}
		}
		want, wantErr := nodeaffinity.NewRequiredNodeAffinity(spec.NodeSelector, affinity).Match(&node)
		got, err := spec.SuitsNode("n", node.Labels)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Fatalf("%+v: %v, %v; Kubernetes: %v, %v", spec.Affinity, got, err, want, wantErr)
		}
	})
}

func TestSelectorAgreesWithKubernetes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var selector *bridge.LabelSelector
		var core *metav1.LabelSelector
		if rapid.IntRange(0, 5).Draw(t, "nil") > 0 {
			selector = &bridge.LabelSelector{
				MatchLabels:      rapid.MapOfN(aKey, aValue, 0, 2).Draw(t, "labels"),
				MatchExpressions: rapid.SliceOfN(aRequirement(workload.In, workload.NotIn, workload.Exists, workload.DoesNotExist, workload.Gt), 0, 2).Draw(t, "expressions"),
			}
			core = &metav1.LabelSelector{MatchLabels: selector.MatchLabels}
			for _, r := range selector.MatchExpressions {
				core.MatchExpressions = append(core.MatchExpressions, metav1.LabelSelectorRequirement{Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator.String()), Values: r.Values})
			}
		}
		want, wantErr := metav1.LabelSelectorAsSelector(core)
		if err := bridge.ValidateSelector("selector", selector); (err == nil) != (wantErr == nil) {
			t.Fatalf("%+v: %v, Kubernetes: %v", selector, err, wantErr)
		} else if err != nil {
			return
		}
		of := rapid.MapOfN(aKey, aValue, 0, 3).Draw(t, "of")
		if got, want := selector.Matches(of), want.Matches(labels.Set(of)); got != want {
			t.Fatalf("%v of %v: %v, Kubernetes: %v", selector, of, got, want)
		}
		if bridge.SelectsAll(selector) != want.Empty() && core != nil {
			t.Fatalf("%v: empty is %v", selector, bridge.SelectsAll(selector))
		}
		if core != nil && !bridge.SelectsAll(selector) && !sameParts(bridge.SelectorText(selector), metav1.FormatLabelSelector(core)) {
			t.Fatalf("%q, Kubernetes: %q", selector, metav1.FormatLabelSelector(core))
		}
	})
}

// sameParts compares two texts whatever the order of the requirements of one key.
func sameParts(a, b string) bool {
	x, y := strings.Split(a, ","), strings.Split(b, ",")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
