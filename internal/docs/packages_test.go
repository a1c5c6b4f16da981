package docs_test

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A library is a package that others may import, with its source files.
type library struct {
	folder   string
	files    []*ast.File // without tests
	comment  string      // package comment
	example  string      // body of its function Example, unindented by one tab
	position func(token.Pos) token.Position
}

// libraries returns all packages of a module that others may import, excluding internal, cmd and
// examples. Each module is read once for all tests.
func libraries(t *testing.T, module string) []*library {
	t.Helper()
	if read := readLibraries[module]; read != nil {
		return slices.Clone(read)
	}
	var all []*library
	err := filepath.WalkDir(module, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case strings.HasPrefix(d.Name(), ".") && d.Name() != ".." ||
			slices.Contains([]string{"internal", "cmd", "examples", "testdata"}, d.Name()) ||
			isModule(name) && name != module:
			return filepath.SkipDir
		}
		l, err := readLibrary(name)
		if err == nil && len(l.files) > 0 {
			all = append(all, l)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 9 {
		t.Errorf("%s: %d packages", module, len(all))
	}
	readLibraries[module] = all
	return slices.Clone(all)
}

var readLibraries = map[string][]*library{}

func readLibrary(folder string) (*library, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	l := &library{folder: folder, position: set.Position}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		isTest := strings.HasSuffix(name, "_test.go")
		if isTest && !strings.Contains(string(text), "\nfunc Example() {") {
			continue
		}
		file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if !isTest {
			l.files = append(l.files, file)
			l.comment += file.Doc.Text()
			continue
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "Example" &&
				strings.HasSuffix(file.Name.Name, "_test") {
				l.example = unindent(
					string(text[set.Position(f.Body.Lbrace).Offset+1 : set.Position(f.Body.Rbrace).Offset]),
				)
			}
		}
	}
	return l, nil
}

// unindent removes one leading tab from each line that has one.
func unindent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b.WriteString(strings.TrimPrefix(line, "\t"))
	}
	return b.String() + "\n"
}

const (
	latestExample  = 40 // latest line of a package comment at which its example begins
	longestExample = 24 // lines
)

// A package comment starts with a paragraph that states the question it answers. After the model
// comes an example: the body of function Example, which go test runs.
func TestPackageComments(t *testing.T) {
	for _, l := range append(libraries(t, root), libraries(t, filepath.Join(root, "live"))...) {
		first, _, _ := strings.Cut(l.comment, "\n\n")
		if !strings.HasPrefix(first, "Package ") || !strings.Contains(first, "?") {
			t.Errorf("%s: the package comment does not start with the question that it answers", l.folder)
		}
		if n := strings.Count(l.example, "\n"); n < 2 || n > longestExample ||
			!strings.Contains(l.example, "// Output:") {
			t.Errorf("%s: its example has %d lines: want a function Example of at most %d, with its output",
				l.folder, n, longestExample)
			continue
		}
		var shown []string
		for _, block := range new(comment.Parser).Parse(l.comment).Content {
			if code, ok := block.(*comment.Code); ok && strings.Contains(code.Text, "// Output:") {
				shown = append(shown, code.Text)
			}
		}
		if len(shown) != 1 || shown[0] != l.example {
			t.Errorf("%s: the package comment differs (+) from its function Example (-):\n%s",
				l.folder, cmp.Diff(l.example, strings.Join(shown, "\n")))
			continue
		}
		line := 0
		for text := range strings.Lines(l.comment) {
			if line++; strings.TrimSpace(text) == strings.TrimSpace(l.example[:strings.Index(l.example, "\n")]) {
				break
			}
		}
		if line > latestExample {
			t.Errorf("%s: the example begins at line %d of the comment, want %d at most", l.folder, line, latestExample)
		}
	}
}

// Every exported name has a comment: functions, types and their methods, constants and variables,
// individually or by list, and fields whose type does not explain them. Methods Error, Unwrap and
// String need none.
func TestExportedNamesHaveComments(t *testing.T) {
	for _, l := range append(libraries(t, root), libraries(t, filepath.Join(root, "live"))...) {
		for _, f := range l.files {
			for _, d := range f.Decls {
				for _, n := range l.bare(d) {
					t.Errorf("%v: %s has no comment", l.position(n.Pos()), n.Name)
				}
			}
		}
	}
}

// bare returns the exported names that a declaration introduces without a comment.
func (l *library) bare(d ast.Decl) []*ast.Ident {
	line := func(n ast.Node) int { return l.position(n.Pos()).Line }
	var list []*ast.Ident
	add := func(names []*ast.Ident, comments ...*ast.CommentGroup) {
		for _, c := range comments {
			if c != nil {
				return
			}
		}
		for _, n := range names {
			if n.IsExported() {
				list = append(list, n)
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if name := receiver(d); name == "" ||
			ast.IsExported(name) && !slices.Contains([]string{"Error", "Unwrap", "String"}, d.Name.Name) {
			add([]*ast.Ident{d.Name}, d.Doc)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				add(s.Names, d.Doc, s.Doc, s.Comment)
			case *ast.TypeSpec:
				add([]*ast.Ident{s.Name}, d.Doc, s.Doc, s.Comment)
				var fields *ast.FieldList
				switch t := s.Type.(type) {
				case *ast.StructType:
					fields = t.Fields
				case *ast.InterfaceType:
					fields = t.Methods
				}
				if fields != nil && s.Name.IsExported() {
					var above *ast.CommentGroup // comment above this field or the adjacent lines before it
					for k, f := range fields.List {
						if k == 0 || f.Doc != nil || line(f) != line(fields.List[k-1])+1 {
							above = f.Doc
						}
						if !saysAll(f.Type) && line(f) != line(s) {
							add(f.Names, above, f.Comment)
						}
					}
				}
			}
		}
	}
	return list
}

// saysAll reports whether a type has its own comment that explains a field: it is neither built-in
// nor numeric, nor a list of such types.
func saysAll(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.StarExpr:
		return saysAll(t.X)
	case *ast.ArrayType:
		return saysAll(t.Elt)
	case *ast.Ident:
		return t.IsExported()
	case *ast.SelectorExpr:
		pkg := t.X.(*ast.Ident).Name
		return pkg != "big" && pkg != "num"
	}
	return false
}
