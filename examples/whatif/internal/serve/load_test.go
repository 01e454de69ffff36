package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

// 16 clients ask at once, over connections that stay, about 50,000 workloads in 500 queues.
func BenchmarkLoad(b *testing.B) {
	world := scenario.World{ID: "load", Queues: 500, Group: 10, Each: 100}
	snapshot, err := preemption.NewSnapshot(world.State())
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(of(snapshot, Options{}))
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var bodies [][]byte
	for _, s := range world.Scenarios() {
		body, err := json.Marshal(map[string]any{"request": s.Request})
		if err != nil {
			b.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	var mu sync.Mutex
	var took []time.Duration
	var clients sync.WaitGroup
	next := make(chan int)
	for range 16 {
		clients.Go(func() {
			for i := range next {
				began := time.Now()
				answer, err := client.Post(server.URL+"/v1/decide", "application/json", bytes.NewReader(bodies[i%len(bodies)]))
				if err != nil {
					b.Error(err)
					continue
				}
				_, err = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				d := time.Since(began)
				if mu.Lock(); err != nil || answer.StatusCode != http.StatusOK {
					b.Errorf("status %d, %v", answer.StatusCode, err)
				}
				took = append(took, d)
				mu.Unlock()
			}
		})
	}
	b.ResetTimer()
	for i := range b.N {
		next <- i
	}
	close(next)
	clients.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e6, "median-ms")
	b.ReportMetric(float64(took[(len(took)-1)*99/100])/1e6, "p99-ms")
}
