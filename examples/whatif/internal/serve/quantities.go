package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
)

// amountFields are the fields of an object with a resource that are amounts of it. As numbers they are in the unit of the
// library: milli-CPU for cpu, else base units; as text they are quantities: "4", "500m", "64Gi".
var amountFields = []string{"amount", "nominal", "borrowingLimit", "lendingLimit"}

// inUnits turns quantities of a body into numbers of the library's units. A body without any is left as it is.
func inUnits(data []byte) ([]byte, error) {
	if !bytes.Contains(data, []byte(`"resource"`)) {
		return data, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if decoder.Decode(&tree) != nil {
		return data, nil // the reader of the body says what is wrong
	}
	changed, err := convert(tree, "")
	if err != nil || !changed {
		return data, err
	}
	return json.Marshal(tree)
}

func convert(in any, path string) (changed bool, err error) {
	switch v := in.(type) {
	case []any:
		for i := range v {
			below, err := convert(v[i], fmt.Sprintf("%s[%d]", path, i))
			if err != nil {
				return false, err
			}
			changed = changed || below
		}
	case map[string]any:
		resource, _ := v["resource"].(string)
		for name, value := range v {
			at := name
			if path != "" {
				at = path + "." + name
			}
			text, isText := value.(string)
			if !isText || resource == "" || !slices.Contains(amountFields, name) {
				below, err := convert(value, at)
				if err != nil {
					return false, err
				}
				changed = changed || below
				continue
			}
			q, err := bridge.ParseQuantity(text)
			if err != nil {
				return false, fmt.Errorf("%s: %w", at, err)
			}
			v[name], changed = q.Amount(resource), true
		}
	}
	return changed, nil
}
