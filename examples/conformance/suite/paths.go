package suite

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// value reads JSON as values that can be compared: numbers are *big.Rat, and whatever is absent, null, false, zero, empty or the
// zero time is nil: all these are the same.
func value(data []byte) (any, error) {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	var v any
	if err := in.Decode(&v); err != nil {
		return nil, err
	}
	return normal(v), nil
}

const zeroTime = "0001-01-01T00:00:00Z"

func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, of := range v {
			if n := normal(of); n != nil {
				v[key] = n
			} else {
				delete(v, key)
			}
		}
		if len(v) > 0 {
			return v
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
		if len(v) > 0 {
			return v
		}
	case json.Number:
		if n, ok := new(big.Rat).SetString(v.String()); ok && n.Sign() != 0 {
			return n.RatString()
		}
	case string:
		if v != "" && v != zeroTime {
			return "\"" + v
		}
	case bool:
		if v {
			return true
		}
	}
	return nil
}

// paths calls yield for each path of a value that is not zero: the names of fields, with points between them, without indexes; of
// a text also with the text, as in "state.queues.preemption.reclaimWithinCohort=Any".
func paths(v any, at string, yield func(path string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			paths(v[key], strings.TrimPrefix(at+"."+key, "."), yield)
		}
	case []any:
		for _, of := range v {
			paths(of, at, yield)
		}
	case string:
		if text, is := strings.CutPrefix(v, "\""); is {
			at += "=" + text
		}
		yield(at)
	case bool:
		yield(at)
	}
}

// only returns the part of a value whose paths are kept.
func only(v any, at string, keep func(path string) bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, of := range v {
			if kept := only(of, strings.TrimPrefix(at+"."+key, "."), keep); kept != nil {
				out[key] = kept
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		var out []any
		for _, of := range v {
			if kept := only(of, at, keep); kept != nil {
				out = append(out, kept)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	if !keep(at) {
		return nil
	}
	return v
}

// longest returns the entry with the longest pattern that a path has: a pattern is a path, or the beginning of one that ends before
// a point or an equals sign.
func longest(patterns map[string]string, path string) (name string, ok bool) {
	length := -1
	for pattern, of := range patterns {
		if has := path == pattern || strings.HasPrefix(path, pattern) && (pattern == "" || strings.ContainsAny(path[len(pattern):len(pattern)+1], ".=")); has && len(pattern) > length {
			name, length, ok = of, len(pattern), true
		}
	}
	return name, ok
}

// plain is the JSON value of a value: the reverse of normal.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, of := range v {
			out[key] = plain(of)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, of := range v {
			out[i] = plain(of)
		}
		return out
	case string:
		if text, is := strings.CutPrefix(v, "\""); is {
			return text
		}
		return json.Number(v)
	}
	return v
}
