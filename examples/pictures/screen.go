package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"

	svg "github.com/ajstarks/svgo"
)

// screen draws what whatif prints about its sample on a terminal of 80 columns.
func screen(root string) ([]byte, error) {
	run := exec.Command("go", "run", "./examples/whatif", "-width", "80")
	run.Dir = root
	var failed bytes.Buffer
	run.Stderr = &failed
	text, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("whatif: %w: %s", err, failed.Bytes())
	}
	text, _, _ = bytes.Cut(text, []byte("\n\nThis is the embedded sample")) // less the hint how to ask about one's own cluster
	lines := append([]string{"$ go run ./examples/whatif", ""}, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	wide := 0
	for _, l := range lines {
		wide = max(wide, len([]rune(l)))
	}
	const line = 17
	width, height := wide*72/10+48, len(lines)*line+40
	out := buffer()
	c := svg.New(out)
	c.Start(width, height, `role="img"`)
	c.Title("The screen of whatif")
	c.Roundrect(0, 0, width, height, 8, 8, "fill:#0d1117")
	for i, l := range lines {
		fill := "#e6edf3"
		if i == 0 {
			fill = "#7ee787"
		}
		c.Text(24, 32+i*line, l, `style="`+style(12, fill)+`"`, `xml:space="preserve"`)
	}
	c.End()
	return out.Bytes(), nil
}
