package guard

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// stub writes what a package exports as Go source that declares it and does nothing: each exported declaration, and
// the unexported types that these name, with exported methods alone. Unexported fields have no names and no types: whether there are any, and
// whether they can be compared, is all that counts for users.
func stub(p *types.Package) string {
	imports := map[string]string{} // by path
	name := func(of *types.Package) string {
		if of == p {
			return ""
		}
		if imports[of.Path()] == "" {
			imports[of.Path()] = fmt.Sprintf("p%d", len(imports))
		}
		return imports[of.Path()]
	}
	text := func(t types.Type) string { return types.TypeString(t, name) }
	var b strings.Builder
	var hidden []*types.TypeName
	for _, id := range p.Scope().Names() {
		switch of := p.Scope().Lookup(id).(type) {
		case *types.TypeName:
			if of.Exported() {
				stubType(&b, of, text)
			} else {
				hidden = append(hidden, of)
			}
		case *types.Const:
			if of.Exported() {
				fmt.Fprintf(&b, "const %s %s = %s\n", id, typed(of.Type(), text), of.Val().ExactString())
			}
		case *types.Var:
			if of.Exported() {
				fmt.Fprintf(&b, "var %s %s\n", id, text(of.Type()))
			}
		case *types.Func:
			if of.Exported() {
				fmt.Fprintf(&b, "%s { panic(0) }\n", types.ObjectString(of, name))
			}
		}
	}
	for before := -1; before != len(hidden); { // unexported types that are named
		before = len(hidden)
		hidden = slices.DeleteFunc(hidden, func(of *types.TypeName) bool {
			named := regexp.MustCompile(`\b` + of.Name() + `\b`).MatchString(b.String())
			if named {
				stubType(&b, of, text)
			}
			return named
		})
	}
	head := "package " + p.Name() + "\n\n"
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		head += fmt.Sprintf("import %s %q\n", imports[path], path)
	}
	return head + "\n" + b.String()
}

func typed(t types.Type, text func(types.Type) string) string {
	if basic, ok := t.(*types.Basic); ok && basic.Info()&types.IsUntyped != 0 {
		return ""
	}
	return text(t)
}

// stubType writes a type with its methods.
func stubType(b *strings.Builder, of *types.TypeName, text func(types.Type) string) {
	if of.IsAlias() {
		fmt.Fprintf(b, "type %s = %s\n", of.Name(), text(types.Unalias(of.Type())))
		return
	}
	named := of.Type().(*types.Named)
	parameters, arguments := "", ""
	for i := range named.TypeParams().Len() {
		p := named.TypeParams().At(i)
		parameters += ", " + p.Obj().Name() + " " + text(p.Constraint())
		arguments += ", " + p.Obj().Name()
	}
	if parameters != "" {
		parameters, arguments = "["+parameters[2:]+"]", "["+arguments[2:]+"]"
	}
	fmt.Fprintf(b, "type %s%s %s\n", of.Name(), parameters, withoutNames(named.Underlying(), text))
	for i := range named.NumMethods() {
		m := named.Method(i)
		if !m.Exported() {
			continue
		}
		pointer := ""
		if _, ok := m.Signature().Recv().Type().(*types.Pointer); ok {
			pointer = "*"
		}
		fmt.Fprintf(b, "func (%s%s%s) %s%s { panic(0) }\n", pointer, of.Name(), arguments, m.Name(), strings.TrimPrefix(text(m.Signature()), "func"))
	}
}

// withoutNames is the text of a type, of a struct without what its unexported fields are.
func withoutNames(t types.Type, text func(types.Type) string) string {
	s, ok := t.(*types.Struct)
	if !ok {
		return text(t)
	}
	var fields []string
	for i := range s.NumFields() {
		switch f := s.Field(i); {
		case f.Embedded():
			fields = append(fields, text(f.Type()))
		case f.Exported():
			fields = append(fields, fmt.Sprintf("%s %s %q", f.Name(), text(f.Type()), s.Tag(i)))
		case types.Comparable(f.Type()):
			fields = append(fields, "_ int")
		default:
			fields = append(fields, "_ []int")
		}
	}
	return "struct {\n\t" + strings.Join(fields, "\n\t") + "\n}"
}

// stubs type-checks stubs by the paths of their packages; what they import besides is what Go compiles now.
type stubs struct {
	source map[string]string
	done   map[string]*types.Package
	others types.Importer
}

func (l *stubs) Import(path string) (*types.Package, error) {
	if p := l.done[path]; p != nil {
		return p, nil
	}
	source, known := l.source[path]
	if !known {
		return l.others.Import(path)
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, source, 0)
	if err != nil {
		return nil, err
	}
	p, err := (&types.Config{Importer: l}).Check(path, set, []*ast.File{f}, nil)
	if err != nil {
		return nil, err
	}
	l.done[path] = p
	return p, nil
}
