package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// From start to answer, in mode in-place.
func BenchmarkInPlace(b *testing.B) {
	for _, size := range [][2]int{{1000, 20_000}, {5000, 85_000}} {
		file := filepath.Join(b.TempDir(), "cluster.json")
		writeFleet(b, file, size[0], size[1])
		b.Run(fmt.Sprintf("nodes=%d/pods=%d", size[0], size[1]), func(b *testing.B) {
			for b.Loop() {
				if status, stdout, stderr := call(nil, "-f", file, "-mode", "in-place", "-pod", "ml/asks"); status != 0 || !strings.Contains(stdout, "once") {
					b.Fatal(status, stdout, stderr)
				}
			}
		})
	}
}

// writeFleet writes a full cluster, and a pod that must preempt.
func writeFleet(b *testing.B, name string, nodes, pods int) {
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for i := range nodes {
		fmt.Fprintf(f, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"ip-10-%d-%d-17.eu-central-1.compute.internal","labels":{"kubernetes.io/hostname":"%d","zone":"%d"}},`+
			`"status":{"allocatable":{"cpu":"96","memory":"760Gi","pods":"110"}}}`+"\n", i/250, i%250, i, i%3)
	}
	each := pods / nodes
	for i := range pods {
		fmt.Fprintf(f, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"worker-%d-7f9c8d","namespace":"team-%d","uid":"u%d","labels":{"app":"app-%d"},`+
			`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"worker","uid":"r","controller":true}]},"spec":{"nodeName":"ip-10-%d-%d-17.eu-central-1.compute.internal",`+
			`"priority":%d,"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],`+
			`"containers":[{"name":"main","image":"registry.example/team/image:v1","resources":{"requests":{"cpu":"%dm","memory":"2Gi"},"limits":{"memory":"4Gi"}}}]},`+
			`"status":{"phase":"Running","startTime":"2026-11-20T12:00:%02dZ","conditions":[{"type":"Ready","status":"True"}]}}`+"\n",
			i, i%40, i, i%300, i/each/250, i/each%250, i%4*300, 95_500/each, i%60)
	}
	fmt.Fprintln(f, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"asks","namespace":"ml"},"spec":{"priority":700,"containers":[{"name":"main","image":"x","resources":{"requests":{"cpu":"8"}}}]}}`)
}
