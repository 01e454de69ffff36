package bridge

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cedesched/cede/workload"
)

// LabelSelector selects objects by their labels. All parts must match. Nil matches nothing;
// the zero value matches everything.
type LabelSelector = workload.LabelSelector

// Requirement is a requirement on one label.
type Requirement = workload.LabelRequirement

// ValidateSelector fails on invalid labels, on the operators of nodes, and on values that the operator does not take.
func ValidateSelector(path string, s *LabelSelector) error {
	if s == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		if err := validateLabel(key, s.MatchLabels[key]); err != nil {
			return fmt.Errorf("%s.matchLabels: %w", path, err)
		}
	}
	for i, r := range s.MatchExpressions {
		if err := validateLabel(r.Key, r.Values...); err != nil {
			return fmt.Errorf("%s.matchExpressions[%d]: %w", path, i, err)
		}
	}
	return s.Validate(path)
}

// SelectsAll reports whether a selector matches everything.
func SelectsAll(s *LabelSelector) bool {
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// SelectorText returns a selector as kubectl writes it: "a=b,team in (x,y),!spot", sorted by key.
func SelectorText(s *LabelSelector) string {
	byKey := map[string][]string{}
	for key, value := range s.MatchLabels {
		byKey[key] = []string{key + "=" + value}
	}
	for _, r := range s.MatchExpressions {
		text := fmt.Sprintf("%s %s (%s)", r.Key, strings.ToLower(r.Operator.String()), strings.Join(slices.Sorted(slices.Values(r.Values)), ","))
		switch r.Operator {
		case workload.Exists:
			text = r.Key
		case workload.DoesNotExist:
			text = "!" + r.Key
		}
		byKey[r.Key] = append(byKey[r.Key], text)
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		parts = append(parts, byKey[key]...)
	}
	return strings.Join(parts, ",")
}

// A label is a name that may have a prefix, and a value (the API conventions of Kubernetes).
var (
	labelKey   = regexp.MustCompile(`^([^/]+/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
)

func validateLabel(key string, values ...string) error {
	if !labelKey.MatchString(key) {
		return fmt.Errorf("%q is no key of a label", key)
	}
	for _, value := range values {
		if !labelValue.MatchString(value) {
			return fmt.Errorf("%q of %q is no value of a label", value, key)
		}
	}
	return nil
}
