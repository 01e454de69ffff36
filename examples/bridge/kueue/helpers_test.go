package kueue_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/read"
)

// item is an object of the newest version; rest is what follows the metadata.
func item(kind, id, rest string) string { return itemOf("kueue.x-k8s.io/v1beta2", kind, id, rest) }

func itemOf(apiVersion, kind, id, rest string) string {
	namespace, name, ok := strings.Cut(id, "/")
	if !ok {
		namespace, name = "", id
	}
	if rest != "" {
		rest = "," + rest
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":%q,"uid":"uid-%s",
		"creationTimestamp":"2026-05-04T08:00:00Z"}%s}`, apiVersion, kind, name, namespace, name, rest)
}

func list(items ...string) string {
	return `{"apiVersion":"v1","items":[` + strings.Join(items, ",") + `],"kind":"List"}`
}

func mustRead(t *testing.T, text string) read.Cluster {
	t.Helper()
	c, err := read.OfKueue(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// at is a time of the day on which the fixtures live.
func at(t *testing.T, clock string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, "2026-05-04T"+clock+"Z")
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// gpuQueue is a queue with n GPUs and nothing else.
func gpuQueue(name string, gpus int) string {
	return item("ClusterQueue", name, fmt.Sprintf(`"spec":{"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],
		"flavors":[{"name":"h100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"%d"}]}]}]}`, gpus))
}

// conditions is the field of a status.
func conditions(texts ...string) string {
	var all []string
	for _, text := range texts { // "Type Reason clock"
		f := strings.Fields(text)
		all = append(all, fmt.Sprintf(`{"type":%q,"status":"True","reason":%q,"message":"",
			"lastTransitionTime":"2026-05-04T%sZ"}`, f[0], f[1], f[2]))
	}
	return `"conditions":[` + strings.Join(all, ",") + `]`
}

// amount is that of a quantity of a resource.
func amount(resource, text string) (int64, error) {
	q, err := bridge.ParseQuantity(text)
	return q.Amount(resource), err
}
