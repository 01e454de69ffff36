package bridge

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// LabelSelector selects objects by their labels. All parts must match. Nil matches nothing;
// the zero value matches everything.
type LabelSelector struct {
	MatchLabels      map[string]string `json:"matchLabels"`
	MatchExpressions []Requirement     `json:"matchExpressions"`
}

// Requirement is a requirement on one label.
type Requirement struct {
	Key string `json:"key"`
	// Operator is In, NotIn, Exists or DoesNotExist; in a node affinity also Gt or Lt.
	Operator string `json:"operator"`
	// Values has one or more values for In and NotIn, none for Exists and DoesNotExist, one
	// integer for Gt and Lt.
	Values []string `json:"values"`
}

// Validate fails on invalid labels, on an operator that label selectors do not have, and on
// values that the operator does not take.
func (s *LabelSelector) Validate() error {
	if s == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		if err := validateLabel(key, s.MatchLabels[key]); err != nil {
			return fmt.Errorf("matchLabels: %w", err)
		}
	}
	for i := range s.MatchExpressions {
		r := &s.MatchExpressions[i]
		err := r.validate()
		if r.Operator == "Gt" || r.Operator == "Lt" {
			err = fmt.Errorf("operator %q is unknown", r.Operator)
		}
		if err != nil {
			return fmt.Errorf("matchExpressions[%d]: %w", i, err)
		}
	}
	return nil
}

// IsEmpty reports whether the selector matches everything.
func (s *LabelSelector) IsEmpty() bool {
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// Matches reports whether the labels match. An invalid selector matches nothing.
func (s *LabelSelector) Matches(labels map[string]string) bool {
	if s == nil {
		return false
	}
	for key, value := range s.MatchLabels {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	return !slices.ContainsFunc(s.MatchExpressions, func(r Requirement) bool { return !r.matches(labels) })
}

// String returns the selector as kubectl writes it: "a=b,team in (x,y),!spot", sorted by key.
func (s *LabelSelector) String() string {
	type part struct{ key, text string }
	var parts []part
	if s != nil {
		for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
			parts = append(parts, part{key, key + "=" + s.MatchLabels[key]})
		}
		for _, r := range s.MatchExpressions {
			parts = append(parts, part{r.Key, r.text()})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return strings.Compare(a.key, b.key) })
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, ",")
}

func (r *Requirement) text() string {
	values := strings.Join(slices.Sorted(slices.Values(r.Values)), ",")
	switch r.Operator {
	case "Exists":
		return r.Key
	case "DoesNotExist":
		return "!" + r.Key
	case "In", "NotIn":
		return fmt.Sprintf("%s %s (%s)", r.Key, strings.ToLower(r.Operator), values)
	}
	return fmt.Sprintf("%s %s %s", r.Key, r.Operator, values)
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

func (r *Requirement) validate() error {
	if err := validateLabel(r.Key, r.Values...); err != nil {
		return err
	}
	switch n := len(r.Values); r.Operator {
	case "In", "NotIn":
		if n == 0 {
			return fmt.Errorf("%s of %q needs values", r.Operator, r.Key)
		}
	case "Exists", "DoesNotExist":
		if n > 0 {
			return fmt.Errorf("%s of %q takes no values", r.Operator, r.Key)
		}
	case "Gt", "Lt":
		if n != 1 {
			return fmt.Errorf("%s of %q takes one value", r.Operator, r.Key)
		}
		if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
			return fmt.Errorf("%s of %q: %q is not an integer", r.Operator, r.Key, r.Values[0])
		}
	default:
		return fmt.Errorf("operator %q is unknown", r.Operator)
	}
	return nil
}

func (r *Requirement) matches(labels map[string]string) bool {
	value, has := labels[r.Key]
	switch r.Operator {
	case "In":
		return has && slices.Contains(r.Values, value)
	case "NotIn":
		return !has || !slices.Contains(r.Values, value)
	case "Exists":
		return has
	case "DoesNotExist":
		return !has
	case "Gt", "Lt":
		is, err := strconv.ParseInt(value, 10, 64)
		bound, err2 := strconv.ParseInt(strings.Join(r.Values, " "), 10, 64)
		return has && err == nil && err2 == nil && (r.Operator == "Gt" && is > bound || r.Operator == "Lt" && is < bound)
	}
	return false
}
