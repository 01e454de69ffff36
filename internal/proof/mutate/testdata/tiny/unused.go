package tiny

// Unused is run by no test.
func Unused() bool { return true }
