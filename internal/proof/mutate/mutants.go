package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Mutant is one small change of one file: the bytes from start to end become text.
type Mutant struct {
	Package  string // import path
	File     string // from the root of the module
	Func     string // the function that it is in
	Line     int
	Was, Now string // the line
	Again    int    // how many mutants before it in the file have the same key

	path       string
	source     []byte
	start, end int
	text       string
	fun        *ast.FuncDecl
	files      *token.FileSet
	number     int
}

// Key names a mutant without its line number, so that an excuse outlives edits above it.
func (m *Mutant) Key() string {
	key := fmt.Sprintf("%s: %s: %s => %s", m.File, m.Func, m.Was, m.Now)
	if m.Again > 0 {
		key += fmt.Sprintf(" #%d", m.Again+1)
	}
	return key
}

// String returns the key with the line number.
func (m *Mutant) String() string {
	return fmt.Sprintf("%s:%d%s", m.File, m.Line, strings.TrimPrefix(m.Key(), m.File))
}

// Source returns the changed file.
func (m *Mutant) Source() []byte {
	return slices.Concat(m.source[:m.start], []byte(m.text), m.source[m.end:])
}

func (m *Mutant) offset(p token.Pos) int { return m.files.Position(p).Offset }

// together returns a file with several mutants: at the begin of its body, a function looks
// whether one of them is on, and does as that one does.
func together(mutants []*Mutant) []byte {
	source, inserts := mutants[0].source, map[int]string{}
	for _, m := range mutants {
		begin, end, results := m.offset(m.fun.Body.Lbrace), m.offset(m.fun.Body.Rbrace), ""
		call := "func() {%s}(); return"
		if list := m.fun.Type.Results; list != nil {
			results = string(source[m.offset(list.Pos()):m.offset(list.End())])
			call = "return func() " + strings.ReplaceAll(results, "%", "%%") + " {%s}()"
		}
		body := string(slices.Concat(source[begin+1:m.start], []byte(m.text), source[m.end:end]))
		inserts[begin+1] += fmt.Sprintf("if mutantNumber == %d { "+call+" };", m.number, body)
	}
	var b bytes.Buffer
	from := 0
	for _, at := range slices.Sorted(maps.Keys(inserts)) {
		b.Write(source[from:at])
		b.WriteString(inserts[at])
		from = at
	}
	b.Write(source[from:])
	return b.Bytes()
}

// swaps are the operators that each operator becomes.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.AND_NOT: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN,
	token.AND_ASSIGN: token.OR_ASSIGN, token.AND_NOT_ASSIGN: token.OR_ASSIGN, token.INC: token.DEC, token.DEC: token.INC,
}

// words are the identifiers that each identifier becomes.
var words = map[string]string{"true": "false", "false": "true", "min": "max", "max": "min"}

// finder collects the mutants of a file in the order of a walk.
type finder struct {
	of   Mutant // what all have
	seen map[string]int
	list []*Mutant
}

// Find returns every mutant of a file.
func Find(pkg, root, path string) ([]*Mutant, error) {
	file, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &finder{Mutant{Package: pkg, File: filepath.ToSlash(file), path: path, source: source, files: files}, map[string]int{}, nil}
	for _, d := range syntax.Decls {
		if fun, ok := d.(*ast.FuncDecl); ok && fun.Body != nil {
			f.of.Func, f.of.fun = fun.Name.Name, fun
			ast.Inspect(fun.Body, f.visit)
		}
	}
	return f.list, nil
}

// add records that the source from one position to another becomes text.
func (f *finder) add(from, to token.Pos, text string) {
	m := f.of
	m.Line, m.start, m.end, m.text = m.files.Position(from).Line, m.offset(from), m.offset(to), text
	begin := bytes.LastIndexByte(m.source[:m.start], '\n') + 1
	was, _, _ := bytes.Cut(m.source[begin:], []byte("\n"))
	now, _, _ := bytes.Cut(m.Source()[begin:], []byte("\n"))
	m.Was, m.Now = strings.TrimSpace(string(was)), strings.TrimSpace(string(now))
	m.Again = f.seen[m.Key()]
	f.seen[m.Key()]++
	f.list = append(f.list, &m)
}

// swap changes an operator.
func (f *finder) swap(at token.Pos, op token.Token) {
	if to, ok := swaps[op]; ok {
		f.add(at, at+token.Pos(len(op.String())), to.String())
	}
}

// negate turns a condition round. A comparison for equality is turned round anyway.
func (f *finder) negate(cond ast.Expr) {
	if b, ok := cond.(*ast.BinaryExpr); !ok || b.Op != token.EQL && b.Op != token.NEQ {
		text := f.of.source[f.of.offset(cond.Pos()):f.of.offset(cond.End())]
		f.add(cond.Pos(), cond.End(), "!("+string(text)+")")
	}
}

// drop leaves out each statement that declares nothing and returns nothing.
func (f *finder) drop(list []ast.Stmt) {
	for _, s := range list {
		assign, ok := s.(*ast.AssignStmt)
		switch s.(type) {
		case *ast.AssignStmt, *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt, *ast.DeferStmt:
			if !ok || assign.Tok != token.DEFINE {
				f.add(s.Pos(), s.End(), "/* dropped */")
			}
		}
	}
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ArrayType:
		ast.Inspect(n.Elt, f.visit)
		return false // a longer array answers nothing else
	case *ast.IfStmt:
		f.negate(n.Cond)
	case *ast.ForStmt:
		f.add(n.Body.Lbrace, n.Body.Lbrace+1, "{ break;")
	case *ast.RangeStmt:
		f.add(n.Body.Lbrace, n.Body.Lbrace+1, "{ break;")
	case *ast.SwitchStmt:
		for _, s := range n.Body.List {
			for _, c := range s.(*ast.CaseClause).List {
				if n.Tag == nil {
					f.negate(c)
				}
			}
		}
	case *ast.BlockStmt:
		f.drop(n.List)
	case *ast.CaseClause:
		f.drop(n.Body)
	case *ast.BinaryExpr:
		f.swap(n.OpPos, n.Op)
	case *ast.AssignStmt:
		f.swap(n.TokPos, n.Tok)
	case *ast.IncDecStmt:
		f.swap(n.TokPos, n.Tok)
	case *ast.Ident:
		if to, ok := words[n.Name]; ok {
			f.add(n.Pos(), n.End(), to)
		}
	case *ast.UnaryExpr:
		if one, ok := n.X.(*ast.BasicLit); ok && n.Op == token.SUB && one.Value == "1" {
			f.add(n.Pos(), n.End(), "0") // -2 says the same where -1 is less, or none
			return false
		}
	case *ast.BasicLit:
		if v, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
			f.add(n.Pos(), n.End(), fmt.Sprint(v+1))
			f.add(n.Pos(), n.End(), fmt.Sprintf("(%d)", v-1))
		}
	}
	return true
}
