package serve

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/preemption"
)

// parameters reads the parameters of a question without a body into the fields of a struct: texts, numbers, and lists of texts, where a
// parameter may be given several times. A field has the name that its json tag says, and is needed if its need tag says so. All faults are
// reported at once.
func parameters(given url.Values, into any) error {
	var faults preemption.Faults
	known := map[string]bool{}
	read(given, reflect.ValueOf(into).Elem(), known, &faults)
	for name := range given {
		if !known[name] {
			faults.Add(name, "is not known: want one of %s", strings.Join(sortedNames(known), ", "))
		}
	}
	slices.SortFunc(faults, func(a, b preemption.Fault) int { return strings.Compare(a.Path, b.Path) })
	return faults.Err()
}

func read(given url.Values, into reflect.Value, known map[string]bool, faults *preemption.Faults) {
	for i := range into.NumField() {
		field, value := into.Type().Field(i), into.Field(i)
		if field.Anonymous {
			read(given, value, known, faults)
			continue
		}
		name := field.Tag.Get("json")
		known[name] = true
		texts := given[name]
		if field.Tag.Get("need") != "" && strings.Join(texts, "") == "" {
			faults.Add(name, "is missing")
			continue
		}
		if list, is := value.Addr().Interface().(*[]string); is {
			*list = texts
			continue
		}
		if len(texts) > 1 {
			faults.Add(name, "is there %d times", len(texts))
		}
		if len(texts) != 1 {
			continue
		}
		if value.Kind() == reflect.String {
			value.SetString(texts[0])
			continue
		}
		n, err := strconv.ParseInt(texts[0], 10, 64)
		if err != nil {
			faults.Add(name, "%q: want a number", texts[0])
		}
		value.SetInt(n)
	}
}

func sortedNames(known map[string]bool) []string {
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
