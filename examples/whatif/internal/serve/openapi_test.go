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
	post := func(id, summary string, body, answer any) object {
		return object{"post": object{"operationId": id, "summary": summary, "requestBody": object{"required": true, "content": content(body)},
			"responses": answers(answer, "400: the body is wrong: faults say where", "413: the body is too large")}}
	}
	get := func(id, summary string, asked, answer any, statuses ...string) object {
		return object{"get": object{"operationId": id, "summary": summary, "parameters": parametersOf(s, reflect.TypeOf(asked)),
			"responses": answers(answer, append(statuses, "400: a parameter is wrong: faults say which")...)}}
	}
	parameter := func(name string) object {
		return object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}}
	}
	multikueue := post("multikueue", "Of a workload that a manager of MultiKueue sent to its workers: which gate opens when, and who yields where?", Fleet{}, workers.Answers{})
	multikueue["post"].(object)["responses"].(object)["404"] = object{"description": "the manager has not sent out the workload", "content": content(Failure{})}
	why := get("why", "Why a workload of the cluster waits, and what would change that", struct{}{}, Why{}, "404: the cluster has no such workload", "409: the workload holds quota already")
	why["get"].(object)["parameters"] = []any{parameter("namespace"), parameter("name")}
	changes := get("changes", "A stream of server-sent events: whose answer changed, from what to what. Each event is begin, change, missed (read the list again) or failed (changes are not known now)", Filter{}, Change{})
	stream := object{"text/event-stream": object{"schema": object{"description": "data of begin, change, missed and failed",
		"anyOf": []any{s.Of(reflect.TypeFor[Begun]()), s.Of(reflect.TypeFor[Change]()), s.Of(reflect.TypeFor[Missed]()), s.Of(reflect.TypeFor[Failure]())}}}}
	changes["get"].(object)["responses"].(object)["200"] = object{"description": "the stream", "content": stream}
	changes["get"].(object)["responses"].(object)["503"] = object{"description": "too many listen already", "content": content(Failure{})}
	paths := object{
		"/v1/multikueue":                       multikueue,
		"/v1/decide":                           post("decide", "Does the workload fit, and which workloads have to yield for it?", Question{}, Answer{}),
		"/v1/explain":                          post("explain", "The same decision, with how it came about and what would change it", Question{}, Explained{}),
		"/v1/simulate":                         post("simulate", "Decisions about the cluster after changes to it", Simulation{}, Simulated{}),
		listPath:                               get("overview", "What waits, in order, with the answer about each as if it were alone", Page{}, List{}),
		"/v1/changes":                          changes,
		"/v1/workloads/{namespace}/{name}/why": why,
		"/v1/ask":                              get("ask", "Whether a new workload would fit, who would have to yield, how that came about, and what would change it", AskAsked{}, Why{}),
		"/v1/next":                             get("next", "The next admission cycles: which workloads are admitted, preempt or stay", NextAsked{}, Next{}),
		"/v1/lint":                             get("lint", "What will hurt in the configuration, although it is valid", LintAsked{}, Linted{}),
		"/v1/diff":                             get("diff", "Which answers change with another quota, policy or priority: who gains and who loses", DiffAsked{}, Diff{}),
		"/v1/safe":                             get("safe", "Until when workloads that run keep their places, and the least request that then makes each yield", SafeAsked{}, Safety{}),
		"/v1/settle":                           get("settle", "Who has to leave so that usage is within the quota, before or after a quota is lowered", SettleAsked{}, Settled{}),
		"/v1/drain":                            get("drain", "Whether nodes are safe to drain: which pods have room elsewhere, which have not, in which order", DrainAsked{}, Drained{}),
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

// parametersOf describes the parameters that a struct has.
func parametersOf(s *schema.Schemas, t reflect.Type) []any {
	list := []any{}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			list = append(list, parametersOf(s, f.Type)...)
			continue
		}
		one := object{"name": f.Tag.Get("json"), "in": "query", "description": f.Tag.Get("about"), "schema": s.Of(f.Type)}
		if f.Tag.Get("need") != "" {
			one["required"] = true
		}
		list = append(list, one)
	}
	return list
}
