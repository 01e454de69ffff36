// Package deep uses tiny.
package deep

import "tiny"

// Twice is twice the sum.
func Twice(list []int) int { return 2 * tiny.Sum(list) }
