package read

import (
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

// configure takes a configuration, or why it cannot be read: then every answer is in doubt.
func (k *Kueue) configure(c *kueue.Configuration, faults []bridge.FieldFault, err error) error {
	switch {
	case c == nil:
		return err
	case err != nil:
		k.LeaveOut(c, err, false)
		return err
	}
	_, err = k.Objects.Add(c, faults...)
	return err
}

// configurationIn reads the Configuration in a ConfigMap.
func configurationIn(o *input.Object) (*kueue.Configuration, []bridge.FieldFault, error) {
	var data map[string]string
	if err := o.Field("data", &data); err != nil {
		return nil, nil, input.ErrNotRead // some other's
	}
	for _, key := range []string{"controller_manager_config.yaml", "controller_manager_config.yml", "config.yaml"} {
		if text := data[key]; strings.Contains(text, kueue.ConfigGroup+"/") {
			at := "data[" + key + "]"
			c := &kueue.Configuration{Origin: "ConfigMap " + o.ID()}
			plain, twice, err := input.FromYAML([]byte(text))
			if err != nil {
				return c, nil, fmt.Errorf("%s: %w", at, err)
			}
			var fields map[string]json.RawMessage
			if err = input.Decode(at, plain, c); err == nil {
				err = input.Decode(at, plain, &fields)
			}
			return c, faultsOfConfiguration(fields, twice, at+"."), err
		}
	}
	return nil, nil, input.ErrNotRead
}

// configurationOf reads an object that is a Configuration.
func configurationOf(o *input.Object) (*kueue.Configuration, []bridge.FieldFault, error) {
	fields := map[string]json.RawMessage{}
	for _, name := range sections {
		if data := o.Fields[name]; data != nil {
			fields[name] = data
		}
	}
	c := new(kueue.Configuration)
	data, err := json.Marshal(fields)
	if err == nil {
		err = input.Decode("", data, c)
	}
	c.APIVersion = o.APIVersion
	return c, faultsOfConfiguration(o.Fields, o.Twice, ""), err
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
