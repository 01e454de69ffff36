package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The pictures in docs are those that the program draws.
func TestPicturesAreUpToDate(t *testing.T) {
	const root = "../.."
	files, err := filepath.Glob(filepath.Join(root, "docs", "pictures", "*.svg")) // the others are of the page
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		drawn, err := p.draw(root)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join(root, "docs", "pictures", p.file))
		if err != nil || string(kept) != string(drawn) {
			t.Errorf("%s is out of date (%v): go run ./examples/pictures", p.file, err)
		}
	}
	if len(files) != len(pictures) {
		t.Errorf("docs/pictures holds %d SVG files, %d are drawn", len(files), len(pictures))
	}
}
