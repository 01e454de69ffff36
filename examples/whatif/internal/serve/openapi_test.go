package serve

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/schema"
	"github.com/cedesched/cede/examples/internal/workers"
)

var update = flag.Bool("update", false, "rewrite openapi.json")

type object = schema.Object

// openapi.json describes each path, with the fields of the types that are read and written.
func TestDescription(t *testing.T) {
	s := schema.New("#/components/schemas/")
	content := func(v any) object {
		return object{"application/json": object{"schema": s.Of(reflect.TypeOf(v))}}
	}
	answers := func(v any, statuses ...string) object {
		out := object{"200": object{"description": "the answer", "content": content(v)}}
		for _, status := range append(statuses, "503: no answer within the time for it") {
			code, text, _ := strings.Cut(status, ": ")
			out[code] = object{"description": text, "content": content(Failure{})}
		}
		return out
	}
	post := func(summary string, body, answer any) object {
		return object{"post": object{"summary": summary, "requestBody": object{"required": true, "content": content(body)},
			"responses": answers(answer, "400: the body is wrong: faults say where", "413: the body is too large")}}
	}
	parameter := func(name string) object {
		return object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}}
	}
	multikueue := post("Of a workload that a manager of MultiKueue sent to its workers: which gate opens when, and who yields where?", Fleet{}, workers.Answers{})
	multikueue["post"].(object)["responses"].(object)["404"] = object{"description": "the manager has not sent out the workload", "content": content(Failure{})}
	paths := object{
		"/v1/multikueue": multikueue,
		"/v1/decide":     post("Does the workload fit, and which workloads have to yield for it?", Question{}, Answer{}),
		"/v1/explain":    post("The same decision, with how it came about and what would change it", Question{}, Explained{}),
		"/v1/simulate":   post("Decisions about the cluster after changes to it", Simulation{}, Simulated{}),
		"/v1/workloads":  object{"get": object{"summary": "What waits, with the answer about each as if it were alone", "responses": answers(List{})}},
		"/v1/workloads/{namespace}/{name}/why": object{"get": object{"summary": "Why a workload of the cluster waits, and what would change that",
			"parameters": []any{parameter("namespace"), parameter("name")}, "responses": answers(Why{}, "404: the cluster has no such workload", "409: the workload holds quota already")}},
	}
	description := object{"openapi": "3.1.0", "info": object{"title": "cede", "version": "v1",
		"description": "Preemption decisions. State, Request and Decision are those of the library github.com/cedesched/cede. Without a state a question is about the cluster that the server has read."},
		"paths": paths, "components": object{"schemas": s.Named}}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(description); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(Description, want.Bytes()) {
		t.Error("openapi.json is not that of the types: go test ./examples/whatif/internal/serve -update")
	}
	for name, of := range s.Named {
		if len(of.(object)["properties"].(object)) == 0 {
			t.Errorf("%s has no fields", name)
		}
	}
}
