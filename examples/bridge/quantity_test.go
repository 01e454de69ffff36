package bridge

import "testing"

// What is read the plain way is read the exact way, too, as the same amount.
func TestPlainIsExact(t *testing.T) {
	count := 0
	for _, number := range []string{"", "0", "1", "7", "00", "007", "999", "1000", "8192", "9223372036854", "999999999999999", "1000000000000000", "9223372036854775807"} {
		for _, suffix := range []string{"", "n", "u", "m", "k", "K", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "ki", "mi", "e", "e3", "E3", "e9", "e-3", "e18", " ", "x", ".5", "e1.5"} {
			got, ok := plain(number + suffix)
			if !ok {
				continue
			}
			count++
			if want, err := exact(number + suffix); err != nil || got != want {
				t.Errorf("%q: %v, want %v, %v", number+suffix, got, want, err)
			}
		}
	}
	for _, text := range []string{"8", "500m", "64Gi", "100k", "0"} {
		if _, ok := plain(text); !ok {
			t.Errorf("%q is not read the plain way", text)
		}
	}
	if count < 100 {
		t.Errorf("only %d amounts", count)
	}
}
