package bridge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Quantity is an amount as Kubernetes writes it: "500m", "8", "64Gi", "1e3". The zero value
// is zero. It is exact to a billionth; smaller parts are rounded away from zero. It saturates
// at int64. Quantities of the same amount are equal (==).
type Quantity struct {
	whole int64
	nano  int32 // billionths, of the sign of whole
}

const billion = 1_000_000_000

// Units returns a quantity of n base units: bytes, devices, CPUs.
func Units(n int64) Quantity { return Quantity{whole: n} }

// Milli returns a quantity of n thousandths, for instance of a CPU.
func Milli(n int64) Quantity { return Quantity{n / 1000, int32(n % 1000 * (billion / 1000))} }

// maxQuantityText is the longest text that is read as a quantity: an API server writes about
// 20 characters.
const maxQuantityText = 64

var (
	absurdExponent = regexp.MustCompile(`[0-9.][eE][+-]?0*[0-9]{3,}`)
	quantityText   = regexp.MustCompile(`^([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?([a-zA-Z]*)$`)
)

// suffixes are the units of quantities.
var suffixes = map[string]string{
	"n": "1e-9", "u": "1e-6", "m": "1e-3", "": "1", "k": "1e3", "M": "1e6", "G": "1e9", "T": "1e12", "P": "1e15", "E": "1e18",
	"Ki": "1024", "Mi": "1048576", "Gi": "1073741824", "Ti": "1099511627776", "Pi": "1125899906842624", "Ei": "1152921504606846976",
}

// ParseQuantity reads a quantity. It fails on other text, on more than 64 characters and on
// an exponent of three digits.
func ParseQuantity(text string) (Quantity, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Units(n), nil
	}
	if len(text) > maxQuantityText || absurdExponent.MatchString(text) {
		return Quantity{}, fmt.Errorf("quantity %.20q… is out of range", text)
	}
	part := quantityText.FindStringSubmatch(text)
	if part == nil || part[3] != "" && part[4] != "" || suffixes[part[4]] == "" {
		return Quantity{}, fmt.Errorf("%q is not a quantity (as in 500m, 8, 64Gi)", text)
	}
	nano, _ := new(big.Rat).SetString(part[2] + part[3]) // digits: cannot fail
	scale, _ := new(big.Rat).SetString(suffixes[part[4]])
	nano.Mul(nano, scale).Mul(nano, new(big.Rat).SetInt64(billion))
	whole, rest := new(big.Int).QuoRem(nano.Num(), nano.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	if part[1] == "-" {
		whole.Neg(whole)
	}
	return ofNano(whole), nil
}

// ofNano returns a quantity of billionths.
func ofNano(n *big.Int) Quantity {
	whole, rest := new(big.Int).QuoRem(n, big.NewInt(billion), new(big.Int))
	switch {
	case whole.IsInt64() && whole.Int64() != math.MinInt64:
		return Quantity{whole.Int64(), int32(rest.Int64())}
	case whole.Sign() < 0:
		return Quantity{whole: math.MinInt64}
	}
	return Quantity{whole: math.MaxInt64}
}

// UnmarshalJSON reads a string or a number. It fails on null, which clients of the API refuse, and on an
// amount below zero: no object holds one, and in a sum it would hide others.
func (q *Quantity) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return errors.New("null is no quantity")
	}
	if len(text) > maxQuantityText || absurdExponent.MatchString(text) {
		return fmt.Errorf("quantity %.20s… is out of range", text)
	}
	if len(text) > 1 && text[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	read, err := ParseQuantity(strings.TrimSpace(text))
	if err != nil {
		return fmt.Errorf("%s is not a quantity (as in 500m, 8, 64Gi)", data)
	}
	if read.Compare(Quantity{}) < 0 {
		return fmt.Errorf("%s is less than zero", data)
	}
	*q = read
	return nil
}

// MarshalJSON writes the text as a string.
func (q Quantity) MarshalJSON() ([]byte, error) { return json.Marshal(q.String()) }

// String returns the amount as a decimal number: "1.5".
func (q Quantity) String() string {
	text := strconv.FormatInt(q.whole, 10)
	if q.nano == 0 {
		return text
	}
	if q.whole == 0 && q.nano < 0 {
		text = "-0"
	}
	return text + strings.TrimRight(fmt.Sprintf(".%09d", max(q.nano, -q.nano)), "0")
}

// GPU is the resource of GPUs of which pods may take parts, as in KAI. Those of Kubernetes' own are whole.
const GPU = "GPU"

// InThousandths reports whether cede counts a resource in thousandths: "cpu" and [GPU].
func InThousandths(resource string) bool { return resource == "cpu" || resource == GPU }

// Amount returns the quantity in the unit in which cede counts the resource: thousandths of a CPU or a
// [GPU], base units for all others. It is rounded up (away from zero) and saturates.
func (q Quantity) Amount(resource string) int64 {
	if !InThousandths(resource) {
		return saturate(q.whole, 1, q.nano, billion)
	}
	return saturate(q.whole, 1000, q.nano, billion/1000)
}

// saturate returns whole*factor + nano/unit, rounded away from zero.
func saturate(whole, factor int64, nano, unit int32) int64 {
	switch {
	case whole > math.MaxInt64/factor:
		return math.MaxInt64
	case whole < math.MinInt64/factor:
		return math.MinInt64
	}
	part := int64(nano / unit)
	if nano%unit != 0 {
		part += int64(cmp.Compare(nano, 0))
	}
	n := whole * factor
	switch {
	case part > 0 && n > math.MaxInt64-part:
		return math.MaxInt64
	case part < 0 && n < math.MinInt64-part:
		return math.MinInt64
	}
	return n + part
}

// IsWhole reports whether the quantity is a whole number of units.
func (q Quantity) IsWhole() bool { return q.nano == 0 }

// Float64 returns the nearest float64.
func (q Quantity) Float64() float64 { return float64(q.whole) + float64(q.nano)/billion }

// Compare is negative if q is less than other, zero if they are equal.
func (q Quantity) Compare(other Quantity) int {
	return cmp.Or(cmp.Compare(q.whole, other.whole), cmp.Compare(q.nano, other.nano))
}

// Add returns the sum, which saturates.
func (q Quantity) Add(other Quantity) Quantity {
	return ofNano(new(big.Int).Add(q.inNano(), other.inNano()))
}

// Times returns the product, which saturates; parts below a billionth are rounded away from zero.
func (q Quantity) Times(other Quantity) Quantity {
	product := new(big.Int).Mul(q.inNano(), other.inNano())
	rest := new(big.Int)
	product.QuoRem(product, big.NewInt(billion), rest)
	return ofNano(product.Add(product, big.NewInt(int64(rest.Sign()))))
}

// QuantityOf is the quantity of an amount in the unit in which cede counts the resource.
func QuantityOf(resource string, amount int64) Quantity {
	if InThousandths(resource) {
		return Milli(amount)
	}
	return Units(amount)
}

func (q Quantity) inNano() *big.Int {
	n := new(big.Int).Mul(big.NewInt(q.whole), big.NewInt(billion))
	return n.Add(n, big.NewInt(int64(q.nano)))
}
