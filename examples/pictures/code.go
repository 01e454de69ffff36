package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	svg "github.com/ajstarks/svgo"
)

type room struct {
	name, fill string
	packages   []string // directories, or all below one that ends in a slash
}

// rooms are the rooms of the code from the top down.
var rooms = []room{
	{"programs", "#fbefff", []string{"examples/"}},
	{"proof", "#ffeff7", []string{"internal/proof/", "preemption/preemptiontest", "preemption/preemptiontest/", "preemption/recorded"}},
	{"witness", "#fff1e5", []string{"internal/witness", "internal/witness/nodes", "preemption/verify", "preemption/audit"}},
	{"doors", "#ddf4ff", []string{"preemption", "preemption/placement", "preemption/settle", "preemption/moves", "preemption/cycle", "preemption/loops", "preemption/safe", "preemption/explain"}},
	{"engine", "#dafbe1", []string{"internal/engine/"}},
	{"values", "#fff8c5", []string{"quota", "quota/fairshare", "internal/entitled", "workload", "queue", "gate", "minruntime", "queue/rules", "queue/limits"}},
	{"persist", "#f6f8fa", []string{"internal/persist/"}},
	{"base", "#f6f8fa", []string{"internal/base/", "preemption/clock"}},
}

func (r room) holds(dir string) bool {
	return slices.ContainsFunc(r.packages, func(p string) bool {
		return p == dir || strings.HasSuffix(p, "/") && strings.HasPrefix(dir, p)
	})
}

// roomsOfTheCode draws every package of the project in its room. A package that is in none is
// an error.
func roomsOfTheCode(root string) ([]byte, error) {
	packages, err := goPackages(root)
	if err != nil {
		return nil, err
	}
	in := make([][]string, len(rooms))
	for _, p := range packages {
		i := slices.IndexFunc(rooms, func(r room) bool { return r.holds(p) })
		if i < 0 {
			return nil, fmt.Errorf("package %s is in no room of the picture", p)
		}
		in[i] = append(in[i], short(p))
	}
	const width, indent, line = 760, 110, 24
	body := buffer() // drawn before the height is known
	c := svg.New(body)
	y := 12
	for i, r := range rooms {
		boxes := buffer()
		b := svg.New(boxes)
		top, x := y, indent
		for _, p := range in[i] {
			wide := len(p)*7 + 16
			if x+wide > width-16 {
				x, y = indent, y+line
			}
			b.Roundrect(x, y+8, wide, line-4, 4, 4, "fill:#ffffff;stroke:#8c959f")
			b.Text(x+8, y+22, p, style(11, "#1f2328"))
			x += wide + 6
		}
		y += line + 12
		c.Roundrect(12, top, width-24, y-top-4, 6, 6, "fill:"+r.fill+";stroke:#d0d7de")
		c.Text(24, top+22, r.name, style(13, "#1f2328"))
		body.Write(boxes.Bytes())
	}
	c.Text(24, y+16, "A package imports from the rooms below its own.", style(12, "#57606a"))
	out := buffer()
	frame := svg.New(out)
	frame.Start(width, y+30, `role="img"`)
	frame.Title("The rooms of the code")
	frame.Roundrect(0, 0, width, y+30, 8, 8, "fill:#ffffff;stroke:#d0d7de")
	out.Write(body.Bytes())
	frame.End()
	return out.Bytes(), nil
}

// short is the name of a package in its room.
func short(dir string) string {
	for _, prefix := range []string{"internal/engine/", "internal/persist/", "internal/base/", "internal/proof/", "internal/", "examples/"} {
		dir = strings.TrimPrefix(dir, prefix)
	}
	return dir
}

// goPackages lists the directories with Go files that are no tests, sorted.
func goPackages(root string) ([]string, error) {
	var list []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || strings.Contains(filepath.ToSlash(path), "examples/") && d.Name() == "internal"):
			return filepath.SkipDir
		case !d.IsDir() && filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go"):
			dir, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			list = append(list, filepath.ToSlash(dir))
		}
		return nil
	})
	slices.Sort(list)
	return slices.Compact(list), err
}
