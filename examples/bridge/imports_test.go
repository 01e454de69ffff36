package bridge_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Who imports a bridge is bound to no version of Kubernetes: no file but tests imports k8s.io, nor
// anything else besides the standard library and cede.
func TestNoKubernetesImported(t *testing.T) {
	files := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			first, _, _ := strings.Cut(name, "/")
			isOwn := strings.HasPrefix(name, "github.com/cedesched/cede/")
			if strings.Contains(first, ".") && !isOwn || strings.HasPrefix(name, "github.com/cedesched/cede/examples/internal") {
				t.Errorf("%s imports %s", path, name)
			}
		}
		return nil
	})
	if err != nil || files < 15 {
		t.Errorf("%v after %d files", err, files)
	}
}
