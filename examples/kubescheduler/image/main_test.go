package main

import (
	"archive/tar"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// The image is valid. It has one file, the scheduler, which needs no library, runs as no user of the system, and says what it is.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the scheduler")
	}
	t.Chdir("..")
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := run(file, "registry.example/cede-scheduler:test", "linux/"+runtime.GOARCH); err != nil {
		t.Fatal(err)
	}
	image, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(image); err != nil {
		t.Error(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c := config.Config; !slices.Equal(c.Entrypoint, []string{"/kube-scheduler"}) || c.User != "65532:65532" || len(c.Cmd)+len(c.Env) > 0 {
		t.Errorf("%+v", c)
	}
	if config.OS != "linux" || config.Architecture != runtime.GOARCH {
		t.Errorf("for %s/%s", config.OS, config.Architecture)
	}
	program := onlyFile(t, image)
	binary, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	if libraries, err := binary.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("it needs %v: %v", libraries, err)
	}
	out, err := exec.Command(program, "--version").CombinedOutput()
	if err != nil || !regexp.MustCompile(`^kube-scheduler v1\.37\.2 with cede \S*\n$`).Match(out) {
		t.Errorf("%q, %v", out, err)
	}
}

// onlyFile writes the only file of an image, and returns where.
func onlyFile(t *testing.T, image v1.Image) (program string) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	files := tar.NewReader(content)
	header, err := files.Next()
	if err != nil || header.Name != "kube-scheduler" || header.Mode != 0o555 || header.Uid != 0 {
		t.Fatalf("%+v, %v", header, err)
	}
	program = filepath.Join(t.TempDir(), "program")
	out, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, files); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Next(); err != io.EOF {
		t.Error("the image has more files")
	}
	return program
}

// The same program gives the same image, and another one another.
func TestSameImage(t *testing.T) {
	digest := func(content string) v1.Hash {
		program := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(program, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		image, err := of(program, v1.Platform{OS: "linux", Architecture: "amd64"})
		if err != nil {
			t.Fatal(err)
		}
		hash, err := image.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	if one, again, other := digest("one"), digest("one"), digest("other"); one != again || one == other {
		t.Error(one, again, other)
	}
}

// What is no name or platform of an image is refused before the scheduler is built.
func TestRefused(t *testing.T) {
	for _, c := range [][2]string{{"no name", "linux/amd64"}, {"registry.example/x:y", "linux/amd64/v1/more"}} {
		if err := run(filepath.Join(t.TempDir(), "image.tar"), c[0], c[1]); err == nil {
			t.Error(c)
		}
	}
}
