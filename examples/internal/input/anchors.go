package input

import (
	"bytes"
	"regexp"
	"slices"
)

// An alias may stand for an anchor of an earlier item of its list, as in any dump by PyYAML. Items are
// parsed one by one, so an item is parsed together with those whose anchors it needs.

var (
	anchorName = regexp.MustCompile(`(?:^|[\s\[{,:-])&([^\s,\[\]{}]+)`)
	aliasName  = regexp.MustCompile(`(?:^|[\s\[{,:-])\*([^\s,\[\]{}]+)`)
)

// anchors are the items of a document so far that have anchors.
type anchors struct {
	items []chunk
	by    map[string]int // the item with the last anchor of the name
	size  int
}

// keep keeps an item that has anchors. Beyond the size of one object no more are kept.
func (a *anchors) keep(item *chunk) {
	names := anchorName.FindAllSubmatch(item.text, -1)
	if len(names) == 0 || a.size+len(item.text) > maxYAML {
		return
	}
	if a.by == nil {
		a.by = map[string]int{}
	}
	for _, name := range names {
		a.by[string(name[1])] = len(a.items)
	}
	a.size += len(item.text)
	a.items = append(a.items, chunk{slices.Clone(item.text), item.line})
}

// with returns an item behind those whose anchors it needs, and how many these are.
func (a *anchors) with(item *chunk) (all chunk, before int) {
	var needed []int
	var need func(text []byte)
	need = func(text []byte) {
		for _, name := range aliasName.FindAllSubmatch(text, -1) {
			if i, ok := a.by[string(name[1])]; ok && !slices.Contains(needed, i) {
				needed = append(needed, i)
				need(a.items[i].text)
			}
		}
	}
	if need(item.text); len(needed) == 0 {
		return *item, 0
	}
	slices.Sort(needed)
	for _, i := range needed {
		all.text = append(all.text, a.items[i].text...)
	}
	all.line = item.line - bytes.Count(all.text, []byte("\n"))
	all.text = append(all.text, item.text...)
	return all, len(needed)
}
