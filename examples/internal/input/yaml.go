package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

const (
	maxExpanded = 64 << 20 // bytes of one document, with what its aliases stand for, and perNode for each value
	perNode     = 32
	maxNested   = 1000
)

// yaml reads documents of YAML one after the other.
func (r *reader) yaml(in io.Reader) error {
	decoder := yaml.NewDecoder(in)
	for documents := 0; ; {
		data, twice, err := nextDocument(decoder)
		switch {
		case err == io.EOF && documents == 0:
			return errors.New("there are no objects in it")
		case err == io.EOF:
			return nil
		case err != nil && r.items == 0:
			return fmt.Errorf("neither JSON nor YAML: %w", err)
		case err != nil:
			return fmt.Errorf("not YAML: %w", err)
		case string(data) == "null":
			continue
		}
		documents++
		r.text.left, r.twice = maxObject, twice
		if err := r.value(jsontext.NewDecoder(bytes.NewReader(data), lax), nil); err != nil {
			return err
		}
		r.twice = nil
	}
}

// FromYAML turns one document of YAML into JSON. twice are the fields that an object has twice; of those the last
// counts. What overrides a field of a merge key ("<<") is no second one.
func FromYAML(text []byte) (data json.RawMessage, twice []string, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	data, pointers, err := nextDocument(decoder)
	if err == io.EOF {
		data, err = json.RawMessage("null"), nil
	} else if err == nil && decoder.Decode(new(yaml.Node)) != io.EOF {
		err = errors.New("more follows after the first document")
	}
	for _, p := range pointers {
		twice = append(twice, pathOf(p))
	}
	return data, twice, err
}

// nextDocument is the next document as JSON.
func nextDocument(decoder *yaml.Decoder) (data json.RawMessage, twice []jsontext.Pointer, err error) {
	var root yaml.Node
	if err := decoder.Decode(&root); err != nil {
		return nil, nil, err
	}
	p := preparation{left: maxExpanded}
	if err := p.value(&root, "", 0); err != nil {
		return nil, nil, err
	}
	var v any
	if err := root.Decode(&v); err != nil {
		return nil, nil, err
	}
	data, err = json.Marshal(v)
	return data, p.twice, err
}

// preparation bounds what the values of a document stand for, and makes of them what an API server would.
type preparation struct {
	left  int
	twice []jsontext.Pointer
}

// words are those that are true or false in the YAML of Kubernetes.
var words = regexp.MustCompile(`^(?:([yY]|[yY]es|YES|[oO]n|ON)|[nN]|[nN]o|NO|[oO]ff|OFF)$`)

func (p *preparation) value(n *yaml.Node, at jsontext.Pointer, depth int) error {
	if p.left -= perNode + len(n.Value); p.left < 0 {
		return fmt.Errorf("line %d: more than %d MiB in one document, with what its aliases stand for", n.Line, maxExpanded>>20)
	}
	if depth > maxNested {
		return fmt.Errorf("line %d: values in values to a depth of more than %d", n.Line, maxNested)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return p.value(n.Alias, at, depth+1)
	case yaml.ScalarNode:
		switch word := words.FindStringSubmatch(n.Value); {
		case n.ShortTag() == "!!timestamp":
			n.Tag = "!!str"
		case word != nil && n.Style == 0 && n.ShortTag() == "!!str":
			n.Tag, n.Value = "!!bool", strconv.FormatBool(word[1] != "")
		}
	case yaml.MappingNode:
		return p.mapping(n, at, depth)
	default:
		for i, item := range n.Content {
			below := at
			if n.Kind == yaml.SequenceNode {
				below = at.AppendToken(strconv.Itoa(i))
			}
			if err := p.value(item, below, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *preparation) mapping(n *yaml.Node, at jsontext.Pointer, depth int) error {
	last := map[string]bool{}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		name := n.Content[i]
		if name.Kind == yaml.AliasNode {
			name = name.Alias
		}
		switch {
		case name.Kind != yaml.ScalarNode || name.ShortTag() == "!!null":
			return fmt.Errorf("line %d: the name of a field is null, a list or an object", name.Line)
		case name.ShortTag() == "!!merge":
		case last[name.Value]:
			p.twice = append(p.twice, at.AppendToken(name.Value))
			n.Content = slices.Delete(n.Content, i, i+2)
			continue
		default:
			last[name.Value], name.Tag = true, "!!str"
		}
		if err := p.value(n.Content[i+1], at.AppendToken(name.Value), depth+1); err != nil {
			return err
		}
	}
	return nil
}
