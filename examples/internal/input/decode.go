package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	v2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode reads a part of an object, and says where in it which value is wrong. null in place of a field is the absent
// field, as in the API; as an item of a list it is wrong. What into points to is zero before.
func Decode(name string, data json.RawMessage, into any) error {
	return located(name)(decode(data, into, lax))
}

// DecodeStrict is Decode that fails on fields that are not known, and on those that are there twice.
func DecodeStrict(data []byte, into any) error {
	return located("")(decode(data, into, v2.RejectUnknownMembers(true)))
}

func located(name string) func(jsontext.Pointer, error) error {
	return func(at jsontext.Pointer, err error) error {
		switch path := strings.Trim(name+"."+pathOf(at), "."); {
		case err == nil || path == "":
			return err
		default:
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}

func decode(data json.RawMessage, into any, options v2.Options) (at jsontext.Pointer, err error) {
	if len(data) == 0 {
		return "", nil
	}
	err = v2.Unmarshal(data, into, options)
	var syntax *jsontext.SyntacticError
	var wrong *v2.SemanticError
	var inside *json.UnmarshalTypeError
	switch noTime := (*time.ParseError)(nil); {
	case err == nil:
		if at, found := nullItem(data); found {
			return at, errors.New("null is no item of a list")
		}
		return "", nil
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return syntax.JSONPointer, errors.New("is there twice")
	case errors.As(err, &syntax):
		return "", fmt.Errorf("not JSON: byte %d: %w", syntax.ByteOffset, syntax.Err)
	case !errors.As(err, &wrong):
		return "", err
	case errors.As(err, &noTime):
		return wrong.JSONPointer, fmt.Errorf("%q is not a time", noTime.Value)
	case errors.Is(err, v2.ErrUnknownName):
		return wrong.JSONPointer, errors.New("is not a field that is known")
	case errors.As(err, &inside): // of a type that reads itself
		return wrong.JSONPointer, fmt.Errorf("want %s, found %s", describeType(inside.Type), inside.Value)
	case wrong.Err != nil && !errors.Is(wrong.Err, strconv.ErrSyntax) && !errors.Is(wrong.Err, strconv.ErrRange):
		return wrong.JSONPointer, wrong.Err
	case wrong.JSONKind == '0' && wrong.JSONValue != nil:
		return wrong.JSONPointer, fmt.Errorf("want %s, found number %s", describeType(wrong.GoType), wrong.JSONValue)
	}
	return wrong.JSONPointer, fmt.Errorf("want %s, found %s", describeType(wrong.GoType), describe(wrong.JSONKind))
}

// pathOf writes a pointer as a path: spec.podSets[0].count.
func pathOf(p jsontext.Pointer) string {
	var path strings.Builder
	for step := range p.Tokens() {
		if strings.Trim(step, "0123456789") == "" {
			path.WriteString("[" + step + "]")
		} else {
			path.WriteString("." + step)
		}
	}
	return strings.TrimPrefix(path.String(), ".")
}

// ReadEach reads spec and status value by value: one that cannot be read leaves the others. It returns the paths of
// those that cannot be read. What is nil here is not read.
func (o *Object) ReadEach(spec, status any) (unread []string) {
	for _, part := range [...]struct {
		name string
		data json.RawMessage
		into any
	}{{"spec", o.Spec, spec}, {"status", o.Status, status}} {
		seen := map[jsontext.Pointer]bool{}
		for part.into != nil {
			at, err := decode(part.data, part.into, lax)
			if err == nil {
				break
			}
			for seen[at] { // what is left of it cannot be read either
				at = at.Parent()
			}
			seen[at], unread = true, append(unread, strings.TrimSuffix(part.name+"."+pathOf(at), "."))
			reflect.ValueOf(part.into).Elem().SetZero()
			part.data = without(part.data, at)
		}
	}
	return unread
}

// without takes a value out of JSON. An item of a list leaves an empty object.
func without(data json.RawMessage, at jsontext.Pointer) json.RawMessage {
	var tree any
	if at == "" || json.Unmarshal(data, &tree) != nil {
		return nil
	}
	within := tree
	for step := range at.Parent().Tokens() {
		if object, is := within.(map[string]any); is {
			within = object[step]
		} else if list, is := within.([]any); is {
			i, _ := strconv.Atoi(step) // the decoder was there
			within = list[i]
		}
	}
	if object, is := within.(map[string]any); is {
		delete(object, at.LastToken())
	} else if list, is := within.([]any); is {
		i, _ := strconv.Atoi(at.LastToken())
		list[i] = map[string]any{}
	}
	data, _ = json.Marshal(tree) // it was read from JSON
	return data
}

// nullItem finds the first null that is an item of a list.
func nullItem(data json.RawMessage) (at jsontext.Pointer, found bool) {
	if !bytes.Contains(data, []byte("null")) {
		return "", false
	}
	d := jsontext.NewDecoder(bytes.NewReader(data), lax)
	for {
		token, err := d.ReadToken()
		if err != nil {
			return "", false
		}
		if within, _ := d.StackIndex(d.StackDepth()); token.Kind() == 'n' && within == '[' {
			return d.StackPointer(), true
		}
	}
}

// describe is a kind of value in words.
func describe(kind jsontext.Kind) string {
	switch kind {
	case '[':
		return "a list"
	case '{':
		return "an object"
	case 'n':
		return "null"
	case '0':
		return "a number"
	case '"':
		return "a string"
	}
	return "a bool"
}

// describeType is a Go type in the words of JSON.
func describeType(t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() {
		return "a time, as text"
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int32:
		return "an integer of 32 bits"
	}
	return "an integer"
}
