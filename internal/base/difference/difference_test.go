package difference_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/internal/base/difference"
)

type thing struct {
	name  string
	value int
}

func TestBetween(t *testing.T) {
	there := []thing{{"a", 1}, {"b", 2}, {"c", 3}}
	for _, c := range []struct {
		list []thing
		want string
	}{
		{[]thing{{"a", 1}, {"b", 2}, {"c", 3}}, "gone, come, repeated false"},
		{[]thing{{"a", 1}, {"b", 5}, {"c", 3}}, "gone, come b 2->5, repeated false"},
		{[]thing{{"c", 3}, {"a", 4}}, "gone b, come a 1->4, repeated false"},
		{[]thing{{"a", 1}, {"d", 6}, {"b", 2}}, "gone c, come d ->6, repeated false"},
		{[]thing{{"a", 1}, {"a", 1}, {"d", 6}, {"d", 6}}, "gone b c, come d ->6 d ->6, repeated true"},
		{nil, "gone a b c, come, repeated false"},
	} {
		d := difference.Between(len(there), func(i int) *thing { return &there[i] }, c.list,
			func(x *thing) string { return x.name }, func(a, b *thing) bool { return *a == *b })
		got := "gone"
		for _, x := range d.Gone {
			got += " " + x.name
		}
		got += ", come"
		for i, x := range d.Come {
			old := ""
			if d.Old[i] != nil {
				old = fmt.Sprint(d.Old[i].value)
			}
			got += fmt.Sprintf(" %s %s->%d", x.name, old, x.value)
		}
		if got += fmt.Sprint(", repeated ", d.Repeated); got != c.want {
			t.Errorf("%v: %s, want %s", c.list, got, c.want)
		}
	}
}
