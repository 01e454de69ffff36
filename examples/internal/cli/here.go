package cli

import "net"

// IsHere reports whether a host, with a port or without, is this machine alone: localhost, or a loopback address.
func IsHere(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
