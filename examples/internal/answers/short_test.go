package answers

import "testing"

// A change is better or worse by the first point in which two answers differ.
func TestChangeOf(t *testing.T) {
	waits := Short{Outcome: "Impossible", Missing: 4, Words: "4 gpu missing"}
	less, other := waits, waits
	less.Missing, less.Words = 2, "2 gpu missing"
	other.Missing, other.Words = 0, "borrows"
	one := Short{Outcome: "Preempt", Victims: []string{"a"}}
	two := Short{Outcome: "Preempt", Victims: []string{"a", "b"}}
	swapped := Short{Outcome: "Preempt", Victims: []string{"b"}}
	for _, c := range []struct {
		before, after *Short
		want          string
	}{
		{&waits, &waits, ""},
		{&waits, &one, "better"},
		{&one, &waits, "worse"},
		{&one, &two, "worse"},
		{&two, &one, "better"},
		{&one, &swapped, "other"},
		{&waits, &less, "better"},
		{&less, &waits, "worse"},
		{&waits, &other, "other"},
		{&other, &waits, "other"},
		{nil, &one, "other"},
	} {
		if got := ChangeOf(c.before, c.after); got != c.want {
			t.Errorf("%+v, then %+v: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}
