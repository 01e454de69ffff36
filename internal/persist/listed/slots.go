package listed

// slots is a hash table of places. A slot holds the upper half of a hash and, plus 1, a place; 0: it
// is empty. The number of slots is a power of 2, and at least half of them are empty.
type slots []uint64

// place returns the first place with a hash like this one; -1 if there is none.
func (s slots) place(hash uint64) int {
	for at := hash; ; at++ {
		slot := s[at&uint64(len(s)-1)]
		if slot == 0 || (slot^hash)>>32 == 0 {
			return int(uint32(slot)) - 1
		}
	}
}

// places calls yield with every place with a hash like this one.
func (s slots) places(hash uint64) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for at := hash; ; at++ {
			slot := s[at&uint64(len(s)-1)]
			if slot == 0 || (slot^hash)>>32 == 0 && !yield(int(uint32(slot))-1) {
				return
			}
		}
	}
}

func (s slots) put(hash uint64, place int) {
	at := hash
	for s[at&uint64(len(s)-1)] != 0 {
		at++
	}
	s[at&uint64(len(s)-1)] = hash>>32<<32 | uint64(place+1)
}
