package read

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/api"
	"github.com/cedesched/cede/examples/internal/input"
)

// sections are the fields of a Configuration on which decisions depend.
var sections = []string{"admissionFairSharing", "fairSharing", "resources"}

// configure takes the Configuration that an object is, or that a ConfigMap holds. If it cannot be read every answer is
// in doubt.
func (k *Kueue) configure(o *input.Object) (err error) {
	c, at := &kueue.Configuration{APIVersion: o.APIVersion}, ""
	fields, twice := o.Fields, o.Twice
	if o.Kind == "ConfigMap" {
		key, text := configurationIn(o)
		if text == "" {
			return input.ErrNotRead // another program's
		}
		at, c.APIVersion, c.Origin, fields = "data["+key+"]", "", "ConfigMap "+o.ID(), nil
		var plain json.RawMessage
		if plain, twice, err = input.FromYAML([]byte(text)); err != nil {
			err = fmt.Errorf("%s: %w", at, err)
		} else {
			err = cmp.Or(input.Decode(at, plain, &fields), input.Decode(at+".apiVersion", fields["apiVersion"], &c.APIVersion))
		}
	}
	read := map[string]json.RawMessage{}
	for _, name := range sections {
		if fields[name] != nil {
			read[name] = fields[name]
		}
	}
	data, _ := json.Marshal(read) // it was read from JSON
	if err = cmp.Or(err, input.Decode(at, data, c)); err != nil {
		k.LeaveOut(c, err, false)
		return err
	}
	_, err = k.Objects.Add(c, faultsOfConfiguration(fields, twice, strings.TrimPrefix(at+".", "."))...)
	return err
}

// configurationIn finds the text of a Configuration in a ConfigMap; empty: there is none.
func configurationIn(o *input.Object) (key, text string) {
	var data map[string]string
	if o.Field("data", &data) != nil {
		return "", ""
	}
	for _, key := range []string{"controller_manager_config.yaml", "controller_manager_config.yml", "config.yaml"} {
		if strings.Contains(data[key], kueue.ConfigGroup+"/") {
			return key, data[key]
		}
	}
	return "", ""
}

// faultsOfConfiguration compares the fields of a Configuration with its API, as [faultsOf] does. What is twice in a
// part that is not read bears on nothing.
func faultsOfConfiguration(fields map[string]json.RawMessage, twice []string, at string) (faults []bridge.FieldFault) {
	for _, path := range twice {
		of, _, _ := strings.Cut(path, ".")
		faults = append(faults, fieldFault(at+path, true, "", !slices.Contains(sections, of)))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !api.Has("Configuration", name) {
			faults = append(faults, fieldFault(at+name, false, "", false))
		} else if slices.Contains(sections, name) {
			for _, f := range api.Check("Configuration", name, fields[name]) {
				if !slices.Contains(twice, f.Path) {
					faults = append(faults, fieldFault(at+f.Path, f.Twice, f.Meant, false))
				}
			}
		}
	}
	return faults
}
