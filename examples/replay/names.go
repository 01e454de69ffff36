package main

import (
	"path/filepath"
	"slices"
	"strings"
)

// longName is how many bytes of the name of a rule set surely stay in a table.
const longName = 8

// shortNames returns what tables call policies: a rule set by its file name without directory and ending,
// so that two are still apart when a narrow table leaves out their middle. Names that would then be the
// same keep their directories; what long ones all begin with is left out.
func shortNames(policies []string) map[string]string {
	short := map[string]string{} // by file
	for _, policy := range policies {
		for word := range strings.SplitSeq(policy, "+") {
			if file, is := strings.CutPrefix(word, "rules="); is {
				short[file] = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			}
		}
	}
	taken := map[string]int{}
	for _, name := range short {
		taken[name]++
	}
	common, long := "", false
	first := true
	for file, name := range short {
		if taken[name] > 1 {
			name = file
		}
		if short[file] = name; first {
			common, first = name, false
		}
		for !strings.HasPrefix(name, common) {
			common = common[:len(common)-1]
		}
		long = long || len(name) > longName
	}
	if common = strings.ToValidUTF8(common, ""); long && len(short) > 1 && common != "" {
		for file, name := range short {
			short[file] = "…" + strings.TrimPrefix(name, common)
		}
	}
	names := map[string]string{}
	for _, policy := range policies {
		words := strings.Split(policy, "+")
		for i, word := range words {
			if file, is := strings.CutPrefix(word, "rules="); is {
				words[i] = "rules=" + short[file]
			}
		}
		names[policy] = strings.Join(words, "+")
	}
	same := func(a, b string) bool { return a != b && names[a] == names[b] }
	for _, policy := range policies {
		if slices.ContainsFunc(policies, func(o string) bool { return same(o, policy) }) {
			return nil // as they were given
		}
	}
	return names
}
