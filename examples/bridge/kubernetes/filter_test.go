package kubernetes_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// The filter keeps the laws, whatever pods it was made for.
func TestFilterIsLawful(t *testing.T) {
	for _, topology := range []string{"kubernetes.io/hostname", "zone"} {
		var o read.Kubernetes
		_, err := input.Read([]input.Source{{Name: "test", Reader: strings.NewReader(strings.ReplaceAll(`{"kind":"List","items":[
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n0","labels":{"zone":"a"}}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"zone":"a"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p00","namespace":"ns"},"spec":{"containers":[{"ports":[{"hostPort":80}]}],
"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"TOPOLOGY","labelSelector":{"matchLabels":{"app":"db"}}}]}}}}]}`, "TOPOLOGY", topology))}}, input.Options{}, o.Add)
		if err != nil {
			t.Fatal(err)
		}
		f, notes := o.Filter()
		if notes != nil || f == nil {
			t.Fatal(f, notes)
		}
		f.As("p00", "ns/p00")
		f.As("in0", "ns/p00")
		rapid.Check(t, func(t *rapid.T) { preemptiontest.CheckFilter(t, f) })
	}
}
