package cli

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
)

// Flags have one dash or two, a value behind = or in the next argument, and stand before and behind other arguments; what follows -- is
// none. One that is known by a letter has a name, too.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		args, rest, given string
		fails             string
	}{
		{args: "-f a -all x", rest: "x", given: "f=a all=true"},
		{args: "x --file=a y --all=false", rest: "x y", given: "f=a all=false"},
		{args: "--file a -count 2 -- -all", rest: "-all", given: "f=a count=2"},
		{args: "-f a -f b", given: "f=ab"},
		{args: "-count many", fails: `invalid argument "many" for "--count" flag`},
		{args: "-nosuch", fails: "unknown flag: --nosuch; usage: tool"},
		{args: "-count", fails: "flag needs an argument: --count; usage: tool"},
	} {
		flags := flag.NewFlagSet("tool", flag.ContinueOnError)
		text := ""
		flags.Func("f", "read `FILE`", func(name string) error { text += name; return nil })
		flags.Bool("all", false, "everything")
		flags.Int("count", 1, "so `N` many")
		err := Parse(flags, strings.Fields(c.args), "usage: tool [FLAGS]", new(strings.Builder))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, want %q", c.args, err, c.fails)
			}
			continue
		}
		given := map[string]string{}
		flags.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() })
		if _, is := given["f"]; is {
			given["f"] = text
		}
		for want := range strings.FieldsSeq(c.given) {
			name, value, _ := strings.Cut(want, "=")
			if given[name] != value {
				t.Errorf("%s: %q, want %s", c.args, given, want)
			}
		}
		if err != nil || len(given) != len(strings.Fields(c.given)) || !slices.Equal(flags.Args(), strings.Fields(c.rest)) {
			t.Errorf("%s: %v, %q, %q", c.args, err, given, flags.Args())
		}
	}
}

// The help has the usage, examples and every flag.
func TestParseHelp(t *testing.T) {
	for _, arg := range []string{"-h", "--help", "-help"} {
		flags := flag.NewFlagSet("tool", flag.ContinueOnError)
		flags.String("o", "text", "print `text|json`")
		var out strings.Builder
		err := Parse(flags, []string{arg}, "usage: tool [-o text|json]", &out, "", "-o json")
		want := "usage: tool [-o text|json]\n\nExamples:\n  tool\n  tool -o json\n\nFlags:\n  -o, --output text|json   print text|json (default text)\n"
		if !errors.Is(err, flag.ErrHelp) || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s: %v, %q, want %q", arg, err, out.String(), want)
		}
	}
}
