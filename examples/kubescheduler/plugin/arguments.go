package plugin

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// Arguments are the args of the plugin in pluginConfig. The zero value: decide as kube-scheduler v1.37. The texts of
// Mode, Budgets and Charge are those of the types in package placement.
type Arguments struct {
	metav1.TypeMeta `json:",inline"`
	// Mode is Design or InPlace: how single pods are decided about. Empty: InPlace. Pod groups, which the
	// scheduler places, are always decided about InPlace.
	Mode string `json:"mode,omitempty"`
	// Budgets is Soft or Hard. Hard: no pod yields against a disruption budget. Empty: Soft.
	Budgets string `json:"budgets,omitempty"`
	// Charge is ByMode, ToAll or ToFirstViolated: which of several budgets of a pod its eviction is charged to.
	// Empty: ByMode.
	Charge string `json:"charge,omitempty"`
	// MinRuntime protects each pod until it has run for so long, as "10m". Empty: no pod is protected.
	MinRuntime string `json:"minRuntime,omitempty"`
	// Annotate writes the latest decision about a pod that waits into its annotation [Annotation]. Unset: true.
	Annotate *bool `json:"annotate,omitempty"`
}

// read reads arguments as strictly as kube-scheduler reads those of its own plugins: an unknown or repeated field is
// an error.
func read(arguments runtime.Object) (out Arguments, err error) {
	if arguments == nil {
		return out, nil
	}
	raw, ok := arguments.(*runtime.Unknown)
	if !ok {
		return out, fmt.Errorf("want args of type runtime.Unknown, got %T", arguments)
	}
	data := raw.Raw
	if raw.ContentType == runtime.ContentTypeYAML {
		if data, err = yaml.YAMLToJSONStrict(data); err != nil {
			return out, err
		}
	}
	if len(data) == 0 {
		return out, nil
	}
	faults, err := kjson.UnmarshalStrict(data, &out)
	return out, cmp.Or(err, errors.Join(faults...))
}

// configs returns how single pods and pod groups are decided about. All faults come at once.
func (a Arguments) configs() (single, groups placement.Config, err error) {
	single = Config
	var faults field.ErrorList
	refuse := func(name string, value any, why string) {
		faults = append(faults, field.Invalid(field.NewPath("args", name), value, why))
	}
	for _, f := range []struct {
		name, text string
		into       encoding.TextUnmarshaler
	}{
		{"mode", a.Mode, &single.Mode}, {"budgets", a.Budgets, &single.Budgets},
		{"charge", a.Charge, &single.Charge},
	} {
		if f.text == "" {
			continue
		}
		if err := f.into.UnmarshalText([]byte(f.text)); err != nil {
			refuse(f.name, f.text, err.Error())
		}
	}
	if a.MinRuntime != "" {
		if d, err := time.ParseDuration(a.MinRuntime); err != nil || d < 0 {
			refuse("minRuntime", a.MinRuntime, "must be a duration that is not negative, as 10m")
		} else {
			single.MinRuntime, single.MaxRetrySteps = quota.Some(d), 0
		}
	}
	groups = single
	groups.Mode = placement.ModeInPlace
	return single, groups, faults.ToAggregate()
}
