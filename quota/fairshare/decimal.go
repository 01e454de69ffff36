package fairshare

import (
	"math/big"
	"strconv"
)

// decimal is mantissa × 10^exponent.
type decimal struct {
	mantissa int64
	exponent int
}

// exactInteger bounds the integers that a float64 holds without a gap.
const exactInteger = 1 << 53

// decimalOf returns the shortest decimal number that x stands for: what was written, if it had 15
// digits at most. x is finite and not negative.
func decimalOf(x float64) decimal {
	if x < exactInteger && x == float64(int64(x)) {
		return decimal{mantissa: int64(x)}
	}
	var buffer [32]byte
	digits := strconv.AppendFloat(buffer[:0], x, 'e', -1, 64) // d.ddde±dd, of 17 digits at most
	var d decimal
	for i, c := range digits {
		switch {
		case c == 'e':
			power, _ := strconv.Atoi(string(digits[i+1:]))
			d.exponent += power
			return d
		case c != '.':
			d.mantissa = 10*d.mantissa + int64(c-'0')
			if i > 1 {
				d.exponent--
			}
		}
	}
	return d
}

// times sets z to d × 10^-exponent. No exponent is larger than that of d.
func (d decimal) times(z *big.Int, exponent int) {
	z.SetInt64(d.mantissa)
	if d.mantissa != 0 && d.exponent != exponent {
		z.Mul(z, tenTo(d.exponent-exponent))
	}
}

func tenTo(power int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(power)), nil)
}
