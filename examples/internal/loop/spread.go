package loop

import (
	"errors"
	"math/bits"
	"slices"
)

// Spread is how a number of seconds is spread over jobs. Its quantiles are exact below 128 s; above, they are off by less
// than 0.8 % (half a bucket of a 64th of a power of two). Spreads add up. The zero value is empty.
type Spread struct {
	Sum  int64 `json:"sum"`
	Most int64 `json:"most"`
	// Counts are pairs: a bucket, and how many are in it.
	Counts []int64 `json:"counts,omitempty"`
	counts []int64 // by bucket, until [Spread.end]
}

// fine is the binary logarithm of the buckets of each power of two.
const fine = 6

// maxBucket is above all buckets of seconds in 64 bits.
const maxBucket = (64 - fine) << fine

// bucketOf returns the bucket of a number that is not negative.
func bucketOf(n int64) int {
	if n < 2<<fine {
		return int(n)
	}
	shift := bits.Len64(uint64(n)) - fine - 1
	return shift<<fine + int(n>>shift)
}

// middle returns the number that stands for a bucket.
func middle(bucket int64) int64 {
	if bucket < 2<<fine {
		return bucket
	}
	shift := bucket>>fine - 1
	return (bucket-shift<<fine)<<shift + (1<<shift)/2
}

func (s *Spread) add(n int64) {
	s.Sum += n
	s.Most = max(s.Most, n)
	b := bucketOf(n)
	if b >= len(s.counts) {
		s.counts = append(s.counts, make([]int64, b+1-len(s.counts))...)
	}
	s.counts[b]++
}

// end writes the counts.
func (s *Spread) end() {
	for b, n := range s.counts {
		if n > 0 {
			s.Counts = append(s.Counts, int64(b), n)
		}
	}
	s.counts = nil
}

// Merge adds another spread.
func (s *Spread) Merge(o Spread) {
	s.Sum, s.Most = s.Sum+o.Sum, max(s.Most, o.Most)
	var sum []int64
	for a, b := s.Counts, o.Counts; len(a)+len(b) > 0; {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			sum, a = append(sum, a[0], a[1]), a[2:]
		case len(a) == 0 || b[0] < a[0]:
			sum, b = append(sum, b[0], b[1]), b[2:]
		default:
			sum, a, b = append(sum, a[0], a[1]+b[1]), a[2:], b[2:]
		}
	}
	s.Counts = sum
}

// N returns how many numbers there are.
func (s *Spread) N() (n int64) {
	for i := 1; i < len(s.Counts); i += 2 {
		n += s.Counts[i]
	}
	return n
}

// Quantile returns what so many of 100 do not exceed.
func (s *Spread) Quantile(of100 int64) int64 {
	n, sum := s.N(), int64(0)
	for i := 0; i < len(s.Counts); i += 2 {
		if sum += s.Counts[i+1]; sum*100 >= n*of100 {
			return min(middle(s.Counts[i]), s.Most)
		}
	}
	return 0
}

// check fails on counts that no replay writes.
func (s *Spread) check() error {
	if len(s.Counts)%2 != 0 || s.Sum < 0 || s.Most < 0 {
		return errors.New("counts are pairs, sums are not negative")
	}
	last := int64(-1)
	for pair := range slices.Chunk(s.Counts, 2) {
		if pair[0] <= last || pair[0] >= maxBucket || pair[1] < 1 || pair[1] > 1<<40 {
			return errors.New("counts are of buckets in their order")
		}
		last = pair[0]
	}
	return nil
}
