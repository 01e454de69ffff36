package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// readFile reads a file of any file system that Beam knows.
func readFile(ctx context.Context, path string) (text []byte, err error) {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	f, err := fs.OpenRead(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// writeFile writes a file. No reader sees a part of it where files can be renamed; elsewhere a part is no result.
func writeFile(ctx context.Context, path string, text []byte) error {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	to := path
	whole, _ := fs.(filesystem.Renamer)
	if whole != nil {
		to = fmt.Sprintf("%s.%x", path, rand.Uint64()) // another worker may write the same result
	}
	f, err := fs.OpenWrite(ctx, to)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil && whole != nil {
		err = whole.Rename(ctx, to, path)
	}
	return err
}
