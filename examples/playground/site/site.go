// Package site makes the page: a directory of static files, or one file with everything in it.
// It builds the WebAssembly with the go tool, from the source of this module.
package site

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed static
var static embed.FS

// scripts are those of the page, in their order.
var scripts = []string{"util.js", "engine.js", "list.js", "tree.js", "pending.js", "answer.js", "time.js", "edit.js", "excess.js", "rules.js", "safe.js", "clusters.js", "share.js", "main.js"}

// Programs is what is built for the page.
type Programs struct {
	Wasm   []byte // gzipped
	Worker []byte // the script of the worker, with what the Go toolchain has for WebAssembly
}

// wasmPackage is the program for the worker.
const wasmPackage = "github.com/cedesched/cede/examples/playground/wasm"

// Build builds the programs with the go tool. It fails outside of a checkout of the project, and
// without the tool.
func Build() (Programs, error) {
	dir, err := os.MkdirTemp("", "cede-page-")
	if err != nil {
		return Programs{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "cede.wasm")
	// Without inlining it is smaller by some in 100: in the page the size counts more than the speed.
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-gcflags=all=-l", "-o", file, wasmPackage)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=")
	if _, err := tool(build); err != nil {
		return Programs{}, fmt.Errorf("the page is built from source with the go tool, in a checkout of cede: %w", err)
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		return Programs{}, err
	}
	if wasm, err = shrink(wasm); err != nil {
		return Programs{}, err
	}
	root, err := tool(exec.Command("go", "env", "GOROOT"))
	if err != nil {
		return Programs{}, err
	}
	glue, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return Programs{}, fmt.Errorf("the Go toolchain has no script for WebAssembly: %w", err)
	}
	return Programs{Wasm: squeeze(wasm), Worker: join(glue, []byte("\n"), read("worker.js"))}, nil
}

// tool runs the go tool and returns what it prints. An error is its last line.
func tool(c *exec.Cmd) (string, error) {
	var out, bad bytes.Buffer
	c.Stdout, c.Stderr = &out, &bad
	if err := c.Run(); err != nil {
		if said := strings.TrimSpace(bad.String()); said != "" {
			lines := strings.Split(said, "\n")
			return "", fmt.Errorf("go %s: %s", c.Args[1], lines[len(lines)-1])
		}
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func squeeze(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// read returns an embedded file.
func read(name string) []byte {
	data, err := static.ReadFile("static/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return data
}

// Policy is the content security policy of the page as files: its own files and nothing else.
const Policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"

// Files returns the page as static files, by name.
func Files(p Programs) map[string][]byte {
	files := map[string][]byte{"cede.wasm.gz": p.Wasm, "worker.js": p.Worker, "style.css": read("style.css")}
	var tags strings.Builder
	for _, name := range scripts {
		files[name] = read(name)
		fmt.Fprintf(&tags, "<script src=%q></script>\n", name)
	}
	files["index.html"] = fill(Policy, `<link rel="stylesheet" href="style.css">`, tags.String())
	return files
}

// Single returns the page as one file, with a document in it; nil for the sample.
func Single(p Programs, document []byte) []byte {
	var code bytes.Buffer
	for _, name := range scripts {
		code.Write(read(name))
	}
	style := read("style.css")
	policy := fmt.Sprintf("default-src 'none'; script-src '%s' 'wasm-unsafe-eval'; style-src '%s'; worker-src blob:; base-uri 'none'; form-action 'none'",
		hash(code.Bytes()), hash(style))
	var tags strings.Builder
	embed := func(id string, data []byte) {
		fmt.Fprintf(&tags, "<script type=\"text/plain\" id=\"embedded-%s\">%s</script>\n", id, base64.StdEncoding.EncodeToString(data))
	}
	embed("wasm", p.Wasm)
	embed("worker", p.Worker)
	if document != nil {
		embed("document", squeeze(document))
	}
	fmt.Fprintf(&tags, "<script>%s</script>", code.Bytes())
	return fill(policy, "<style>"+string(style)+"</style>", tags.String())
}

// hash is the source of an inline element in a content security policy.
func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func fill(policy, style, scripts string) []byte {
	return []byte(strings.NewReplacer("{{policy}}", html.EscapeString(policy), "{{style}}", style, "{{scripts}}", scripts).Replace(string(read("index.html"))))
}
