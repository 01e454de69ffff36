package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubetest "k8s.io/client-go/testing"
)

// fakeServer is a cluster with objects of Kueue, and without rules and limits. What it may not list is forbidden.
func fakeServer(t *testing.T, objects string, missing, forbidden string) (*dynamicfake.FakeDynamicClient, func(string) (dynamic.Interface, error)) {
	t.Helper()
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(objects), &list); err != nil {
		t.Fatal(err)
	}
	var all []runtime.Object
	for _, item := range list.Items {
		item["apiVersion"] = ofKueue[0].String()
		all = append(all, &unstructured.Unstructured{Object: item})
	}
	kinds := map[schema.GroupVersionResource]string{}
	for _, r := range slices.Concat(followed, placed, ofManagers, listedOfKAI[:1]) {
		for _, v := range r.versions {
			kinds[v.WithResource(r.name)] = "List"
		}
	}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, all...)
	client.PrependReactor("list", "*", func(a kubetest.Action) (bool, runtime.Object, error) {
		r := a.GetResource()
		switch name := r.GroupResource(); {
		case strings.HasPrefix(r.Resource, "preemption") || r.Resource == missing:
			return true, nil, apierrors.NewNotFound(name, "")
		case r.Resource == "cohorts" && r.Version != "v1alpha1": // an older Kueue
			return true, nil, apierrors.NewNotFound(name, "")
		case r.Resource == forbidden:
			return true, nil, apierrors.NewForbidden(name, "", errors.New("not you"))
		}
		return false, nil, nil
	})
	return client, func(string) (dynamic.Interface, error) { return client, nil }
}

func whyStatus(t *testing.T, url, id string) (int, string) {
	t.Helper()
	return get(t, url+"/v1/workloads/"+id+"/why", "")
}

// With -live each change of a cluster of Kueue is followed: a workload that comes, one that goes, another quota. What
// is answered then is what the command answers about the objects as they are.
func TestServeFollows(t *testing.T) {
	client, connect := fakeServer(t, smallCluster, "", "")
	url, stderr := connected(t, connect, "serve", "-live")
	if status, got := whyStatus(t, url, "a/next"); status != http.StatusOK || !strings.Contains(got, "a/runs") {
		t.Fatalf("status %d: %s", status, got)
	}
	until(t, stderr, "all is watched", func() bool {
		watched := 0
		for _, a := range client.Actions() {
			if a.GetVerb() == "watch" {
				watched++
			}
		}
		return watched == len(followed)-2 // the server has no rules and limits
	})
	workloads := client.Resource(ofKueue[0].WithResource("workloads")).Namespace("a")
	next := must(workloads.Get(t.Context(), "next", meta.GetOptions{}))(t)
	later := next.DeepCopy()
	later.SetName("later")
	if _, err := workloads.Create(t.Context(), later, meta.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, stderr, "a workload comes", func() bool {
		status, _ := whyStatus(t, url, "a/later")
		return status == http.StatusOK
	})
	if err := workloads.Delete(t.Context(), "next", meta.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, stderr, "a workload goes", func() bool {
		status, _ := whyStatus(t, url, "a/next")
		return status == http.StatusNotFound
	})
	queues := client.Resource(ofKueue[0].WithResource("clusterqueues"))
	vision := must(queues.Get(t.Context(), "vision", meta.GetOptions{}))(t)
	changed, _ := json.Marshal(vision)
	if err := json.Unmarshal([]byte(strings.Replace(string(changed), `"nominalQuota":"4"`, `"nominalQuota":"8"`, 1)), vision); err != nil {
		t.Fatal(err)
	}
	if _, err := queues.Update(t.Context(), vision, meta.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	answer := ""
	until(t, stderr, "a quota grows", func() bool {
		_, answer = whyStatus(t, url, "a/later")
		return !strings.Contains(answer, "a/runs")
	})
	now := strings.NewReplacer(`"next"`, `"later"`, `"nominalQuota":"4"`, `"nominalQuota":"8"`).Replace(smallCluster)
	file := filepath.Join(t.TempDir(), "now.json")
	if err := os.WriteFile(file, []byte(now), 0o600); err != nil {
		t.Fatal(err)
	}
	again, _ := served(t, "-f", file)
	if _, want := whyStatus(t, again, "a/later"); want != answer {
		t.Errorf("followed:\n%s\nread at once:\n%s", answer, want)
	}
	if got := stderr.String(); got != "" {
		t.Errorf("it says %q", got)
	}
}

// What must be there and is not, or may not be read, is an error; what need not be there is a note.
func TestServeFollowsNot(t *testing.T) {
	type dial = func(string) (dynamic.Interface, error)
	but := func(missing, forbidden string) dial {
		_, connect := fakeServer(t, smallCluster, missing, forbidden)
		return connect
	}
	for want, connect := range map[string]dial{
		"no configuration":                  func(string) (dynamic.Interface, error) { return nil, errors.New("no configuration") },
		"the server has no workloads.kueue": but("workloads", ""),
		"is forbidden: not you":             but("", "workloads"),
	} {
		var stderr output
		status := run([]string{"serve", "-live", "-addr", "127.0.0.1:0"}, stdio{out: new(output), err: &stderr, name: "whatif", clock: noon, connect: connect})
		if got := stderr.String(); status != 2 || !strings.Contains(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("status %d, %q, want %q", status, got, want)
		}
	}
	url, stderr := connected(t, but("", "namespaces"), "serve", "-live")
	until(t, stderr, "a note", func() bool {
		_, got := whyStatus(t, url, "a/next")
		return strings.Contains(got, "namespaces were not read")
	})
}
