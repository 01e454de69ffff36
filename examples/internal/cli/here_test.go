package cli

import "testing"

func TestIsHere(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "localhost:80": true, "127.0.0.1:8018": true, "127.1.2.3": true, "[::1]:80": true, "::1": true,
		"": false, ":80": false, "0.0.0.0:80": false, "10.0.0.1:80": false, "[::]:80": false, "localhost.example:80": false, "example": false,
	} {
		if got := IsHere(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
