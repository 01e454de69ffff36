package forms

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/base/jsonform"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/loops"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

var update = flag.Bool("update", false, "write the forms")

const current = "testdata/v0.1"

// forms are the values that others keep or send as JSON.
var forms = map[string]reflect.Type{
	"record":                reflect.TypeFor[preemption.Record](),
	"decision":              reflect.TypeFor[preemption.Decision](),
	"quota-status":          reflect.TypeFor[preemption.QuotaStatus](),
	"excess":                reflect.TypeFor[preemption.Excess](),
	"placement-record":      reflect.TypeFor[placement.Record](),
	"placement-decision":    reflect.TypeFor[placement.Decision](),
	"potential-victim":      reflect.TypeFor[placement.PotentialVictim](),
	"cycle-result":          reflect.TypeFor[cycle.Result](),
	"settle-request":        reflect.TypeFor[settle.Request](),
	"settle-answer":         reflect.TypeFor[settle.Answer](),
	"moves-cost":            reflect.TypeFor[moves.Cost](),
	"moves-decision":        reflect.TypeFor[moves.Decision](),
	"moves-clear-request":   reflect.TypeFor[moves.ClearRequest](),
	"moves-clear-answer":    reflect.TypeFor[moves.ClearAnswer](),
	"loop":                  reflect.TypeFor[loops.Loop](),
	"explanation":           reflect.TypeFor[explain.Explanation](),
	"placement-explanation": reflect.TypeFor[explain.PlacementExplanation](),
	"pending-status":        reflect.TypeFor[queue.PendingStatus](),
	"requeue":               reflect.TypeFor[queue.Requeue](),
	"normalized":            reflect.TypeFor[queue.Change](),
	"rules-verdict":         reflect.TypeFor[rules.Verdict](),
	"recorded-case":         reflect.TypeFor[recorded.Case](),
}

// read reads a form strictly: an unknown field is an error.
func read(data []byte, of reflect.Type) (any, error) {
	value := reflect.New(of)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(value.Interface())
	return value.Elem().Interface(), err
}

func write(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// What was written by any version is read, and written again byte for byte. -update writes the forms of the current
// version, with every field set: then a difference other than new lines is an incompatible change.
func TestFormsStay(t *testing.T) {
	for name, of := range forms {
		path := filepath.Join(current, name+".json")
		if *update {
			value := reflect.New(of).Elem()
			new(filler).fill(value, 0)
			if err := os.WriteFile(path, write(t, value.Interface()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s has no form: run with -update", name)
		}
	}
	files, err := filepath.Glob("testdata/v*/*.json")
	if err != nil || len(files) < len(forms) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if forms[name] == nil {
			t.Errorf("%s: no form is named %q", path, name)
			continue
		}
		value, err := read(text, forms[name])
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := write(t, value); !bytes.Equal(got, text) {
			t.Errorf("%s is written otherwise:\n%s", path, firstDifference(got, text))
		}
	}
}

// The two forms that people write are read by their own readers, too.
func TestRecordsAreRead(t *testing.T) {
	for name, parse := range map[string]func([]byte) error{
		"record":           func(data []byte) error { return jsonform.Read(data, new(preemption.Record)) },
		"placement-record": func(data []byte) error { return jsonform.Read(data, new(placement.Record)) },
	} {
		text, err := os.ReadFile(filepath.Join(current, name+".json"))
		if err == nil {
			err = parse(text)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every field that a form can have is in its file, so no name of a field changes unseen.
func TestEveryFieldIsThere(t *testing.T) {
	fields := 0
	for name, of := range forms {
		text, err := os.ReadFile(filepath.Join(current, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		names := namesIn(t, text)
		for _, field := range fieldsOf(of, nil) {
			fields++
			if !slices.Contains(names, field) {
				t.Errorf("%s has no field %q: run with -update", name, field)
			}
		}
	}
	if fields < 500 {
		t.Errorf("only %d fields", fields)
	}
}

func firstDifference(got, want []byte) string {
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range a {
		if i == len(b) || a[i] != b[i] {
			return strings.Join([]string{"- " + strings.Join(b[i:min(i+1, len(b))], ""), "+ " + a[i]}, "\n")
		}
	}
	return "- " + b[len(a)]
}
