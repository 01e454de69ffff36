package guard

import (
	"go/ast"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// namedByTheAPI are fields whose JSON form has the name of the upstream API, by package and field.
var namedByTheAPI = map[string]bool{
	"limits.Limit.PreemptingQueues": true, "limits.Limit.PreemptedQueues": true,
	"rules.Rule.PreemptorPriorityClass": true, "rules.NumericLabel.Fallback": true,
}

// A field has one name: its name in JSON is that in Go, in another case, or that of the upstream API.
func TestFieldsHaveOneName(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.dir, "internal/") || strings.HasPrefix(s.dir, "examples/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			of, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range of.Fields.List {
				if f.Tag == nil || len(f.Names) != 1 {
					continue
				}
				tag, _ := strconv.Unquote(f.Tag.Value)
				name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				field := s.dir[strings.LastIndex(s.dir, "/")+1:] + "." + spec.Name.Name + "." + f.Names[0].Name
				same := strings.EqualFold(name, f.Names[0].Name)
				if name != "" && name != "-" && same == namedByTheAPI[field] {
					t.Errorf("%s is %q in JSON", field, name)
				}
				seen[field] = seen[field] || !same
			}
			return true
		})
	}
	for field := range namedByTheAPI {
		if !seen[field] {
			t.Errorf("%s is not there any more", field)
		}
	}
}
