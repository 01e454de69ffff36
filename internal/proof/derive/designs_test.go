package derive

import (
	"regexp"
	"strings"
)

// A section is a heading of a design with the sentences below it.
type section struct {
	heading   string
	sentences []string
}

var (
	comments = regexp.MustCompile(`(?s)<!--.*?-->`)
	links    = regexp.MustCompile(`\[([^\]]*)\]\([^)\s]*\)`)
	refs     = regexp.MustCompile(`^\[[^\]]*\]: \S+$`)
	urls     = regexp.MustCompile(`https?://\S+`)
	items    = regexp.MustCompile(`^([-*] |\d+\. )`)
	stops    = regexp.MustCompile(`[.?!][)"]* `)
)

// plain folds white space and strips the marks of markdown.
func plain(s string) string {
	s = urls.ReplaceAllString(links.ReplaceAllString(strings.Join(strings.Fields(s), " "), "$1"), "")
	s = strings.NewReplacer("`", "", "**", "", "_reclaim_", "reclaim", "<code>", "", "</code>", "", "(implementation)[]", "").Replace(s)
	return strings.Join(strings.Fields(s), " ")
}

// sentences splits a design into its sections. Of code, the comments of Go declarations are
// sentences; other code, drawings and the table of contents are none. A sentence that the design
// repeats word for word counts where it comes first.
func designSections(text string) []section {
	text = comments.ReplaceAllString(text, "")
	var all []section
	seen, block := map[string]bool{}, ""
	end := func() {
		for _, s := range split(plain(block)) {
			if last := len(all) - 1; last >= 0 && !seen[s] {
				seen[s] = true
				all[last].sentences = append(all[last].sentences, s)
			}
		}
		block = ""
	}
	toc, fence := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		mark, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && fence != "":
			end()
			fence = ""
			continue
		case isFence:
			end()
			fence = "code"
			if strings.HasPrefix(mark, "go") {
				fence = "go"
			}
			continue
		case fence == "go":
			comment, ok := strings.CutPrefix(line, "//")
			line = strings.TrimSpace(comment)
			if !ok || strings.HasPrefix(line, "+") || strings.Trim(line, ". ") == "" {
				end()
				continue
			}
		case fence != "":
			continue
		case strings.HasPrefix(line, "#"):
			end()
			toc = false
			all = append(all, section{heading: plain(strings.TrimLeft(line, "# "))})
			continue
		case strings.HasPrefix(line, "- [") && strings.Contains(line, "](#"):
			toc = true
		}
		if items.MatchString(line) || line == "" {
			end()
			line = items.ReplaceAllString(line, "")
		}
		if !toc && !refs.MatchString(line) && !strings.HasPrefix(line, "|") {
			block += " " + line
		}
	}
	end()
	return all
}

// split cuts a paragraph into its sentences.
func split(s string) []string {
	var list []string
	from := 0
	for _, at := range stops.FindAllStringIndex(s, -1) {
		next, before := s[at[1]:], s[from:at[1]]
		if next == "" || !strings.ContainsAny(next[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ\"(") ||
			strings.HasSuffix(before, "e.g. ") || strings.HasSuffix(before, "i.e. ") {
			continue
		}
		list = append(list, strings.TrimSpace(before))
		from = at[1]
	}
	if rest := strings.TrimSpace(s[from:]); strings.Trim(rest, ". ") != "" {
		list = append(list, rest)
	}
	return list
}
