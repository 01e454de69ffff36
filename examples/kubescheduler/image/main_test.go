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

// An image is valid. It has one file, the program, which needs no library, runs as no user of the system, and says what it is.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the programs")
	}
	t.Chdir("..")
	for which, says := range map[string]string{"kube-scheduler": `^kube-scheduler v1\.37\.2 with cede \S*\n$`, "whatif": `^whatif `} {
		t.Run(which, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "image.tar")
			if err := run(which, file, "registry.example/cede:test", "linux/"+runtime.GOARCH); err != nil {
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
			if c := config.Config; !slices.Equal(c.Entrypoint, []string{"/" + which}) || c.User != "65532:65532" || len(c.Cmd)+len(c.Env) > 0 || len(c.ExposedPorts) != 1 {
				t.Errorf("%+v", c)
			}
			if config.OS != "linux" || config.Architecture != runtime.GOARCH {
				t.Errorf("for %s/%s", config.OS, config.Architecture)
			}
			program := onlyFile(t, image, which)
			binary, err := elf.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer binary.Close()
			if libraries, err := binary.ImportedLibraries(); err != nil || len(libraries) > 0 {
				t.Errorf("it needs %v: %v", libraries, err)
			}
			out, err := exec.Command(program, "--version").CombinedOutput()
			if err != nil || !regexp.MustCompile(says).Match(out) {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}

// onlyFile writes the only file of an image, and returns where.
func onlyFile(t *testing.T, image v1.Image, name string) (program string) {
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
	if err != nil || header.Name != name || header.Mode != 0o555 || header.Uid != 0 {
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
		image, err := of(program, "8018", v1.Platform{OS: "linux", Architecture: "amd64"})
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

// What is no program, or no name or platform of an image, is refused before anything is built.
func TestRefused(t *testing.T) {
	for _, c := range [][3]string{{"whatif", "no name", "linux/amd64"}, {"whatif", "registry.example/x:y", "linux/amd64/v1/more"}, {"kubelet", "registry.example/x:y", "linux/amd64"}} {
		if err := run(c[0], filepath.Join(t.TempDir(), "image.tar"), c[1], c[2]); err == nil {
			t.Error(c)
		}
	}
}
