// Command image builds the scheduler, or whatif, and writes a container image of it, as a file that docker load, ctr images import
// and crane push take. It needs no container engine and no registry: the image has the program and nothing else.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/cedesched/cede/examples/internal/cli"
)

func main() {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	which := flags.String("program", "kube-scheduler", "the `PROGRAM` in the image: kube-scheduler, or whatif, which answers in the cluster")
	file := flags.String("o", "", "write the `FILE`; by default cede-scheduler.tar, of whatif cede.tar")
	tag := flags.String("tag", "", "the `NAME` of the image; by default registry.example/cede-scheduler:latest, of whatif registry.example/cede:latest")
	platform := flags.String("platform", "linux/amd64", "the `PLATFORM` of the image")
	switch err := cli.Parse(flags, os.Args[1:], "usage: image [-program PROGRAM] [-o FILE] [-tag NAME] [-platform PLATFORM]", os.Stdout, "", "-o scheduler.tar", "-platform linux/arm64", "-program whatif"); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(2)
	}
	if err := run(*which, *file, *tag, *platform); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(2)
	}
}

// program is a program of which there is an image.
type program struct {
	image string // its name
	dir   string // of its module, from the one of the scheduler
	path  string // in its module
	port  string
}

var programs = map[string]program{
	"kube-scheduler": {"cede-scheduler", ".", ".", "10259"},
	"whatif":         {"cede", "..", "./whatif", "8018"},
}

// run writes the image of a program. The current directory is that of the scheduler.
func run(which, file, tag, platform string) error {
	p, known := programs[which]
	if !known {
		return fmt.Errorf("-program %q: want kube-scheduler or whatif", which)
	}
	file, tag = cmp.Or(file, p.image+".tar"), cmp.Or(tag, "registry.example/"+p.image+":latest")
	name, err := name.NewTag(tag, name.StrictValidation)
	if err != nil {
		return err
	}
	on, err := v1.ParsePlatform(platform)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cede-image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, which)
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, p.path)
	build.Dir = p.dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+on.OS, "GOARCH="+on.Architecture)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	image, err := of(program, p.port, *on)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(file, name, image)
}

// user is who the program runs as: no user of the system.
const user = "65532:65532"

// of is the image of a program, by its file. The same program gives the same image.
func of(program, port string, on v1.Platform) (v1.Image, error) {
	name := filepath.Base(program)
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o555}
	if err := w.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil })
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = on.OS, on.Architecture, on.Variant
	config.Config = v1.Config{Entrypoint: []string{"/" + name}, User: user, ExposedPorts: map[string]struct{}{port + "/tcp": {}}}
	return mutate.ConfigFile(image, config)
}
