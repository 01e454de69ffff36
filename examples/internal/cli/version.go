package cli

import (
	"runtime/debug"
	"strings"
)

// Version is what is known of the version of the program: that of its module, the commit that it was built from, and the
// version of Go.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	of := map[string]string{}
	for _, s := range info.Settings {
		of[s.Key] = s.Value
	}
	text := info.Main.Version
	if text == "" || text == "(devel)" {
		text = "devel"
	}
	if commit := of["vcs.revision"]; commit != "" && !strings.Contains(text, commit[:min(12, len(commit))]) {
		text += ", commit " + commit[:min(12, len(commit))]
	}
	if of["vcs.modified"] == "true" && !strings.Contains(text, "+dirty") {
		text += " with changes"
	}
	return text + ", " + info.GoVersion
}
