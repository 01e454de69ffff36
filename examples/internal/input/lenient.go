package input

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// ReadEach reads spec and status value by value: one that cannot be read leaves the others. It returns
// the paths of those that cannot be read. What is nil here is not read.
func (o *Object) ReadEach(spec, status any) (unread []string) {
	if spec != nil {
		unread = readEach(o.Spec, reflect.ValueOf(spec).Elem(), "spec", unread)
	}
	if status != nil {
		unread = readEach(o.Status, reflect.ValueOf(status).Elem(), "status", unread)
	}
	return unread
}

// readEach sets v to what can be read.
func readEach(data json.RawMessage, v reflect.Value, path string, unread []string) []string {
	v.SetZero()
	if _, null := nullItem(data); len(data) == 0 || !null && json.Unmarshal(data, v.Addr().Interface()) == nil {
		return unread
	}
	v.SetZero()
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		to, before := reflect.New(t.Elem()), len(unread)
		unread = readEach(data, to.Elem(), path, unread)
		if whole := len(unread) == before+1 && unread[before] == path; !whole { // else it stays nil: not set
			v.Set(to)
		}
		return unread
	}
	if p := reflect.PointerTo(t); p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler) {
		return append(unread, path)
	}
	switch t.Kind() {
	case reflect.Struct:
		var fields map[string]json.RawMessage
		if json.Unmarshal(data, &fields) != nil {
			break
		}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && name != "" && name != "-" {
				unread = readEach(fields[name], v.FieldByIndex(f.Index), path+"."+name, unread)
			}
		}
		return unread
	case reflect.Slice:
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil {
			break
		}
		v.Set(reflect.MakeSlice(t, len(list), len(list)))
		for i, item := range list {
			if string(item) == "null" {
				unread = append(unread, fmt.Sprintf("%s[%d]", path, i))
				continue
			}
			unread = readEach(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i), unread)
		}
		return unread
	case reflect.Map:
		var fields map[string]json.RawMessage
		if json.Unmarshal(data, &fields) != nil || t.Key().Kind() != reflect.String {
			break
		}
		v.Set(reflect.MakeMap(t))
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			one, before := reflect.New(t.Elem()).Elem(), len(unread)
			if unread = readEach(fields[name], one, fmt.Sprintf("%s[%s]", path, name), unread); len(unread) == before {
				v.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), one)
			}
		}
		return unread
	}
	return append(unread, path)
}
