package read

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/api"
	"github.com/cedesched/cede/examples/internal/fields"
)

var updateKubernetes = flag.Bool("update-kubernetes", false, "rewrite FIELDS.md of package kubernetes")

const headOfKubernetes = `# What becomes of each field of Kubernetes' objects

*read*: what the reader makes of it is right. *harmless*: no answer depends on it. *doubt*: an answer can
depend on it, and it is not modelled: the answers that it reaches are unknown and name it, until ` + "`-assume FIELD`" + ` accepts it;
a *doubt of yes* can only make a no of a yes. Null, false, 0, the empty text and the empty list are no doubt. A line stands for
all that is below its field, unless others go on from it. A field that is not here is a doubt. In mode in-place of ` + "`cede-nodes`" + `
kube-scheduler reads by itself, and this page is not about that. It is made of ` + "`fields.tsv`" + ` by
` + "`go test ./examples/internal/read -update-kubernetes`" + `.
`

// FIELDS.md is the table.
func TestFieldsOfKubernetesForPeople(t *testing.T) {
	const file = "../../bridge/kubernetes/FIELDS.md"
	page := headOfKubernetes + ofKubernetes.Markdown()
	if *updateKubernetes {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != page {
		t.Errorf("%s is not what the table says: run with -update-kubernetes (%v)", file, err)
	}
}

// The table has each field of the API.
func TestFieldsOfKubernetesAreAll(t *testing.T) {
	for _, kind := range ofKubernetes.Kinds() {
		name := kind
		switch kind {
		case "*":
			continue
		case "PodGroup":
			name = "scheduling.PodGroup"
		case "ResourceClaim":
			name = "resource.ResourceClaim"
		}
		paths := api.Paths(name)
		if len(paths) == 0 {
			t.Errorf("the API has no kind %s", kind)
		}
		for _, path := range paths {
			for _, stage := range stagesOf(kind) {
				if !knows(stage, path) {
					t.Errorf("%s: %s is not in the table", stage, path)
				}
			}
		}
	}
}

func stagesOf(kind string) []string {
	if kind == "Pod" {
		return []string{"Pod/waits", "Pod/runs"}
	}
	return []string{kind}
}

// knows reports whether a line stands for a field, given without brackets.
func knows(kind, path string) bool {
	tried := []string{path}
	steps := strings.Split(path, ".")
	for n := range 1 << min(len(steps)-1, 8) { // lists are not marked in the path
		one := steps[0]
		for i, step := range steps[1:] {
			if i < 8 && n&(1<<i) != 0 {
				one += "[]"
			}
			one += "." + step
		}
		tried = append(tried, one)
	}
	return slices.ContainsFunc(tried, func(path string) bool { return ofKubernetes.Of(kind, path) != nil || ofKubernetes.HasBelow(kind, path) })
}

// spared are fields that decide in Kubernetes and are harmless here, though their effect is that of the list: the table says why.
var spared = []string{"timing", "ordering"}

// Fields that decide in Kubernetes, by a list that was made of its code, are read or doubted, or the table says why not.
func TestFieldsOfKubernetesByTheirEffect(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../../../shared/fields/kubernetes.tsv"))
	if err != nil {
		t.Skip("the list of fields is not beside this checkout")
	}
	decide, harmless := 0, 0
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		cells := strings.Split(line, "\t")
		kind, path, class := cells[1], strings.NewReplacer("{}", "", ".*", "").Replace(cells[2]), cells[6]
		if !slices.Contains(ofKubernetes.Kinds(), kind) || slices.Contains([]string{"none", "display"}, class) || slices.Contains(spared, class) {
			continue
		}
		decide++
		known, only := false, true
		for _, stage := range stagesOf(kind) {
			row := ofKubernetes.Of(stage, strings.TrimSuffix(path, "[]"))
			known = known || row != nil || ofKubernetes.HasBelow(stage, path)
			only = only && row != nil && row.Verdict == fields.Harmless
		}
		if !known {
			t.Errorf("%s: %s is not in the table", kind, path)
		}
		if only {
			harmless++
			t.Logf("%s: %s is harmless here; by the list: %s", kind, path, cells[7])
		}
	}
	if decide < 200 || harmless > 75 {
		t.Errorf("%d fields decide, %d of them are harmless here", decide, harmless)
	}
}

// Labels and annotations that decide in Kubernetes are read or doubted, but for those that something else than the scheduler reads.
func TestLabelsOfKubernetesByTheirEffect(t *testing.T) {
	others := map[string]string{
		"controller.kubernetes.io/pod-deletion-cost":         "its ReplicaSet alone reads it",
		"kubernetes.io/config.mirror":                        "a static pod is known by its owner, which is its node",
		"kubernetes.io/config.source":                        "the same",
		"resource.kubernetes.io/extended-resource-claim":     "the status of the claim says who has it",
		"resource.kubernetes.io/pod-claim-name":              "the pod names its claim",
		"scheduler.alpha.kubernetes.io/defaultTolerations":   "the API server writes what comes of it into the pod",
		"scheduler.alpha.kubernetes.io/node-selector":        "the same",
		"scheduler.alpha.kubernetes.io/tolerationsWhitelist": "the same",
	}
	decide := 0
	for _, r := range shared(t, "kubernetes-labels.tsv") {
		part := map[string]string{"label": "labels", "annotation": "annotations"}[r["form"]]
		if part == "" || r["class"] == "none" || r["class"] == "display" {
			continue
		}
		for _, kind := range strings.Split(r["object"], ", ") {
			if !slices.Contains(ofKubernetes.Kinds(), kind) {
				continue
			}
			decide++
			for _, stage := range stagesOf(kind) {
				row := ofKubernetes.Of(stage, "metadata."+part+"["+r["key"]+"]")
				if harmless := row != nil && row.Verdict == fields.Harmless; row == nil || harmless == (others[r["key"]] == "") {
					t.Errorf("%s: %s %s is %+v; by the list: %s", stage, r["form"], r["key"], row, r["effect"])
				}
			}
		}
	}
	if decide < 20 {
		t.Errorf("only %d decide", decide)
	}
}
