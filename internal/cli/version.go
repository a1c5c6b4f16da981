package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version returns the line that --version prints: the name of the command, its version, the commit
// from which it was built, the version of Go that built it, and its platform.
func Version(name string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{Main: debug.Module{Version: "(unknown)"}, GoVersion: runtime.Version()}
	}
	return fmt.Sprintf("%s %s\n", name, versionOf(info))
}

// versionOf returns such as "v0.1.0, commit 0123456789ab, go1.26.0 linux/amd64". In a clone go build
// records the commit; the version of a commit without a tag contains it.
func versionOf(info *debug.BuildInfo) string {
	text := info.Main.Version
	for _, s := range info.Settings {
		if commit := fmt.Sprintf("%.12s", s.Value); s.Key == "vcs.revision" && !strings.Contains(text, commit) {
			text += ", commit " + commit
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", text, info.GoVersion, runtime.GOOS, runtime.GOARCH)
}
