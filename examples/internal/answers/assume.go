package answers

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
)

// Assumptions reads what a user accepts: each text is a field by its path, an object as KIND/NAME, or "@FILE" with one of
// these a line.
func Assumptions(texts []string) (list []string, err error) {
	for _, text := range texts {
		file, isFile := strings.CutPrefix(text, "@")
		if !isFile {
			list = append(list, text)
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				list = append(list, line)
			}
		}
	}
	return list, nil
}

// missingMark is the end of an assumption that the cluster does not have an object.
const missingMark = "=missing"

// Assume accepts doubts: they are no doubts any more, and each answer that one of them reaches says so. KIND/NAME=missing
// says of an object that others name that the cluster does not have it. An assumption that meets no doubt is a warning. If it
// is said whether fair sharing is on, that is no doubt.
func (in *Input) Assume(list []string, sharingIsSaid bool) error {
	in.Found.Sharing.Said = sharingIsSaid
	if sharingIsSaid {
		in.doubts = in.Found.DoubtIndex()
	}
	if len(list) == 0 {
		return nil
	}
	for _, text := range list {
		if object, is := strings.CutSuffix(text, missingMark); is {
			kind, name, ok := strings.Cut(object, "/")
			if !ok || in.objects == nil {
				return fmt.Errorf("-assume %s: want KIND/NAME%s of an object of Kueue", text, missingMark)
			}
			in.objects.Miss(kind, name)
		}
	}
	if in.objects != nil {
		in.Found.Cluster = in.objects.Cluster()
		in.Found.Sharing.Said = sharingIsSaid
		in.Found.Doubts = append(in.Found.Doubts, in.more...)
		in.State = in.Found.State
	}
	in.Found.Assumptions = slices.DeleteFunc(slices.Clone(list), func(text string) bool { return strings.HasSuffix(text, missingMark) })
	in.doubts = in.Found.DoubtIndex()
	for _, text := range in.Found.Assumptions {
		if text == NodesPath && in.Large != nil {
			continue
		}
		alone := bridge.Cluster{Assumptions: []string{text}}
		if !slices.ContainsFunc(in.Found.Doubts, func(d bridge.Doubt) bool { return alone.Accepts(&d.Note) }) {
			in.Found.Warnings = append(slices.Clip(in.Found.Warnings), fmt.Sprintf("-assume %s: nothing in the input is in doubt by that", text))
		}
	}
	return nil
}

// Accept lists what to assume for these doubts to be none.
func (in *Input) Accept(doubts []string) (list []string) {
	for i := range in.Found.Doubts {
		if d := &in.Found.Doubts[i]; slices.Contains(doubts, d.Text) {
			if name := d.Assumption(); name != "" && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}
