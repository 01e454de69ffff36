package fields

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// CheckAPI fails unless the table says what becomes of each field of the API: those that are read, in
// the sections of the kinds; the others in the section "Not read", with rows
//
//	| Kind | `spec.a`, `spec.b.*` | why |
//
// A path that ends in ".*" stands for all that is below, of which nothing is read: a field that is new
// beside one that is read is in no row. apis are the paths of the fields by kind, without brackets.
func CheckAPI(t *testing.T, file string, apis map[string][]string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	read, unread := map[string][]string{}, map[string][]string{}
	for _, s := range strings.Split(string(data), "\n## ")[1:] {
		name, body, _ := strings.Cut(s, "\n")
		if name == notRead {
			for _, m := range notReadRow.FindAllStringSubmatch(body, -1) {
				unread[m[1]] = append(unread[m[1]], pathsIn(m[2])...)
			}
			continue
		}
		kind, _, _ := strings.Cut(name, " ")
		for _, r := range readRows(body) {
			for _, p := range r.paths {
				if r.changes == "nothing" && strings.HasSuffix(p, ".*") {
					continue // of another stage of the object
				}
				read[kind] = append(read[kind], strings.TrimSuffix(strings.ReplaceAll(p, "[]", ""), ".*"))
			}
		}
	}
	for kind, paths := range apis {
		used := map[string]bool{}
		var missing []string
		for _, path := range paths {
			isRead := slices.ContainsFunc(read[kind], func(r string) bool {
				return path == r || strings.HasPrefix(path, r+".") || strings.HasPrefix(r, path+".")
			})
			at := slices.IndexFunc(unread[kind], func(p string) bool { return covers(p, path) })
			switch {
			case at >= 0 && isRead:
				t.Errorf("%s: %s is read, and %s says that it is not", kind, path, unread[kind][at])
			case at >= 0:
				used[unread[kind][at]] = true
			case !isRead:
				missing = append(missing, path)
			}
		}
		for _, path := range collapse(missing, paths, missing) {
			t.Errorf("%s: no row has %s", kind, path)
		}
		for _, p := range unread[kind] {
			if !used[p] {
				t.Errorf("%s: %s is in the table and not in the API", kind, p)
			}
		}
	}
}

const notRead = "Not read"

var notReadRow = regexp.MustCompile("(?m)^\\| (\\w+) \\| (`[^|]*`) \\| [^|]+ \\|$")

func pathsIn(cell string) (list []string) {
	for _, p := range pathText.FindAllStringSubmatch(cell, -1) {
		list = append(list, p[1])
	}
	return list
}

// collapse names a subtree of which everything is missing once, with ".*".
func collapse(missing, all, of []string) (list []string) {
	for _, path := range missing {
		name := path
		for parts := strings.Split(path, "."); len(parts) > 1; parts = parts[:len(parts)-1] {
			prefix := strings.Join(parts[:len(parts)-1], ".") + "."
			has := func(p string) bool { return strings.HasPrefix(p, prefix) && !slices.Contains(of, p) }
			if slices.ContainsFunc(all, has) || prefix == "spec." || prefix == "status." || prefix == "metadata." {
				break
			}
			name = prefix + "*"
		}
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
