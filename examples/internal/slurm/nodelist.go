package slurm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// maxNodes bounds how many nodes an expression names.
const maxNodes = 100_000

// Expand lists the nodes of an expression of Slurm, as node[01-04,07],gpu-a[1-2], in its order. It fails on what is none, and on one of
// more than 100,000 nodes.
func Expand(text string) (nodes []string, err error) {
	for text != "" {
		end, depth := 0, 0
		for ; end < len(text) && (depth > 0 || text[end] != ','); end++ {
			switch text[end] {
			case '[':
				depth++
			case ']':
				depth--
			}
		}
		part, err := expandOne(text[:end])
		if err == nil && len(nodes)+len(part) > maxNodes {
			err = fmt.Errorf("more than %d nodes", maxNodes)
		}
		if err != nil {
			return nil, fmt.Errorf("%.60q: %w", text, err)
		}
		nodes = append(nodes, part...)
		if text = text[min(end+1, len(text)):]; text == "" && end > 0 {
			break
		}
	}
	return nodes, nil
}

var nodeName = regexp.MustCompile(`^[\w.-]*$`)

// expandOne lists the nodes of an expression without a comma outside of brackets.
func expandOne(text string) ([]string, error) {
	open := strings.IndexByte(text, '[')
	if open < 0 {
		open = len(text)
	}
	switch name := text[:open]; {
	case !nodeName.MatchString(name) || text == "":
		return nil, fmt.Errorf("%q is no node", name)
	case open == len(text):
		return []string{text}, nil
	}
	inside, after, closed := strings.Cut(text[open+1:], "]")
	if !closed || strings.Contains(inside, "[") {
		return nil, fmt.Errorf("the brackets do not match")
	}
	ends := []string{""}
	if after != "" {
		var err error
		if ends, err = expandOne(after); err != nil {
			return nil, err
		}
	}
	var nodes []string
	for span := range strings.SplitSeq(inside, ",") {
		low, high, ranged := strings.Cut(span, "-")
		if !ranged {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 32)
		to, err2 := strconv.ParseUint(high, 10, 32)
		switch {
		case err != nil || err2 != nil || to < from:
			return nil, fmt.Errorf("%q is no range of numbers", span)
		case (int(min(to-from, maxNodes))+1)*len(ends)+len(nodes) > maxNodes:
			return nil, fmt.Errorf("more than %d nodes", maxNodes)
		}
		for n := from; n <= to; n++ {
			for _, end := range ends {
				nodes = append(nodes, fmt.Sprintf("%s%0*d%s", text[:open], len(low), n, end))
			}
		}
	}
	return nodes, nil
}
