package quota_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/cedesched/cede/quota"
)

type form[T interface{ ~int64 | ~float64 }] struct {
	value      quota.Optional[T]
	text, json string
}

// check: a set zero is not none, in text or JSON; what is written is read as the same.
func check[T interface{ ~int64 | ~float64 }](t *testing.T, seven T, forms ...form[T]) {
	none := quota.Optional[T]{}
	if got, ok := none.Get(); got != 0 || ok || none.Or(seven) != seven || quota.Some(T(0)).Equal(none) {
		t.Errorf("none is %v, %v", got, ok)
	}
	for _, f := range append(forms, form[T]{none, "none", "null"}) {
		v, set := f.value, f.text != "none"
		if got, ok := v.Get(); ok != set || v.IsZero() == set || v.String() != f.text || set && v.Or(seven) != got || v.Equal(quota.Some(seven)) || !v.Equal(v) {
			t.Errorf("%s: %q: %v, %v, zero %v", f.text, v, got, ok, v.IsZero())
		}
		data, err := json.Marshal(v)
		if read := quota.Some(seven); err != nil || string(data) != f.json || json.Unmarshal(data, &read) != nil || read != v {
			t.Errorf("%s: written as %s, %v; want %s; read as %v", f.text, data, err, f.json, read)
		}
	}
}

func TestForms(t *testing.T) {
	check(t, 7, form[int64]{quota.Some[int64](0), "0", "0"}, form[int64]{quota.Some[int64](-12345), "-12345", "-12345"},
		form[int64]{quota.Some[int64](math.MaxInt64), "9223372036854775807", "9223372036854775807"},
		form[int64]{quota.Some[int64](math.MinInt64), "-9223372036854775808", "-9223372036854775808"})
	check(t, 7, form[float64]{quota.Some(0.0), "0", "0"}, form[float64]{quota.Some(12.25), "12.25", "12.25"}, form[float64]{quota.Some(0.1), "0.1", "0.1"})
	check(t, 7, form[time.Duration]{quota.Some(time.Duration(0)), "0s", `"0s"`}, form[time.Duration]{quota.Some(-time.Second), "-1s", `"-1s"`},
		form[time.Duration]{quota.Some(30 * time.Minute), "30m0s", `"30m0s"`})
}

// What cannot be read leaves the value as it is; what JSON does not have is not written.
func TestOther(t *testing.T) {
	for _, text := range []string{`"1"`, "{}", "1.5", "1e999", "", "9223372036854775808", "true"} {
		if v := quota.Some[int64](7); v.UnmarshalJSON([]byte(text)) == nil || v != quota.Some[int64](7) {
			t.Errorf("%q is read as %v", text, v)
		}
	}
	for _, text := range []string{`"1"`, "{}", "1e999", "", "[1]"} {
		if v := quota.Some(7.0); v.UnmarshalJSON([]byte(text)) == nil || v != quota.Some(7.0) {
			t.Errorf("%q is read as %v", text, v)
		}
	}
	for _, text := range []string{"5", `"soon"`, `""`, "{}", ""} {
		if v := quota.Some(time.Hour); v.UnmarshalJSON([]byte(text)) == nil || v != quota.Some(time.Hour) {
			t.Errorf("%q is read as %v", text, v)
		}
	}
	for _, value := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if data, err := json.Marshal(quota.Some(value)); err == nil {
			t.Errorf("%v is written as %s", value, data)
		}
	}
}
