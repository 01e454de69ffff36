// Package seed fixes the seed of the laws, so that go test draws the same states at each run. A package
// that tests laws with rapid imports it in one test file, for its effect alone. The flag -rapid.seed and the
// variable RAPID_SEED name another seed; -rapid.seed=0 draws one, as the nightly run does.
package seed

import (
	"flag"

	_ "pgregory.net/rapid" // its flags are there before this package is initialized
)

// fixed is the seed of go test.
const fixed = "1"

func init() {
	if f := flag.Lookup("rapid.seed"); f.DefValue == "0" { // else the variable names one
		f.DefValue = fixed
		_ = f.Value.Set(fixed) // it is a number
	}
}
