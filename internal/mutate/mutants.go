package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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
	Line     int
	Column   int
	Func     string // the function or the first name of the declaration that it is in
	Was, Now string // for people, on one line
	Again    int    // how many mutants before it in the file have the same key

	path       string
	source     []byte
	start, end int
	text       string
}

// Key names a mutant without its line, so that an excuse outlives edits above it.
func (m *Mutant) Key() string {
	key := fmt.Sprintf("%s: %s: %s => %s", m.File, m.Func, m.Was, m.Now)
	if m.Again > 0 {
		key += fmt.Sprintf(" #%d", m.Again+1)
	}
	return key
}

// String returns the key with the line.
func (m *Mutant) String() string {
	return fmt.Sprintf("%s:%d%s", m.File, m.Line, strings.TrimPrefix(m.Key(), m.File))
}

// Source returns the changed file.
func (m *Mutant) Source() []byte {
	return slices.Concat(m.source[:m.start], []byte(m.text), m.source[m.end:])
}

// swaps are the operators that each operator becomes.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.AND_NOT: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN,
	token.AND_ASSIGN: token.OR_ASSIGN, token.AND_NOT_ASSIGN: token.AND_ASSIGN, token.MUL_ASSIGN: token.ADD_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

// words are the identifiers that each identifier becomes.
var words = map[string]string{"true": "false", "false": "true", "min": "max", "max": "min"}

// finder collects the mutants of a file in the order of a walk.
type finder struct {
	files *token.FileSet
	of    Mutant // what all have
	seen  map[string]int
	list  []*Mutant
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
	f := &finder{token.NewFileSet(), Mutant{Package: pkg, File: filepath.ToSlash(file), path: path, source: source}, map[string]int{}, nil}
	syntax, err := parser.ParseFile(f.files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range syntax.Decls {
		f.of.Func = f.nameOf(d)
		ast.Inspect(d, f.visit)
	}
	return f.list, nil
}

func (f *finder) nameOf(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		receiver := strings.TrimPrefix(f.textOf(d.Recv.List[0].Type), "*")
		return strings.SplitN(receiver, "[", 2)[0] + "." + d.Name.Name
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				return v.Names[0].Name
			}
		}
	}
	return "-"
}

func (f *finder) offset(p token.Pos) int { return f.files.Position(p).Offset }

func (f *finder) textOf(n ast.Node) string {
	return string(f.of.source[f.offset(n.Pos()):f.offset(n.End())])
}

// add records that the source from one position to another becomes text.
func (f *finder) add(from, to token.Pos, text, was, now string) {
	m, at := f.of, f.files.Position(from)
	m.Line, m.Column, m.start, m.end, m.text = at.Line, at.Column, at.Offset, f.offset(to), text
	m.Was, m.Now = short(was), short(now)
	m.Again = f.seen[m.Key()]
	f.seen[m.Key()]++
	f.list = append(f.list, &m)
}

// replace records that a node becomes text.
func (f *finder) replace(n ast.Node, text, now string) {
	f.add(n.Pos(), n.End(), text, f.textOf(n), now)
}

// inLine records that a node becomes text, and shows the line that it is in.
func (f *finder) inLine(n ast.Node, text string) {
	from, to, s := f.offset(n.Pos()), f.offset(n.End()), f.of.source
	begin := bytes.LastIndexByte(s[:from], '\n') + 1
	after, _, _ := bytes.Cut(s[to:], []byte("\n"))
	f.add(n.Pos(), n.End(), text, fmt.Sprintf("%s%s%s", s[begin:from], s[from:to], after), fmt.Sprintf("%s%s%s", s[begin:from], text, after))
}

func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 90 {
		text = string(r[:90]) + "..."
	}
	return text
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ArrayType:
		ast.Inspect(n.Elt, f.visit)
		return false // a longer array answers nothing else
	case *ast.IfStmt:
		f.negate(n.Cond)
	case *ast.ForStmt:
		f.skip(n, n.Body)
	case *ast.RangeStmt:
		f.skip(n, n.Body)
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
		if op, ok := swaps[n.Op]; ok {
			x, y := f.textOf(n.X), f.textOf(n.Y)
			f.replace(n, fmt.Sprintf("((%s) %s (%s))", x, op, y), fmt.Sprint(x, " ", op, " ", y))
		}
	case *ast.AssignStmt:
		f.swap(n, n.TokPos, n.Tok)
	case *ast.IncDecStmt:
		f.swap(n, n.TokPos, n.Tok)
	case *ast.Ident:
		if to, ok := words[n.Name]; ok {
			f.inLine(n, to)
		}
	case *ast.BasicLit:
		if v, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
			for _, by := range []int64{1, -1} {
				f.inLine(n, "("+strconv.FormatInt(v+by, 10)+")")
			}
		}
	}
	return true
}

// negate turns a condition round. A comparison for equality is turned round anyway.
func (f *finder) negate(cond ast.Expr) {
	if b, ok := cond.(*ast.BinaryExpr); !ok || b.Op != token.EQL && b.Op != token.NEQ {
		text := "!(" + f.textOf(cond) + ")"
		f.replace(cond, text, text)
	}
}

// skip leaves a loop before its first round.
func (f *finder) skip(loop ast.Node, body *ast.BlockStmt) {
	header := string(f.of.source[f.offset(loop.Pos()):f.offset(body.Lbrace)])
	f.add(body.Lbrace, body.Lbrace+1, "{ break; ", header, "(skipped)")
}

// drop leaves out each statement that declares nothing and returns nothing.
func (f *finder) drop(list []ast.Stmt) {
	for _, s := range list {
		assign, ok := s.(*ast.AssignStmt)
		switch s.(type) {
		case *ast.AssignStmt, *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt, *ast.DeferStmt:
			if !ok || assign.Tok != token.DEFINE {
				f.replace(s, "", "(dropped)")
			}
		}
	}
}

// swap changes the operator of a statement.
func (f *finder) swap(s ast.Stmt, at token.Pos, op token.Token) {
	if to, ok := swaps[op]; ok {
		text, cut := f.textOf(s), int(at-s.Pos())
		text = text[:cut] + to.String() + text[cut+len(op.String()):]
		f.replace(s, text, text)
	}
}
