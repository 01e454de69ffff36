// Package pods reads what pods take: quantities, and the amounts of pod specs.
package pods

import (
	"fmt"
	"math"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cedesched/cede/quota"
)

// Quantity is a resource.Quantity that refuses exponents of absurd length, which
// apimachinery computes digit by digit.
type Quantity struct{ resource.Quantity }

// maxQuantityText is the longest text of a quantity that is read.
const maxQuantityText = 64

var absurdExponent = regexp.MustCompile(`[0-9.][eE][+-]?0*[0-9]{3,}`)

// UnmarshalJSON reads a quantity of bounded length and exponent.
func (q *Quantity) UnmarshalJSON(data []byte) error {
	if len(data) > maxQuantityText || absurdExponent.Match(data) {
		return fmt.Errorf("quantity %.20s… is out of range", data)
	}
	if err := q.Quantity.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("%s is not a quantity (as in 500m, 8, 64Gi)", data)
	}
	return nil
}

// ParseAmount reads a quantity of a resource as Kubernetes writes it: "500m",
// "64Gi", "8".
func ParseAmount(resourceName, text string) (int64, error) {
	if len(text) > maxQuantityText || absurdExponent.MatchString(text) {
		return 0, fmt.Errorf("quantity %.20q… is out of range", text)
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a quantity (as in 500m, 8, 64Gi)", text)
	}
	return Amount(resourceName, q), nil
}

var (
	most       = resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
	least      = resource.NewQuantity(math.MinInt64, resource.DecimalSI)
	mostMilli  = resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI)
	leastMilli = resource.NewMilliQuantity(math.MinInt64, resource.DecimalSI)
)

// Amount is the quantity in the resource's unit: milli-CPU for cpu, base units for
// everything else. It saturates: the quantity's own conversions wrap.
func Amount(resourceName string, q resource.Quantity) int64 {
	isCPU := resourceName == string(corev1.ResourceCPU)
	upper, lower := most, least
	if isCPU {
		upper, lower = mostMilli, leastMilli
	}
	switch {
	case q.Cmp(*upper) >= 0:
		return quota.Unlimited
	case q.Cmp(*lower) <= 0:
		return math.MinInt64
	case isCPU:
		return q.MilliValue()
	}
	return q.Value()
}
