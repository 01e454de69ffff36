package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/schema"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
)

const schemaFile = "../../docs/whatif.schema.json"

// docs/whatif.schema.json describes what each verb writes with -o json, as the types have it, and it describes what they
// write: a change of the output is a change of the file.
func TestSchema(t *testing.T) {
	type run struct {
		args []string
		out  []byte
	}
	types, outs := map[string]reflect.Type{}, map[string][]run{}
	for _, args := range [][]string{
		{"ask"}, {"ask", "-sample", "trouble", "-workload", "x/none"}, {"ask", "-request", "nvidia.com/gpu=8", "-queue", "nlp"}, {"ask", "-f", "testdata/input/teams.yaml", "-at", now, "-workload", "lab/lost"},
		{"ask", "-f", "testdata/input/teams.yaml", "-at", now, "-workload", "lab/equal"}, {"overview"}, {"overview", "-f", "testdata/input/teams.yaml", "-at", now}, {"next"}, {"next", "-f", "testdata/input/teams.yaml", "-at", now},
		{"explain"}, {"explain", "-sample", "rules", "-workload", "prod/all"}, {"lint"}, {"lint", "-sample", "trouble"}, {"diff", "-quota", "vision:h100:nvidia.com/gpu=64"}, {"settle", "-quota", "recsys:h100:nvidia.com/gpu=4"},
		{"safe"}, {"safe", "-f", rulesFile, "-at", now}, {"safe", "-f", "testdata/input/teams.yaml", "-at", now, "-new"}, {"safe", "-sample", "kai", "-pod", "lab/pg-notebook-0-d8273e2f-0"},
		{"guarantees"}, {"guarantees", "-f", rulesFile, "-at", now}, {"drain", "-sample", "kai", "gpu-node-1"}, {"audit", "-f", historyFile},
		append(arguments(t, situations+"/03-victims-leaving"), "-until", "30m"),
		arguments(t, situations+"/19-files-mixed-up"),
	} {
		all := verbs()
		for i := range all {
			ran := all[i].run
			all[i].run = func(c *cluster, o *options, std stdio) (result, error) {
				r, err := ran(c, o, std)
				if r.plain != nil {
					types[args[0]] = reflect.TypeOf(r.plain)
				}
				return r, err
			}
		}
		var out bytes.Buffer
		status := 0
		root := rootOf(all, stdio{out: &out, err: &out, screen: cli.Screen{}, name: "whatif", clock: noon}, &status)
		root.SetArgs(cli.LongFlags(append(args, "-o", "json"), takesValue(root)))
		if err := root.Execute(); err != nil {
			if strings.Contains(err.Error(), "x/none") {
				continue
			}
			t.Fatalf("%q: %v", args, err)
		}
		outs[args[0]] = append(outs[args[0]], run{args, out.Bytes()})
	}
	s := schema.New("#/$defs/")
	s.Closed, s.Required = true, true
	verbsOf := schema.Object{}
	for verb, of := range types {
		verbsOf[verb] = s.Of(of)
	}
	s.Named["verbs"] = schema.Object{"properties": verbsOf}
	ofServe := schema.Object{}
	for name, v := range map[string]any{"workloads": serve.List{}, "begin": serve.Begun{}, "change": serve.Change{}, "missed": serve.Missed{}, "failed": serve.Failure{}} {
		ofServe[name] = s.Of(reflect.TypeOf(v))
	}
	s.Named["serve"] = schema.Object{"description": "what serve answers beside: the list, and the data of each event of /v1/changes", "properties": ofServe}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(schema.Object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "What whatif writes with -o json, by verb: $defs/verbs/properties/VERB", "$defs": s.Named}); err != nil {
		t.Fatal(err)
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(schemaFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Fatalf("docs/whatif.schema.json is not that of the types: go test ./examples/whatif -run Schema -update (%v)", err)
	}
	document := must(jsonschema.UnmarshalJSON(bytes.NewReader(got)))(t)
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("whatif.json", document); err != nil {
		t.Fatal(err)
	}
	if len(outs) != 12 {
		t.Errorf("only %d verbs", len(outs))
	}
	for verb, list := range outs {
		compiled := must(compiler.Compile("whatif.json#/$defs/verbs/properties/" + verb))(t)
		for _, r := range list {
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.out))
			if err == nil {
				err = compiled.Validate(value)
			}
			if err != nil {
				t.Errorf("%q: %v", r.args, err)
			}
		}
	}
	compiled, _ := compiler.Compile("whatif.json#/$defs/verbs/properties/lint")
	if compiled.Validate(map[string]any{"findings": []any{}, "notes": []any{}, "more": 1}) == nil {
		t.Error("the schema describes anything")
	}
}
