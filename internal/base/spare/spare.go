// Package spare keeps working memory between uses.
package spare

import (
	"sync"
	"sync/atomic"
)

// Spare keeps values that are not in use. One of them outlives garbage collections, so that a
// caller that needs one at a time allocates it once. The zero value is ready, for any number of
// goroutines.
type Spare[T any] struct {
	one  atomic.Pointer[T]
	rest sync.Pool // of *T
}

// Take returns a value as [Spare.Give] got it, or a new one.
func (s *Spare[T]) Take() *T {
	if one := s.one.Swap(nil); one != nil {
		return one
	}
	if other, _ := s.rest.Get().(*T); other != nil {
		return other
	}
	return new(T)
}

// Give keeps a value that the caller uses no longer.
func (s *Spare[T]) Give(t *T) {
	if !s.one.CompareAndSwap(nil, t) {
		s.rest.Put(t)
	}
}
