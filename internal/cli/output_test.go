package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// If the folder of one file is missing or is a file, no file is written, and the error names the
// first such folder.
func TestWriteAllMissingFolder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		for _, made := range []string{"made", "made/deeper"} {
			if err := os.Mkdir(filepath.Join(dir, made), 0o700); err != nil {
				rt.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
			rt.Fatal(err)
		}
		const missing = " does not exist"
		wrong := map[string]string{"missing": missing, "made/missing": missing, "file": " is not a folder"}
		folders := rapid.SampledFrom([]string{".", "made", "made/deeper", "missing", "made/missing", "file"})
		var files []File
		want := ""
		for i, folder := range rapid.SliceOfN(folders, 1, 4).Draw(rt, "folders") {
			files = append(files, File{[]byte("text"), filepath.Join(dir, folder, string(rune('a'+i)))})
			if why, bad := wrong[folder]; bad && want == "" {
				want = filepath.Join(dir, folder) + why
			}
		}
		var stdout bytes.Buffer
		err := WriteAll(&stdout, File{[]byte("answer"), ""}, files...)
		if (err != nil) != (want != "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			rt.Fatalf("%v, want %q", err, want)
		}
		if (stdout.String() == "answer") != (want == "") {
			rt.Fatalf("the standard output has %q", stdout.String())
		}
		for _, f := range files {
			if text, err := os.ReadFile(f.Name); (err == nil && string(text) == "text") != (want == "") {
				rt.Fatalf("%s: %q, %v", f.Name, text, err)
			}
		}
	})
}

// An existing file does not change, and neither does a dangling link.
func TestWriteNewExistingFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := WriteNew([]byte("first"), file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), link); err != nil {
		if runtime.GOOS == "windows" { // links need a privilege
			t.Skip(err)
		}
		t.Fatal(err)
	}
	for _, name := range []string{file, link} {
		want := name + ": this file already exists"
		if err := WriteNew([]byte("second"), name); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if err := CheckNew(name); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "first" {
		t.Errorf("%q, %v", text, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}
