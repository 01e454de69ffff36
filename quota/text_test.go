package quota

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// "The zero value is no bound": it is not a bound of zero, in text or JSON.
func TestLimitText(t *testing.T) {
	for _, c := range []struct {
		limit Limit
		text  string
	}{{Limit{}, "none"}, {AtMost(0), "0"}, {AtMost(12345), "12345"}} {
		if c.limit.String() != c.text || c.limit.IsZero() != (c.text == "none") {
			t.Errorf("%q, zero %v; want %q", c.limit, c.limit.IsZero(), c.text)
		}
		if !c.limit.Equal(c.limit) || c.limit.Equal(AtMost(7)) || AtMost(7).Equal(c.limit) {
			t.Errorf("%v equals 7, or not itself", c.limit)
		}
	}
	if AtMost(0).Equal(Limit{}) {
		t.Error("a bound of zero equals none")
	}
}

// "The zero value is unset, which counts as 1. A weight of 0 is valid."
func TestWeightText(t *testing.T) {
	for _, c := range []struct {
		weight Weight
		text   string
		json   string
		value  float64
		valid  bool
	}{
		{Weight{}, "unset", "null", 1, true},
		{WeightOf(0), "0", "0", 0, true},
		{WeightOf(1), "1", "1", 1, true},
		{WeightOf(12.25), "12.25", "12.25", 12.25, true},
		{WeightOf(0.1), "0.1", "0.1", 0.1, true},
		{WeightOf(-1), "-1", "-1", -1, false},
		{WeightOf(math.Inf(1)), "+Inf", "", math.Inf(1), false},
		{WeightOf(math.Inf(-1)), "-Inf", "", math.Inf(-1), false},
		{WeightOf(math.NaN()), "NaN", "", math.NaN(), false},
	} {
		w, unset := c.weight, c.text == "unset"
		if value, set := w.Get(); set == unset || value != c.value && !math.IsNaN(value) {
			t.Errorf("%s: %v, %v", c.text, value, set)
		}
		if w.String() != c.text || w.IsZero() != unset || w.Valid() != c.valid || w.Equal(WeightOf(7)) {
			t.Errorf("%s: %q, zero %v, valid %v, equals 7: %v", c.text, w, w.IsZero(), w.Valid(), w.Equal(WeightOf(7)))
		}
		data, err := w.MarshalJSON()
		if string(data) != c.json || (err != nil) != (c.json == "") {
			t.Errorf("%s: written as %s, %v", c.text, data, err)
		}
		if read := WeightOf(7); err == nil && (json.Unmarshal(data, &read) != nil || !read.Equal(w)) {
			t.Errorf("%s: read as %v", c.text, read)
		}
	}
	if WeightOf(1).Equal(Weight{}) {
		t.Error("a weight of 1 equals none")
	}
	for _, text := range []string{`"1"`, "{}", "1e999", ""} {
		if w := WeightOf(7); w.UnmarshalJSON([]byte(text)) == nil || !w.IsZero() {
			t.Errorf("%q is read as %v", text, w)
		}
	}
}

// "It fails on unknown fields and on an entry without nominal: limits alone say nothing."
func TestQuotaJSON(t *testing.T) {
	full := Quota{Flavor: "spot", Resource: "gpu", Nominal: 8, BorrowingLimit: AtMost(0), LendingLimit: AtMost(2)}
	for text, want := range map[string]Quota{
		`{"flavor":"spot","resource":"gpu","nominal":8,"borrowingLimit":0,"lendingLimit":2}`: full,
		`{"flavor":"spot","resource":"gpu","nominal":0}`:                                     {Flavor: "spot", Resource: "gpu"},
	} {
		var q Quota
		if err := json.Unmarshal([]byte(text), &q); err != nil || q != want {
			t.Errorf("%s is read as %v, %v", text, q, err)
		}
		if data, err := json.Marshal(want); err != nil || string(data) != text {
			t.Errorf("%v is written as %s, %v", want, data, err)
		}
	}
	for text, want := range map[string]string{
		`{"flavor":"spot","resource":"gpu","borrowingLimit":1}`: "quota of spot/gpu: no nominal",
		`{"flavor":"spot","resource":"gpu","nominal":null}`:     "no nominal",
		`{"nominal":1,"nominel":2}`:                             `unknown field "nominel"`,
		`{"nominal":1.5}`:                                       "1.5",
	} {
		var q Quota
		if err := json.Unmarshal([]byte(text), &q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A flavor-resource is ordered by flavor, then by resource, and written with a slash.
func TestFlavorResourceText(t *testing.T) {
	ordered := []FlavorResource{{"", ""}, {"", "b"}, {"a", "b"}, {"a", "c"}, {"b", "a"}}
	for i, x := range ordered {
		for j, y := range ordered {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := x.Compare(y); got != want {
				t.Errorf("%v against %v is %d, want %d", x, y, got, want)
			}
		}
	}
	if got := (FlavorResource{"spot", "gpu"}).String(); got != "spot/gpu" {
		t.Error(got)
	}
}
