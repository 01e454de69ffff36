package derive

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// shift is how much later a case is asked again.
const shift = -4567*time.Hour - 89*time.Nanosecond

// route is an answer to the same question, found in another way.
type route struct {
	name   string
	answer string
}

// disagreements returns the routes that give another answer, and these answers. It is empty
// unless something is broken.
func disagreements(answer string, routes []route) string {
	var b strings.Builder
	for _, r := range routes {
		if r.answer != answer {
			fmt.Fprintf(&b, "DISAGREES, %s:\n%s", r.name, indented(r.answer))
		}
	}
	return b.String()
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// form returns a value in full, for comparison.
func form(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error() + "\n"
	}
	return string(data) + "\n"
}

// decided returns the answer about a snapshot in JSON, or the error.
func decided[S, R, D any](decide func(S, R) (D, error), s S, err error, r R) string {
	if err != nil {
		return err.Error() + "\n"
	}
	d, err := decide(s, r)
	if err != nil {
		return err.Error() + "\n"
	}
	return form(d)
}

// shifted decides at another time, and shifts the answer back.
func shifted[State, S, R, D any](snapshot func(State) (S, error), decide func(S, R) (D, error), st State, r R) string {
	s, err := snapshot(moved(st, shift))
	if err != nil {
		return err.Error() + "\n"
	}
	d, err := decide(s, moved(r, shift))
	if err != nil {
		return err.Error() + "\n"
	}
	return form(moved(d, -shift))
}

// again returns a value after a JSON round trip.
func again[T any](v T) (T, error) {
	var out T
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	return out, err
}

// moved returns a copy of a value with all its times shifted.
func moved[T any](v T, by time.Duration) T {
	return move(reflect.ValueOf(v), by).Interface().(T)
}

func move(v reflect.Value, by time.Duration) reflect.Value {
	if t, ok := v.Interface().(time.Time); ok {
		if !t.IsZero() {
			v = reflect.ValueOf(t.Add(by))
		}
		return v
	}
	switch v.Kind() {
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(move(v.Field(i), by))
			}
		}
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(move(v.Index(i), by))
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(move(v.Elem(), by))
		return out
	}
	return v
}
