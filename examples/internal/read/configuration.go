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
	"github.com/cedesched/cede/examples/internal/fields"
	"github.com/cedesched/cede/examples/internal/input"
)

// sections are the fields of a Configuration on which decisions depend.
var sections = []string{"admissionFairSharing", "fairSharing", "featureGates", "resources", "waitForPodsReady"}

// configure takes the Configuration that an object is, or that a ConfigMap holds. If it cannot be read every answer is
// in doubt.
func (k *Kueue) configure(o *input.Object) (err error) {
	c, at := &kueue.Configuration{APIVersion: o.APIVersion}, ""
	found, twice := o.Fields, o.Twice
	if o.Kind == "ConfigMap" {
		key, text := configurationIn(o)
		if text == "" {
			return input.ErrNotRead // another program's
		}
		at, c.APIVersion, c.Origin, found = "data["+key+"]", "", "ConfigMap "+o.ID(), nil
		var plain json.RawMessage
		if plain, twice, err = input.FromYAML([]byte(text)); err != nil {
			err = fmt.Errorf("%s: %w", at, err)
		} else {
			err = cmp.Or(input.Decode(at, plain, &found), input.Decode(at+".apiVersion", found["apiVersion"], &c.APIVersion))
		}
	}
	read := map[string]json.RawMessage{}
	for _, name := range sections {
		if found[name] != nil {
			read[name] = found[name]
		}
	}
	data, _ := json.Marshal(read) // it was read from JSON
	if err = cmp.Or(err, input.Decode(at, data, c)); err != nil {
		k.LeaveOut(c, err, false)
		return err
	}
	_, err = k.Objects.Add(c, faultsOfConfiguration(found, twice, strings.TrimPrefix(at+".", "."))...)
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

// faultsOfConfiguration holds the fields of a Configuration against the table.
func faultsOfConfiguration(of map[string]json.RawMessage, twice []string, at string) (faults []bridge.FieldFault) {
	for _, path := range twice {
		f := faultOf(ofKueue, "Configuration", fields.Fault{Path: path, Twice: true})
		f.Path = at + f.Path
		faults = append(faults, f)
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		for _, f := range ofKueue.Check("Configuration", name, of[name]) {
			if !slices.Contains(twice, f.Path) {
				f := faultOf(ofKueue, "Configuration", f)
				f.Path = at + f.Path
				faults = append(faults, f)
			}
		}
	}
	return faults
}
