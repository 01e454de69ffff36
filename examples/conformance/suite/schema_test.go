package suite

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cedesched/cede/examples/internal/schema"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/settle"
)

// forms has the types of the question and of the answer of each form.
var forms = map[string][2]reflect.Type{
	Decide:      {reflect.TypeFor[DecideQuestion](), reflect.TypeFor[preemption.Decision]()},
	Place:       {reflect.TypeFor[PlaceQuestion](), reflect.TypeFor[placement.Decision]()},
	Orchestrate: {reflect.TypeFor[OrchestrateQuestion](), reflect.TypeFor[gate.Action]()},
	Cycles:      {reflect.TypeFor[CyclesQuestion](), reflect.TypeFor[CyclesAnswer]()},
	Settle:      {reflect.TypeFor[SettleQuestion](), reflect.TypeFor[settle.Answer]()},
	Move:        {reflect.TypeFor[MoveQuestion](), reflect.TypeFor[moves.Decision]()},
	Clear:       {reflect.TypeFor[ClearQuestion](), reflect.TypeFor[moves.ClearAnswer]()},
}

const draft = "https://json-schema.org/draft/2020-12/schema"

// schemas returns the files: forms.schema.json has each type by its name, case.schema.json is a line of the archive.
func schemas() map[string]schema.Object {
	s := schema.New("#/$defs/")
	s.Closed, s.Required = true, true
	var branches []any
	for _, form := range Forms() {
		of := func(i int) schema.Object {
			return schema.Object{"$ref": "forms.schema.json" + s.Of(forms[form][i])["$ref"].(string)}
		}
		branches = append(branches, schema.Object{
			"if":   schema.Object{"properties": schema.Object{"form": schema.Object{"const": form}}},
			"then": schema.Object{"properties": schema.Object{"question": of(0), "answer": of(1)}},
		})
	}
	for _, name := range []string{"preemption.Config", "placement.Config", "gate.Config"} {
		delete(s.Named[name].(schema.Object), "required")
	}
	one := schema.New("#/$defs/")
	one.Closed, one.Required = true, true
	one.Of(reflect.TypeFor[Case]())
	line := one.Named["suite.Case"].(schema.Object)
	line["$schema"], line["title"], line["allOf"] = draft, "A case of the conformance suite "+Version, branches
	line["properties"].(schema.Object)["form"] = schema.Object{"enum": Forms()}
	return map[string]schema.Object{
		"forms.schema.json": {"$schema": draft, "title": "The JSON forms of cede " + Version, "$defs": s.Named},
		"case.schema.json":  line,
	}
}

// The schemas are those of the Go types.
func TestSchemasAreThoseOfTheTypes(t *testing.T) {
	for name, of := range schemas() {
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetIndent("", " ")
		if err := encoder.Encode(of); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", Version, name)
		if *update {
			if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s is not that of the types: go test ./examples/conformance/suite -run Schemas -update (%v)", file, err)
		}
	}
}

func lineSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	for _, name := range []string{"forms.schema.json", "case.schema.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", Version, name))
		if err != nil {
			t.Fatal(err)
		}
		of, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err == nil {
			err = compiler.AddResource("https://cede.example/"+name, of)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := compiler.Compile("https://cede.example/case.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// Each case is valid by its schema, every fourth here.
func TestCasesAreValidBySchema(t *testing.T) {
	compiled := lineSchema(t)
	for i, c := range cases(t) {
		if i%4 > 0 {
			continue
		}
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(v); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
}

// A schema refuses what the forms do not have.
func TestSchemaRefuses(t *testing.T) {
	compiled := lineSchema(t)
	const right = `{"id":"x","form":"decide","seed":1,"features":["core"],"question":{"state":{"queues":[{"name":"q"}]},
		"request":{"workload":{"id":"w","queue":"q","podSets":[{"name":"main","count":1,"requests":[]}]},"now":"2026-01-01T12:00:00Z"}},
		"answer":{"outcome":"Fits","borrowHeight":0}}`
	for name, replace := range map[string][2]string{
		"":                       {"x", "x"},
		"an unknown field":       {`"count":1`, `"count":1,"size":2`},
		"an unknown constant":    {`"Fits"`, `"Fit"`},
		"another type":           {`"borrowHeight":0`, `"borrowHeight":"0"`},
		"an unknown form":        {`"decide"`, `"ask"`},
		"the form of another":    {`"decide"`, `"place"`},
		"a missing field":        {`"outcome":"Fits",`, ``},
		"a fraction for a whole": {`"count":1`, `"count":1.5`},
	} {
		text := strings.Replace(right, replace[0], replace[1], 1)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(v); (err == nil) != (name == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
