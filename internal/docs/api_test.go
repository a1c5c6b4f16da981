package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every field RelTol or MaxBytes of exported settings has the default of package num, and its
// comment documents that.
func TestSettingsShareDefaults(t *testing.T) {
	found := 0
	for _, l := range libraries(t, root) {
		for _, f := range l.files {
			for name, s := range structs(f) {
				if !ast.IsExported(name) || !strings.HasSuffix(name, "Settings") {
					continue
				}
				for _, field := range s.Fields.List {
					for _, n := range field.Names {
						if n.Name != "RelTol" && n.Name != "MaxBytes" {
							continue
						}
						found++
						if want := "[num.Default" + n.Name +
							"]"; !strings.Contains(field.Doc.Text()+field.Comment.Text(), want) {
							t.Errorf("%v: the comment of %s.%s does not name %s",
								l.position(n.Pos()), name, n.Name, want)
						}
					}
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("%d fields", found)
	}
}

// structs returns the struct types that a file declares, by name.
func structs(f *ast.File) map[string]*ast.StructType {
	all := map[string]*ast.StructType{}
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if s, ok := spec.Type.(*ast.StructType); ok {
				all[spec.Name.Name] = s
			}
		}
		return true
	})
	return all
}

// No exported declaration mentions a type of an internal package: users could not name it, and go
// doc does not show its fields. Inferred types of variables and constants are not checked.
func TestExportedNamesUsePublicTypes(t *testing.T) {
	for _, l := range append(libraries(t, root), libraries(t, filepath.Join(root, "live"))...) {
		for _, f := range l.files {
			for _, s := range internalTypes(f) {
				t.Errorf("%v: an exported declaration mentions %s, a type of an internal package",
					l.position(s.Pos()), s.Sel.Name)
			}
		}
	}
}

// The test above finds types wherever a declaration can mention them.
func TestInternalTypesAreFound(t *testing.T) {
	for text, want := range map[string]int{
		"func F(tree.Node) {}":                            1,
		"func F() (x []*tree.Node, err error) {}":         1,
		"func (t *T) F(f func(tree.Node)) {}":             1,
		"func F[N tree.Node](n N) {}":                     1,
		"type T struct { A, b tree.Node; c tree.Node }":   1,
		"type T struct { *tree.Node }":                    1,
		"type T = tree.Node":                              1,
		"type T interface { F(tree.Node) map[t.U]int }":   2,
		"var V, W tree.Node":                              1,
		"func f(tree.Node) {}":                            0,
		"func (t t) F(tree.Node) {}":                      0,
		"type t struct { A tree.Node }":                   0,
		"type T struct { a tree.Node; B num.Value }":      0,
		"func F() { var n tree.Node; t.G(n) }":            0,
		"func (t *T[U]) F(n num.Value) (m *tree.Node) {}": 1,
	} {
		const head = `package p; import ("m/num"; "m/internal/tree"; t "m/internal/tables"); `
		file, err := parser.ParseFile(token.NewFileSet(), "", head+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(internalTypes(file)); got != want {
			t.Errorf("%s: %d types, want %d", text, got, want)
		}
	}
}

// internalTypes returns the types of internal packages that the exported declarations of a file
// mention.
func internalTypes(f *ast.File) (list []*ast.SelectorExpr) {
	private := internalImports(f)
	for _, d := range f.Decls {
		for _, e := range exportedTypes(d) {
			ast.Inspect(e, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if pkg, ok := s.X.(*ast.Ident); ok && private[pkg.Name] {
						list = append(list, s)
					}
				}
				return true
			})
		}
	}
	return list
}

// internalImports returns the names of internal packages in a file.
func internalImports(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, i := range f.Imports {
		where, err := strconv.Unquote(i.Path.Value)
		if err != nil || !strings.Contains("/"+where+"/", "/internal/") {
			continue
		}
		name := path.Base(where)
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = true
	}
	return names
}

// exportedTypes returns the types of the exported functions, methods, fields, variables and
// constants of a declaration, and the components of its exported types.
func exportedTypes(d ast.Decl) (list []ast.Node) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if of := receiver(d); d.Name.IsExported() && (of == "" || ast.IsExported(of)) {
			list = append(list, d.Type)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				if s.Type != nil && slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
					list = append(list, s.Type)
				}
			case *ast.TypeSpec:
				fields, ok := s.Type.(*ast.StructType)
				switch {
				case !s.Name.IsExported():
				case !ok:
					list = append(list, s.Type)
				default:
					for _, f := range fields.Fields.List {
						if f.Names == nil || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
							list = append(list, f.Type)
						}
					}
				}
			}
		}
	}
	return list
}
