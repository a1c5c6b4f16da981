package docs_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxPackages and maxChain bound the number of packages of both modules, and the number of packages
// on a chain of imports from internal/input to a command.
const (
	maxPackages = 100
	maxChain    = 9
)

// importsOf returns the packages of this project that each package imports, in Linux and without
// tests.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			own := name != root && filepath.Clean(name) != filepath.Join(root, "live") && isModule(name)
			if own || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." ||
				d.Name() == "wasm" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(folder)
		list := imports[pkg]
		for _, i := range file.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			if used, ok := strings.CutPrefix(path, "productform/"); ok && !slices.Contains(list, used) {
				list = append(list, used)
			}
		}
		imports[pkg] = list
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

// The structure stays small enough for newcomers: packages are few, and no chain of imports is
// long.
func TestPackagesAreFew(t *testing.T) {
	imports := importsOf(t)
	if len(imports) > maxPackages {
		t.Errorf("%d packages, want at most %d", len(imports), maxPackages)
	}
	longest := map[string][]string{"internal/input": {"internal/input"}}
	var chain func(pkg string) []string
	chain = func(pkg string) []string {
		if c, ok := longest[pkg]; ok {
			return c
		}
		var best []string
		for _, used := range imports[pkg] {
			if c := chain(used); len(c) > len(best) {
				best = c
			}
		}
		if len(best) > 0 {
			best = append(slices.Clone(best), pkg)
		}
		longest[pkg] = best
		return best
	}
	found := 0
	for pkg := range imports {
		if strings.HasPrefix(pkg, "cmd/") || strings.HasPrefix(pkg, "live/cmd/") {
			c := chain(pkg)
			found = max(found, len(c))
			if len(c) > maxChain {
				t.Errorf("%d packages, want at most %d: %s", len(c), maxChain, strings.Join(c, ", "))
			}
		}
	}
	if found < 5 {
		t.Errorf("the longest chain has %d packages: the test does not see them", found)
	}
}
