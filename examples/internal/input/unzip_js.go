package input

import (
	"errors"
	"io"
)

// Unzip fails: the page unpacks a file before it is read, so that its program need not hold gzip.
func Unzip(io.Reader) (io.Reader, error) {
	return nil, errors.New("gzip in gzip: unpack it first")
}
