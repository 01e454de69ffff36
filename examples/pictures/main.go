// Pictures draws the pictures of the documentation into docs/pictures: the quota tree before and
// after a decision, the life of a decision, the rooms of the code, the screen of whatif.
//
//	go run ./examples/pictures
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// pictures draws each file. They read nothing but the project, so that they are always the same.
var pictures = []struct {
	file string
	draw func(root string) ([]byte, error)
}{
	{"reclaim.svg", reclaim},
	{"decision.svg", decision},
	{"rooms.svg", roomsOfTheCode},
	{"whatif.svg", screen},
}

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "usage: pictures   (in the root of the project; it writes docs/pictures)")
		os.Exit(2)
	}
	for _, p := range pictures {
		drawn, err := p.draw(".")
		if err == nil {
			err = os.WriteFile(filepath.Join("docs", "pictures", p.file), drawn, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "pictures:", err)
			os.Exit(2)
		}
	}
}

// font is for all text; a letter is about six tenths of its size wide.
const font = "font-family:ui-monospace,Menlo,Consolas,monospace"

func style(size int, fill string) string {
	return fmt.Sprintf("%s;font-size:%dpx;fill:%s", font, size, fill)
}

func buffer() *bytes.Buffer { return new(bytes.Buffer) }
