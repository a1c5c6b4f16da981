//go:build linux

package plot

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
)

// openTerminal returns a new terminal whose output is discarded.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	go io.Copy(io.Discard, master)
	return terminal
}

// On a terminal a picture without --output goes to a new file named after the model; an existing
// file is never overwritten. Everything else is written as without a terminal.
func TestPictureOnTerminal(t *testing.T) {
	terminal := openTerminal(t)
	const exists = "pfq: shop.svg: this file already exists; name a file with -o\n"
	for _, c := range []struct {
		line, exists string // command line, and a file that already exists
		file, stderr string // file written, if any, and start of the standard error
		status       int
	}{
		{line: "in/shop.yaml", file: "shop.svg", stderr: "pfq: wrote shop.svg\n"},
		{line: "in/shop.yaml", exists: "shop.svg", stderr: exists, status: 2},
		{line: "in/shop.yaml", exists: "plot.svg", file: "shop.svg", stderr: "pfq: wrote shop.svg\n"},
		{line: "in/shop.yaml --format pdf", exists: "shop.svg", file: "shop.pdf", stderr: "pfq: wrote shop.pdf\n"},
		{line: "in/shop.yaml --format csv"},
		{line: "in/shop.yaml -o other.svg", exists: "other.svg", file: "other.svg"},
		{line: "in/shop.yaml -o -"},
		{line: "in/.yaml", file: "model.svg", stderr: "pfq: wrote model.svg\n"},
		{line: "in/two.parts.yaml", file: "two.parts.svg", stderr: "pfq: wrote two.parts.svg\n"},
		{line: "-", file: "plot.svg", stderr: "pfq: wrote plot.svg\n"},
		{line: "in/shop.yaml --scale 3", status: 1, stderr: "pfq: there is nothing to draw: "},
	} {
		t.Run(c.line+" "+c.exists, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.Mkdir("in", 0o700); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"shop.yaml", ".yaml", "two.parts.yaml"} {
				commandtest.WriteFile(t, filepath.Join("in", name), shop)
			}
			if c.exists != "" {
				commandtest.WriteFile(t, c.exists, "mine")
			}
			var stderr bytes.Buffer
			args := append([]string{"plot"}, strings.Fields(c.line)...)
			program := command.Root(New(nil, nil))
			status := command.Run(program, args, strings.NewReader(shop), terminal, &stderr)
			told := stderr.String()
			if status != c.status || !strings.HasPrefix(told, c.stderr) || c.stderr == "" && told != "" {
				t.Fatalf("status %d, %q; want %d, %q", status, told, c.status, c.stderr)
			}
			found, err := filepath.Glob("*.*")
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]bool{c.file: true, c.exists: true}
			delete(want, "")
			if len(found) != len(want) {
				t.Errorf("files %v, want %v", found, want)
			}
			if c.file != "" {
				if info, err := os.Stat(c.file); err != nil || info.Size() < 1000 {
					t.Errorf("%v, %v", info, err)
				}
			}
			if c.exists == "" || c.exists == c.file {
				return
			}
			if text, err := os.ReadFile(c.exists); err != nil || string(text) != "mine" {
				t.Errorf("%s: %q, %v", c.exists, text, err)
			}
		})
	}
}
