package quota

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func amounts() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64(),
		rapid.Int64Range(-10, 10),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, Unlimited - 1, Unlimited, MaxUsage}),
	)
}

// clamp is the slow twin of saturation.
func clamp(x *big.Int) int64 {
	switch {
	case x.Cmp(big.NewInt(math.MaxInt64)) >= 0:
		return Unlimited
	case x.Cmp(big.NewInt(math.MinInt64)) <= 0:
		return math.MinInt64
	}
	return x.Int64()
}

func arithmeticSaturates(t *rapid.T) {
	a, b := amounts().Draw(t, "a"), amounts().Draw(t, "b")
	x, y := big.NewInt(a), big.NewInt(b)
	sum, difference := clamp(new(big.Int).Add(x, y)), clamp(new(big.Int).Sub(x, y))
	if a == Unlimited || b == Unlimited {
		sum = Unlimited
	}
	if a == Unlimited {
		difference = Unlimited
	}
	if got := Add(a, b); got != sum {
		t.Fatalf("Add(%d, %d) = %d, want %d", a, b, got, sum)
	}
	if got := Sub(a, b); got != difference {
		t.Fatalf("Sub(%d, %d) = %d, want %d", a, b, got, difference)
	}
	product := int64(0)
	if a > 0 && b > 0 {
		product = clamp(new(big.Int).Mul(x, y))
	}
	if got := Mul(a, b); got != product {
		t.Fatalf("Mul(%d, %d) = %d, want %d", a, b, got, product)
	}
}

func TestArithmeticSaturates(t *testing.T) { rapid.Check(t, arithmeticSaturates) }
func TestFlavorResourceOrder(t *testing.T) { rapid.Check(t, flavorResourceOrder) }
func drawFR(t *rapid.T, l string) FlavorResource {
	s := rapid.SampledFrom([]string{"", "a", "b"})
	return FlavorResource{s.Draw(t, l+" flavor"), s.Draw(t, l+" resource")}
}

// Compare is a strict weak order whose ties are equal.
func flavorResourceOrder(t *rapid.T) {
	a, b, c := drawFR(t, "a"), drawFR(t, "b"), drawFR(t, "c")
	if a.Compare(b) != -b.Compare(a) || (a.Compare(b) == 0) != (a == b) {
		t.Fatalf("%v and %v", a, b)
	}
	if a.Compare(b) < 0 && b.Compare(c) < 0 && a.Compare(c) >= 0 {
		t.Fatalf("%v, %v, %v", a, b, c)
	}
}

// A product just within the bound is itself, one past it is Unlimited.
func TestMul(t *testing.T) {
	for _, c := range []struct{ n, amount, want int64 }{
		{2, 3, 6}, {3, 2, 6}, {1, 7, 7}, {7, 1, 7}, {1, Unlimited, Unlimited}, {Unlimited, 1, Unlimited},
		{2, 1<<62 - 1, Unlimited - 1}, {2, 1 << 62, Unlimited}, {1 << 31, 1 << 31, 1 << 62}, {1 << 32, 1 << 31, Unlimited},
		{0, 5, 0}, {5, 0, 0}, {-1, 5, 0}, {5, -1, 0}, {-3, -3, 0}, {-2, -(1 << 62), 0},
	} {
		if got := Mul(c.n, c.amount); got != c.want {
			t.Errorf("%d times %d is %d, want %d", c.n, c.amount, got, c.want)
		}
	}
}
