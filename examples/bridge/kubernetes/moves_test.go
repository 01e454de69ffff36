package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cedesched/cede/examples/bridge/kubernetes"
)

// A running pod may go where one that waits with the same spec may run. Pods that nothing creates again elsewhere stay.
func TestWhereRunningPodsMayGo(t *testing.T) {
	const job = `"ownerReferences":[{"kind":"Node"},{"kind":"Job","controller":true}]`
	for name, c := range map[string]struct{ metadata, spec, want string }{
		"anywhere":        {job, `"tolerations":[{"operator":"Exists"}]`, "[] false"},
		"a taint":         {job, ``, "[a b] false"},
		"a selector":      {job, `"nodeSelector":{"pool":"x"}`, "[b] false"},
		"no node":         {job, `"nodeSelector":{"pool":"y"}`, "[] true"},
		"an affinity":     {job, `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]}]}]}}}`, "[a] false"},
		"not valid":       {job, `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In"}]}]}}}`, "[] true"},
		"a volume":        {job, `"volumes":[{"persistentVolumeClaim":{}}]`, "[] true"},
		"of a daemon set": {`"ownerReferences":[{"kind":"DaemonSet","controller":true}]`, ``, "[] true"},
		"a static pod":    {`"ownerReferences":[{"kind":"Node","controller":true}]`, ``, "[] true"},
		"without owner":   {`"labels":{}`, ``, "[] true"},
		"no controller":   {`"ownerReferences":[{"kind":"Job"}]`, ``, "[] true"},
	} {
		var objects kubernetes.Objects
		add := func(o kubernetes.Object, text string) {
			if err := json.Unmarshal([]byte(text), o); err != nil {
				t.Fatal(name, err)
			}
			objects.Add(o)
		}
		add(new(kubernetes.Node), `{"metadata":{"name":"a"}}`)
		add(new(kubernetes.Node), `{"metadata":{"name":"b","labels":{"pool":"x"}}}`)
		add(new(kubernetes.Node), `{"metadata":{"name":"c","labels":{"pool":"x"}},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}`)
		if c.spec != "" {
			c.spec = "," + c.spec
		}
		for _, id := range []string{"p", "q"} { // the second has the list of the first
			add(new(kubernetes.Pod), fmt.Sprintf(`{"metadata":{"name":%q,%s},"spec":{"nodeName":"c","containers":[{}]%s}}`, id, c.metadata, c.spec))
		}
		cluster := objects.Cluster()
		for _, p := range cluster.State.Pods {
			if got := fmt.Sprint(p.Nodes, p.Nowhere); got != c.want {
				t.Errorf("%s: pod %s: %s, want %s", name, p.ID, got, c.want)
			}
		}
	}
}
