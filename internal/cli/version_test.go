package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	for _, c := range []struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		{"(devel)", nil, "(devel)"},
		{"v0.1.0", []debug.BuildSetting{commit}, "v0.1.0, commit 0123456789ab"},
		{"v0.1.1-0.20261129083424-0123456789ab+dirty", []debug.BuildSetting{commit},
			"v0.1.1-0.20261129083424-0123456789ab+dirty"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings, GoVersion: "go1.26.0"}
		want := c.want + ", go1.26.0 " + runtime.GOOS + "/" + runtime.GOARCH
		if got := versionOf(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
