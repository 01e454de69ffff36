package quota

import "math"

// Unlimited is an amount without bound. Unlimited plus or minus any amount is Unlimited.
const Unlimited int64 = math.MaxInt64

// Add returns a + b. It saturates at both ends of int64. It returns [Unlimited] if a or b is
// Unlimited.
func Add(a, b int64) int64 {
	sum := a + b
	if a == Unlimited || b == Unlimited || (sum > a) != (b > 0) {
		return saturatedSum(a, b)
	}
	return sum
}

func saturatedSum(a, b int64) int64 {
	if a == Unlimited || b == Unlimited || b > 0 {
		return Unlimited
	}
	return math.MinInt64
}

// Sub returns a - b. It saturates at both ends of int64. It returns [Unlimited] if a is
// Unlimited, whatever b is.
func Sub(a, b int64) int64 {
	difference := a - b
	if a == Unlimited || (difference < a) != (b > 0) {
		return saturatedDifference(a, b)
	}
	return difference
}

func saturatedDifference(a, b int64) int64 {
	if a == Unlimited || b < 0 {
		return Unlimited
	}
	return math.MinInt64
}

// Mul returns n × amount. Both must be at least 0. It saturates at [Unlimited]. Zero times
// anything is zero.
func Mul(n, amount int64) int64 {
	if n <= 0 || amount <= 0 {
		return 0
	}
	if amount > Unlimited/n {
		return Unlimited
	}
	return n * amount
}

// FlavorResource names a column of the quota tree: one resource of one flavor.
type FlavorResource struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
}

// String returns "flavor/resource".
func (fr FlavorResource) String() string { return fr.Flavor + "/" + fr.Resource }

// Compare orders by flavor, then by resource.
func (fr FlavorResource) Compare(other FlavorResource) int {
	switch {
	case fr == other:
		return 0
	case fr.Flavor < other.Flavor, fr.Flavor == other.Flavor && fr.Resource < other.Resource:
		return -1
	}
	return 1
}

// Amount is an amount of one resource of one flavor, in milli-CPU for cpu and base units for
// everything else.
type Amount struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
}

// FlavorResource returns the column of the amount.
func (a Amount) FlavorResource() FlavorResource { return FlavorResource{a.Flavor, a.Resource} }

// MaxUsage is the largest usage of a node in a column: 2^62. Below it usage is exact, so that
// removing is always the inverse of adding.
const MaxUsage int64 = 1 << 62
