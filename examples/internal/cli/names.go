package cli

import "strings"

// shorten makes a name no wider than so many columns. First its namespace loses its middle, then what stands behind it: names of one
// program differ at both ends. The whole name is in the wide form of an answer.
func shorten(name string, width int) string { return shortenTo(name, width, halves) }

// halves is the tail of a name that keeps as much of its end as of its beginning.
const halves = -1

// shortenTo is shorten that keeps a tail of so many columns of what loses its middle.
func shortenTo(name string, width, tail int) string {
	if runes.StringWidth(name) <= width {
		return name
	}
	body := strings.TrimLeft(name, " ")
	indent := name[:len(name)-len(body)]
	left := width - len(indent)
	namespace, own, has := strings.Cut(body, "/")
	switch room := left - 1 - runes.StringWidth(own); {
	case !has || left < 2:
		return indent + middle(body, left, tail)
	case room > 0:
		return indent + middle(namespace, room, tail) + "/" + own
	}
	return indent + "…/" + middle(own, left-2, tail)
}

// middle takes the middle out of a name that is wider than so many columns.
func middle(name string, width, tail int) string {
	total := runes.StringWidth(name)
	if total <= width {
		return name
	}
	if tail == halves {
		tail = max(0, width-1) / 2
	}
	tail = min(tail, max(0, width-1))
	return runes.Truncate(name, max(0, width-1-tail), "") + "…" + strings.TrimLeft(runes.TruncateLeft(name, total-tail, ""), " ")
}

// shortenWord is [shorten] of a word of a sentence, which keeps the marks at its end.
func shortenWord(word string, width int) string {
	name := strings.TrimRight(word, ",.:;)*")
	marks := word[len(name):]
	return shorten(name, width-len(marks)) + marks
}

// cut makes a cell one line of a width: a name by [shorten], also before a short mark such as " (cohort)", and a text at its end.
func cut(s string, width int) string { return cutTo(s, width, halves) }

// cutTo is cut that keeps a tail of so many columns of a name.
func cutTo(s string, width, tail int) string {
	if runes.StringWidth(s) <= width {
		return s
	}
	body := strings.TrimLeft(s, " ")
	at := strings.Index(body, " ")
	if at < 0 {
		return shortenTo(s, width, tail)
	}
	name, mark := s[:len(s)-len(body)+at], body[at:]
	const most = 10 // columns of a mark
	if rest := width - runes.StringWidth(mark); len(mark) <= most && rest >= most {
		return shortenTo(name, rest, tail) + mark
	}
	return runes.Truncate(s, width, "…")
}
