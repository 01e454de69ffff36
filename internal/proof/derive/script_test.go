package derive

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Run answers the questions of a file. It returns the file with these answers in place of the
// old ones. name is that of the file, for errors; page is the text of docs/designs/rules.md, with
// the rules that the file names.
func Run(name, text, page string) (string, error) {
	s := script{name: name, common: &world{page: page}}
	s.world = s.common
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		lineText := lines[i]
		if lineText == answerMark { // the old answer
			for i++; i < len(lines) && lines[i] != ""; i++ {
			}
			i--
			continue
		}
		if err := s.add(i+1, lineText); err != nil {
			return "", err
		}
	}
	if s.asked == 0 {
		return "", fmt.Errorf("%s: no question", name)
	}
	return s.out.String(), nil
}

// answerMark stands between a question and its answer, which ends at an empty line.
const answerMark = "----"

type script struct {
	name   string
	common *world // what is said before the first sentence holds for all cases
	world  *world
	quoted bool // the last line was a part of a sentence
	asked  int
	ended  bool // an answer, which an empty line ends
	out    strings.Builder
}

func (s *script) add(number int, text string) error {
	if s.ended && text != "" {
		fmt.Fprintln(&s.out)
	}
	s.ended = false
	fmt.Fprintln(&s.out, text)
	quoted := s.quoted
	s.quoted = strings.HasPrefix(text, ">")
	switch {
	case s.quoted && !quoted:
		s.world = s.common.clone()
		return nil
	case s.quoted, strings.TrimSpace(text) == "", strings.HasPrefix(text, "#"):
		return nil
	}
	l := parseLine(fmt.Sprintf("%s:%d", s.name, number), text)
	if state := verbs[l.verb]; state != nil {
		return state(s.world, l)
	}
	question := questions[l.verb]
	if question == nil {
		known := slices.Concat(slices.Sorted(maps.Keys(verbs)), slices.Sorted(maps.Keys(questions)))
		return fmt.Errorf("%s: unknown verb %q: want one of %s", l.at, l.verb, strings.Join(known, ", "))
	}
	answer, err := question(s.world, l)
	if err != nil {
		return err
	}
	s.asked++
	s.ended = true
	fmt.Fprintf(&s.out, "%s\n%s", answerMark, answer)
	return nil
}
