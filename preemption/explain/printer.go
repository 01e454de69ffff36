package explain

import (
	"math"
	"strconv"

	"github.com/cedesched/cede/quota"
)

// Printer writes amounts and lines in another way than the functions of the package. The zero
// value writes as they do.
type Printer struct {
	// Amount writes an amount of a resource, as "288" for 288000 of cpu. Nil: the plain
	// number.
	Amount func(resource string, amount int64) string
	// Width is the number of columns of a page. Zero: 80. Negative: as wide as needed.
	Width int
}

// usualWidth is the width of a terminal that says nothing else.
const usualWidth = 80

func (pr Printer) width() int {
	switch {
	case pr.Width == 0:
		return usualWidth
	case pr.Width < 0:
		return math.MaxInt
	}
	return pr.Width
}

// amount writes an amount and what it is of; the flavor may be empty.
func (pr Printer) amount(n int64, of quota.FlavorResource) string {
	return pr.number(n, of.Resource) + " " + column(of)
}

func (pr Printer) number(n int64, resource string) string {
	if pr.Amount != nil {
		return pr.Amount(resource, n)
	}
	return strconv.FormatInt(n, 10)
}
