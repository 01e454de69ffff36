package model

import "testing"

// The workload that preempts is shown, before those that wait, are refused or fit; of those the one of the highest priority. What
// is selected stays.
func TestSelectTelling(t *testing.T) {
	m := sample(t)
	if m.SelectTelling(100); m.doc.Selected != "vision/detector-train" {
		t.Errorf("the selection is now %s", m.doc.Selected)
	}
	for _, c := range []struct {
		left []string // out of those that wait
		most int
		want string
	}{
		{nil, 100, "vision/detector-train"},
		{[]string{"vision/detector-train"}, 100, "evals/long-context-all"},
		{[]string{"vision/detector-train", "evals/long-context-all"}, 100, "recsys/two-tower-xl"},
		{nil, 3, "evals/long-context-all"}, // the one that preempts is the fourth
		{[]string{"vision/detector-train", "evals/long-context-all", "recsys/two-tower-xl"}, 100, "nlp/lora-sweep"},
		{[]string{"vision/detector-train", "evals/long-context-all", "recsys/two-tower-xl", "nlp/lora-sweep"}, 100, ""},
	} {
		d := must(Sample())(t)
		d.Selected = ""
		var rest []Waiting
		for _, w := range d.Waiting {
			keep := true
			for _, id := range c.left {
				keep = keep && w.Request.Workload.ID != id
			}
			if keep {
				rest = append(rest, w)
			}
		}
		d.Waiting = rest
		m := must(New(d))(t)
		if m.SelectTelling(c.most); m.doc.Selected != c.want {
			t.Errorf("without %v, of %d: %q, want %q", c.left, c.most, m.doc.Selected, c.want)
		}
		if a := m.Ask(); (a == nil) != (c.want == "") {
			t.Errorf("%s: %+v", c.want, a)
		}
	}
}
