// Package units writes amounts and ages as people read them.
package units

import (
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/quota"
)

// Amount formats an amount as people write it: cpu in CPUs or in thousandths of one, GPUs of KAI with their parts, bytes in binary
// units, others unchanged.
func Amount(resource string, amount int64) string {
	sign := ""
	if amount < 0 {
		sign, amount = "-", max(-amount, 0)
	}
	switch {
	case amount == quota.Unlimited:
		return sign + "unlimited"
	case resource == "cpu" && amount > 0 && amount < 1000:
		return sign + strconv.FormatInt(amount, 10) + "m"
	case bridge.InThousandths(resource):
		return sign + strconv.FormatFloat(float64(amount)/1000, 'f', -1, 64)
	case inBytes(resource, amount):
		return sign + bytes(amount)
	}
	return sign + strconv.FormatInt(amount, 10)
}

// bytes writes four digits of an amount in the largest binary unit that it has, as in Kubernetes: 64Gi.
func bytes(amount int64) string {
	value, unit, fine := float64(amount), 0, 1000.0
	for ; value >= 1024; unit++ {
		value /= 1024
	}
	for whole := value; whole >= 10 && fine > 1; whole /= 10 {
		fine /= 10
	}
	return strconv.FormatFloat(math.Floor(value*fine+0.5)/fine, 'f', -1, 64) + [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}[unit]
}

// Exact formats an amount as a quantity that reads as the same amount: of cpu and GPUs of KAI thousandths, of bytes in the largest binary unit of which they are
// a whole number.
func Exact(resource string, amount int64) string {
	switch {
	case bridge.InThousandths(resource) && amount%1000 != 0:
		return strconv.FormatInt(amount, 10) + "m"
	case bridge.InThousandths(resource):
		return strconv.FormatInt(amount/1000, 10)
	case amount != 0 && inBytes(resource, amount):
		for i, unit := range []string{"Ti", "Gi", "Mi", "Ki"} {
			if size := int64(1) << (40 - 10*i); amount%size == 0 {
				return strconv.FormatInt(amount/size, 10) + unit
			}
		}
	}
	return strconv.FormatInt(amount, 10)
}

// inBytes reports whether the amount of a resource is in bytes: of Kubernetes' own by their names, of others if the name says memory or
// storage and the amount is of whole mebibytes, because some count memory in units of their own.
func inBytes(resource string, amount int64) bool {
	switch {
	case resource == "memory", resource == "storage", resource == "ephemeral-storage", strings.HasPrefix(resource, "hugepages-"):
		return true
	case amount == 0 || amount%(1<<20) != 0:
		return false
	}
	own := resource[strings.LastIndex(resource, "/")+1:]
	return strings.Contains(own, "memory") || strings.Contains(own, "storage") || strings.Contains(own, "hugepages")
}

// Age formats how long ago something was.
func Age(now, then time.Time) string {
	switch {
	case then.IsZero():
		return "unknown"
	case now.Before(then):
		return "0s"
	}
	return duration.HumanDuration(now.Sub(then))
}
