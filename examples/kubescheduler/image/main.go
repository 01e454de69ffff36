// Command image builds the scheduler and writes a container image of it, as a file that docker load, ctr images import
// and crane push take. It needs no container engine and no registry: the image has the program and nothing else.
package main

import (
	"archive/tar"
	"bytes"
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
	file := flags.String("o", "cede-scheduler.tar", "write the `FILE`")
	tag := flags.String("tag", "registry.example/cede-scheduler:latest", "the `NAME` of the image")
	platform := flags.String("platform", "linux/amd64", "the `PLATFORM` of the image")
	switch err := cli.Parse(flags, os.Args[1:], "usage: image [-o FILE] [-tag NAME] [-platform PLATFORM]", os.Stdout, "", "-o scheduler.tar", "-platform linux/arm64"); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(2)
	}
	if err := run(*file, *tag, *platform); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(2)
	}
}

// run writes the image of the scheduler in the current directory.
func run(file, tag, platform string) error {
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
	program := filepath.Join(dir, "kube-scheduler")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+on.OS, "GOARCH="+on.Architecture)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	image, err := of(program, *on)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(file, name, image)
}

// user is who the program runs as: no user of the system.
const user = "65532:65532"

// of is the image of a program. The same program gives the same image.
func of(program string, on v1.Platform) (v1.Image, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: "kube-scheduler", Size: int64(len(content)), Mode: 0o555}
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
	config.Config = v1.Config{Entrypoint: []string{"/kube-scheduler"}, User: user, ExposedPorts: map[string]struct{}{"10259/tcp": {}}}
	return mutate.ConfigFile(image, config)
}
