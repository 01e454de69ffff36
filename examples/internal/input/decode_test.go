package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	v2 "github.com/go-json-experiment/json"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/mutate"
)

// all is what objects are read into.
type all struct {
	Metadata bridge.Metadata            `json:"metadata"`
	Workload struct{ kueue.Workload }   `json:"workload"`
	Queue    *kueue.ClusterQueue        `json:"queue"`
	Pod      kubernetes.Pod             `json:"pod"`
	Group    kai.PodGroup               `json:"group"`
	Raw      json.RawMessage            `json:"raw"`
	Spec     kueue.WorkloadSpec         `json:"spec"`
	Status   kueue.WorkloadStatus       `json:"status"`
	Items    []all                      `json:"items"`
	Amounts  map[string]bridge.Quantity `json:"amounts"`
}

// agree checks that what encoding/json reads is read, in the same way. isFast: without it.
func agree(t *testing.T, data []byte) (isFast bool) {
	t.Helper()
	var got, want all
	err, wantErr := Unmarshal(data, &got), json.Unmarshal(data, &want)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(got, want) {
		t.Errorf("%.300q:\n%+v, %v\nencoding/json:\n%+v, %v", data, got, err, want, wantErr)
	}
	return v2.Unmarshal(data, new(all), asV1) == nil
}

// Where the next encoding/json differs from that of today, today's counts.
func TestReadsAsEncodingJSON(t *testing.T) {
	for text, isFast := range map[string]bool{
		`{"METADATA":{"Name":"a","nameSpace":"b"}}`:                           true,
		`{"meta_data":{"name":"a"}}`:                                          true,
		`{"metadata":{"name":"a","name":null,"labels":{"x":"1"}}}`:            true,
		`{"metadata":{"labels":{"x":"1","y":null}},"metadata":{"name":"a"}}`:  true,
		`{"metadata":null,"queue":null,"items":null,"raw":null}`:              true,
		`{"queue":{"spec":{"cohort":"a"}},"queue":{"metadata":{"name":"b"}}}`: true,
		`{"queue":{"spec":{"cohort":"a"}},"queue":null}`:                      true,
		`{"items":[{"spec":{"priority":7}}],"items":[{}]}`:                    true,
		"{\"metadata\":{\"name\":\"a\xffb\\ud800c\"}}":                        true,
		`{"metadata":{"creationTimestamp":"2026-11-20T00:00:00.5+01:00"}}`:    true,
		`{"metadata":{"creationTimestamp":null,"deletionTimestamp":null}}`:    true,
		`{"metadata":{"creationTimestamp":"2026-11-20T1:00:00Z"}}`:            false,
		`{"metadata":{"creationTimestamp":"2026-11-20T00:00:00,5Z"}}`:         false,
		`{"metadata":{"name":5,"namespace":"b"}}`:                             false,
		`{"spec":{"priority":1e2}}`:                                           false,
		`{"spec":{"priority":1.0}}`:                                           false,
		`{"spec":{"podSets":[{"count":9223372036854775808}]}}`:                false,
		`{"amounts":{"a":8,"b":"8","c":"500m","e":"1e3","f":1.5}}`:            true,
		`{"amounts":{"a":8,"d":null}}`:                                        false,
		`{"amounts":{"a":"many"}}`:                                            false,
		`{"pod":{"spec":{"volumes":[{"persistentVolumeClaim":{}},{}]}}}`:      true,
		`{"status":{"admission":{},"conditions":[{"type":"Finished"},null]}}`: true,
		`{"metadata":{"name":"a"}}}`:                                          false,
		`{"metadata":`:                                                        false,
	} {
		if agree(t, []byte(text)) != isFast {
			t.Errorf("%s: fast is %v", text, !isFast)
		}
	}
	sample, err := os.ReadFile("../answers/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	agree(t, sample)
	for seed := range uint64(1000) {
		agree(t, mutate.Text(sample, seed))
	}
}

func FuzzReadsAsEncodingJSON(f *testing.F) {
	sample, err := os.ReadFile("../answers/sample.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"Metadata":{"name":"a","labels":{"x":null}},"spec":{"podSets":[{"count":1}]},"amounts":{"a":"1Ki"}}`))
	for seed := range uint64(30) {
		f.Add(mutate.Text(sample, seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}

// aWorkload is one of Kueue, as kubectl prints it.
const aWorkload = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"job-%d","namespace":"team","uid":"u-%d","creationTimestamp":"2026-11-20T00:00:00Z"},
"spec":{"active":true,"queueName":"default","priority":100,"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"main","image":"i:1","resources":{"requests":{"cpu":"8","gpu":"1"}}}],"restartPolicy":"Never"}}}]},
"status":{"admission":{"clusterQueue":"team","podSetAssignments":[{"name":"main","count":1,"flavors":{"cpu":"h100","gpu":"h100"},"resourceUsage":{"cpu":"8","gpu":"1"}}]},"conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-11-20T00:00:00Z","reason":"QuotaReserved","message":"Quota reserved"}]}}`

// What an object costs is held by its allocations: what is not read is not kept, and no object is
// read twice.
func TestAllocationsOfAnObject(t *testing.T) {
	const objects = 500
	var items []string
	for i := range objects {
		items = append(items, fmt.Sprintf(aWorkload, i, i))
	}
	text := []byte(listOf(items...))
	cost := func(visit func(*Object) error) float64 {
		return testing.AllocsPerRun(5, func() {
			count := 0
			notes, err := Read([]Source{{Name: "in", Reader: bytes.NewReader(text)}}, Options{}, func(o *Object) error { count++; return visit(o) })
			if err != nil || len(notes) > 0 || count != objects {
				t.Fatalf("%d objects, %q, %v", count, notes, err)
			}
		}) / objects
	}
	// The object, its name and UID, metadata, spec and status; then what they are read into.
	if got := cost(func(*Object) error { return nil }); got > 9 {
		t.Errorf("%.1f allocations for each object", got)
	}
	if got := cost(func(o *Object) error { var w kueue.Workload; return o.Read(&w.Spec, &w.Status) }); got > 33.5 {
		t.Errorf("%.1f allocations for each workload", got)
	}
}

// The cut of a list by a mark of YAML is no end of it.
func TestMarkInList(t *testing.T) {
	_, _, err := read(`{"kind":"List","items":[` + a + "\n---\n" + bYAML)
	if err == nil || !strings.Contains(err.Error(), "not JSON") {
		t.Error(err)
	}
}
