package spare_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/cedesched/cede/internal/base/spare"
)

// One value outlives garbage collections.
func TestOneIsKept(t *testing.T) {
	var s spare.Spare[[64]int]
	first, second := s.Take(), s.Take()
	if first == second {
		t.Fatal("two takers have the same value")
	}
	s.Give(first)
	s.Give(second)
	for range 3 { // a pool forgets after two
		runtime.GC()
	}
	if s.Take() != first {
		t.Error("a garbage collection took the value that is kept")
	}
}

// No value has two users.
func TestNoValueHasTwoUsers(t *testing.T) {
	var s spare.Spare[sync.Mutex]
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10_000 {
				m := s.Take()
				if !m.TryLock() {
					t.Error("the value is in use")
					return
				}
				m.Unlock()
				s.Give(m)
			}
		})
	}
	all.Wait()
}
