package clock

import (
	"cmp"
	"time"

	"github.com/cedesched/cede/internal/persist/ordered"
)

// Agenda says what is due at which instant, one entry for each key. It is immutable: methods return
// another agenda that shares almost all with the old one, in O(log n). The zero value is empty.
type Agenda[K cmp.Ordered, T any] struct {
	byTime, byKey ordered.Set[Entry[K, T], struct{}]
}

// Entry is what is due at an instant.
type Entry[K cmp.Ordered, T any] struct {
	At   time.Time
	Key  K
	What T
}

// Set sets the entry of a key, in place of an earlier one. With the zero time there is none, as with
// a RetryAt that is zero.
func (a Agenda[K, T]) Set(at time.Time, key K, what T) Agenda[K, T] {
	a = a.Drop(key)
	if at.IsZero() {
		return a
	}
	e := Entry[K, T]{at, key, what}
	a.byTime, a.byKey = a.byTime.Insert(e), a.byKey.Insert(e)
	return a
}

// Drop drops the entry of a key, if there is one.
func (a Agenda[K, T]) Drop(key K) Agenda[K, T] {
	a = a.ready()
	if e, ok := a.Find(key); ok {
		a.byTime, _ = a.byTime.Delete(e)
		a.byKey, _ = a.byKey.Delete(e)
	}
	return a
}

// Find returns the entry of a key.
func (a Agenda[K, T]) Find(key K) (e Entry[K, T], ok bool) {
	return a.ready().byKey.Get(func(e Entry[K, T]) int { return cmp.Compare(e.Key, key) })
}

// Len returns the number of entries.
func (a Agenda[K, T]) Len() int { return a.byKey.Len() }

// Next returns the first instant at which anything is due; ok is false if nothing ever is.
func (a Agenda[K, T]) Next() (at time.Time, ok bool) {
	e, ok := a.ready().byTime.First()
	return e.At, ok
}

// Due returns the first entry that is due at an instant, by time, then key, and the agenda without it.
func (a Agenda[K, T]) Due(now time.Time) (e Entry[K, T], rest Agenda[K, T], ok bool) {
	e, ok = a.ready().byTime.First()
	if !ok || e.At.After(now) {
		return Entry[K, T]{}, a, false
	}
	return e, a.Drop(e.Key), true
}

// ready returns the agenda with its orders.
func (a Agenda[K, T]) ready() Agenda[K, T] {
	if a.byKey.Len() == 0 {
		a.byTime = ordered.New(&ordered.Order[Entry[K, T], struct{}]{Compare: func(a, b Entry[K, T]) int {
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key, b.Key))
		}})
		a.byKey = ordered.New(&ordered.Order[Entry[K, T], struct{}]{Compare: func(a, b Entry[K, T]) int {
			return cmp.Compare(a.Key, b.Key)
		}})
	}
	return a
}
