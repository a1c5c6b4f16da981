package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A layer is a row of the first table in docs/design.md: the patterns of its packages, as for
// path.Match.
type layer struct {
	number   int
	patterns []string
}

func layers(t *testing.T) []layer {
	t.Helper()
	var all []layer
	for _, row := range tables(t, "design.md") {
		number, err := strconv.Atoi(strings.TrimSpace(row[0]))
		if err != nil {
			break // another table
		}
		l := layer{number: number}
		for _, n := range quoted.FindAllStringSubmatch(row[1], -1) {
			l.patterns = append(l.patterns, n[1])
		}
		all = append(all, l)
	}
	return all
}

// layerOf returns the number of the only layer that names a package, -1 if none or several do.
func layerOf(all []layer, pkg string) int {
	number, found := -1, 0
	for _, l := range all {
		for _, pattern := range l.patterns {
			if ok, err := path.Match(pattern, pkg); ok && err == nil {
				number = l.number
				found++
			}
		}
	}
	if found != 1 {
		return -1
	}
	return number
}

// isAllowed reports whether pkg may import used: a package of a lower layer, a package whose
// directory contains pkg, one in its own internal directory or, in layer 0, one that the
// table names earlier.
func isAllowed(all []layer, pkg, used string) bool {
	own, below := layerOf(all, pkg), layerOf(all, used)
	switch {
	case below < 0:
		return false
	case below < own:
		return true
	case own == 0 && below == 0:
		return placeOf(all, used) < placeOf(all, pkg)
	default:
		return below == own && (strings.HasPrefix(pkg, used+"/") || strings.HasPrefix(used, pkg+"/internal/"))
	}
}

// placeOf returns the position of a package in the row of layer 0.
func placeOf(all []layer, pkg string) int {
	for _, l := range all {
		if l.number == 0 {
			return slices.IndexFunc(l.patterns, func(pattern string) bool {
				ok, err := path.Match(pattern, pkg)
				return ok && err == nil
			})
		}
	}
	return -1
}

// faults returns the violations in a file of a package.
func faults(all []layer, pkg string, file *ast.File) []string {
	var wrong []string
	if layerOf(all, pkg) < 0 {
		wrong = append(wrong, "is not in exactly one layer")
	}
	for _, i := range file.Imports {
		where, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		if used, ours := strings.CutPrefix(where, "productform/"); ours {
			if !isAllowed(all, pkg, used) {
				wrong = append(wrong, "imports "+used+", which it may not")
			}
		}
	}
	for _, programs := range []string{"cmd/", "examples/", "internal/cmd/"} {
		if strings.HasPrefix(pkg, programs) {
			return wrong
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			switch name := x.Name + "." + n.Sel.Name; name {
			case "os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println":
				wrong = append(wrong, "prints: "+name)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				wrong = append(wrong, "prints: "+f.Name)
			}
		}
		return true
	})
	return wrong
}

// isModule reports whether a directory is a separate module, such as live.
func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil && filepath.Clean(folder) != filepath.Clean(root)
}

// Packages import only what the table in docs/design.md allows, and only programs print.
func TestLayers(t *testing.T) {
	all := layers(t)
	used := map[int]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			(strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || isModule(name)):
			// above all layers
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(folder)
		for _, f := range faults(all, pkg, file) {
			t.Errorf("%s: %s", name, f)
		}
		used[layerOf(all, pkg)] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if !used[l.number] {
			t.Errorf("layer %d is empty", l.number)
		}
	}
}

// faults detects each kind of violation.
func TestFaultsDetectsViolations(t *testing.T) {
	all := layers(t)
	for _, c := range []struct{ pkg, text, want string }{
		{"bf", `import "productform/cluster"`, ""},
		{"bf", `import "productform/stability"`, ""},
		{"bf", `import "productform/oiqueue"`, "imports oiqueue, which it may not"},
		{"cluster", `import "productform/bf"`, "imports bf, which it may not"},
		{"plots/draw", `import "productform/plots"`, ""},
		{"cmd/figures", `import "productform/cmd/pfq"`, "imports cmd/pfq, which it may not"},
		{"plots", `import "productform/plots/draw"`, "imports plots/draw, which it may not"},
		{"internal/input", `import "productform/num"`, ""},
		{"num", `import "productform/internal/input"`, "imports internal/input, which it may not"},
		{"bf", `import "productform/nowhere"`, "imports nowhere, which it may not"},
		{"nowhere", "", "is not in exactly one layer"},
		{"plots", `import "fmt"; func f() { fmt.Println() }`, "prints: fmt.Println"},
		{"num", `import "os"; var w = os.Stdout`, "prints: os.Stdout"},
		{"num", `func f() { println() }`, "prints: println"},
		{"cmd/pfq", `import "fmt"; func f() { fmt.Println() }`, ""},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p; "+c.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(faults(all, c.pkg, file), "; "); got != c.want {
			t.Errorf("%s, %q: %q, want %q", c.pkg, c.text, got, c.want)
		}
	}
}
