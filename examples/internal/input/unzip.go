//go:build !js

package input

import (
	"compress/gzip"
	"fmt"
	"io"
)

// Unzip reads gzip. Its errors say that the gzip is at fault, not what it holds.
func Unzip(in io.Reader) (io.Reader, error) {
	r, err := gzip.NewReader(in)
	return zipped{r}, faultOfGzip(err)
}

type zipped struct{ r *gzip.Reader }

func (z zipped) Read(p []byte) (int, error) {
	n, err := z.r.Read(p)
	return n, faultOfGzip(err)
}

func faultOfGzip(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("the gzip is damaged: %s", err.Error()) // it is not the text that ends early
}
