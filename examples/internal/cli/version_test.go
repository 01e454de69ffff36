package cli

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}
	changed := append([]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, commit...)
	for _, c := range []struct {
		main     string
		settings []debug.BuildSetting
		want     string
	}{
		{"v0.1.0", nil, "v0.1.0, go1.26"},
		{"(devel)", nil, "devel, go1.26"},
		{"", commit, "devel, commit 0123456789ab, go1.26"},
		{"(devel)", changed, "devel, commit 0123456789ab with changes, go1.26"},
		{"v0.0.0-20261126-0123456789ab+dirty", changed, "v0.0.0-20261126-0123456789ab+dirty, go1.26"},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: c.main}, Settings: c.settings}
		if got := versionOf(info); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
