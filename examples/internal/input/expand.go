package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

const (
	maxExpanded = 16 << 20 // bytes of JSON that one object of YAML makes, and perNode for each of its values
	perNode     = 32
	maxNested   = 1000
)

var errLongYAML = fmt.Errorf("more than %d KiB of YAML in one object", maxYAML>>10)

// FromYAML turns one document of YAML into JSON. An alias stands for its anchor as often as it is
// there, so the size of the JSON is bounded, too. Fields are sorted by name.
//
// twice are the paths of the fields that an object has twice; of those the last counts. What overrides a
// field of a merge key ("<<") is no second one.
func FromYAML(text []byte) (data json.RawMessage, twice []string, err error) {
	if len(text) > maxYAML {
		return nil, nil, errLongYAML
	}
	e := expansion{left: maxExpanded, strict: true}
	err = e.document(text)
	if twice = e.twice; e.again { // the strict decoder keeps the first
		e = expansion{left: maxExpanded}
		err = e.document(text)
	}
	return e.out, twice, err
}

func (e *expansion) document(text []byte) error {
	var root, more node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.SetStrict(e.strict)
	if err := decoder.Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := e.value(root, "", 0); err != nil {
		return err
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return errors.New("more follows after the first value")
	case !errors.Is(err, io.EOF):
		return errors.New(strings.Replace(err.Error(), "did not find expected <document start>", "more follows after the first value", 1))
	}
	return nil
}

// node is a value that is decoded when it is its turn. The zero value is null.
type node struct{ decode func(into any) error }

// UnmarshalYAML implements [yaml.Unmarshaler].
func (n *node) UnmarshalYAML(decode func(any) error) error {
	n.decode = decode
	return nil
}

// as decodes a node, or reports that it is of another kind. twice are the names that an object has
// twice, if the decoder is strict.
func (n node) as(into any) (is bool, twice []string, err error) {
	err = n.decode(into)
	var other *yaml.TypeError
	if !errors.As(err, &other) {
		return err == nil, nil, err
	}
	for _, text := range other.Errors {
		match := setAlready.FindStringSubmatch(text)
		if match == nil {
			return false, nil, nil
		}
		if name, err := strconv.Unquote(match[1]); err == nil {
			twice = append(twice, name)
		}
	}
	return true, twice, nil
}

// written returns which of the names stand in an object twice, without what a merge key adds to it.
func (n node) written(names []string) []string {
	var own yaml.MapSlice // what merge keys add is not in it
	if err := n.decode(&own); err != nil && own == nil {
		return names
	}
	count := map[string]int{}
	for _, item := range own {
		if name, is := nameOf(item.Key); is {
			count[name]++
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return count[name] < 2 })
}

// setAlready is what the strict decoder says of a field that is there twice.
var setAlready = regexp.MustCompile(`key input\.field\{name:("(?:[^"\\]|\\.)*"), read:true\} already set in map$`)

// field is the name of a field. The zero value is null, which is none.
type field struct {
	name string
	read bool
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (f *field) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	if f.name, f.read = nameOf(v); !f.read {
		return errors.New("the name of a field is a list or an object")
	}
	return nil
}

// nameOf is the name of a field.
func nameOf(v any) (name string, is bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64: // as kubectl has it
		return strconv.FormatFloat(v, 'g', -1, 32), true
	case int, int64, uint64, bool:
		return fmt.Sprint(v), true
	}
	return "", false
}

// expansion is the JSON so far, and what it may still take.
type expansion struct {
	out    []byte
	left   int
	strict bool
	again  bool     // the strict decoder left something out
	twice  []string // paths of fields that are there twice
}

func (e *expansion) add(text string) error {
	if e.left -= len(text); e.left < 0 {
		return fmt.Errorf("more than %d MiB in one object, with what its aliases stand for", maxExpanded>>20)
	}
	e.out = append(e.out, text...)
	return nil
}

// value adds the JSON of a value.
func (e *expansion) value(n node, path string, depth int) error {
	if e.left -= perNode; depth > maxNested {
		return fmt.Errorf("values in values to a depth of more than %d", maxNested)
	}
	if n.decode == nil {
		return e.add("null")
	}
	var text string
	if is, _, err := n.as(&text); err != nil {
		return err
	} else if is {
		return e.scalar(n)
	}
	var object map[field]node
	if is, twice, err := n.as(&object); err != nil {
		return err
	} else if is {
		if len(twice) > 0 {
			e.again = true
			twice = n.written(twice)
		}
		for _, name := range twice {
			e.twice = append(e.twice, strings.TrimPrefix(path+"."+name, "."))
		}
		return e.object(object, path, depth)
	}
	var list []node
	if err := n.decode(&list); err != nil {
		return err
	}
	return e.list(list, path, depth)
}

func (e *expansion) scalar(n node) error {
	var v any
	if err := n.decode(&v); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.add(string(text))
}

func (e *expansion) object(object map[field]node, path string, depth int) error {
	before := "{"
	for _, f := range slices.SortedFunc(maps.Keys(object), func(a, b field) int { return strings.Compare(a.name, b.name) }) {
		if !f.read {
			return errors.New("the name of a field is null")
		}
		name, _ := json.Marshal(f.name) // a string: cannot fail
		if err := e.add(before + string(name) + ":"); err != nil {
			return err
		}
		if err := e.value(object[f], path+"."+f.name, depth+1); err != nil {
			return err
		}
		before = ","
	}
	return e.add(strings.TrimSuffix(before, ",") + "}")
}

func (e *expansion) list(list []node, path string, depth int) error {
	before := "["
	for i, n := range list {
		if err := e.add(before); err != nil {
			return err
		}
		if err := e.value(n, fmt.Sprintf("%s[%d]", path, i), depth+1); err != nil {
			return err
		}
		before = ","
	}
	return e.add(strings.TrimSuffix(before, ",") + "]")
}
