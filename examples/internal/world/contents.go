package world

import (
	"cmp"
	"io"
	"os"
)

// Contents writes what the worlds of a source are made from: the trace, its quotas, its cluster and its QOS, byte by
// byte, or the quantiles. Worlds of one name are the same only if that is.
func Contents(to io.Writer, source, quotas, cluster, qos string, trace bool) error {
	if !trace {
		_, err := to.Write(embedded)
		return err
	}
	for _, file := range []string{source, cmp.Or(quotas, beside(source)), cluster, qos} {
		if file == "" {
			continue
		}
		if err := copyFile(to, file); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(to io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}
