package docs_test

import (
	"go/ast"
	"strings"
	"testing"
)

// Every field RelTol or MaxBytes of exported settings has the default of package num and says so.
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
						if want := "[num.Default" + n.Name + "]"; !strings.Contains(field.Doc.Text()+field.Comment.Text(), want) {
							t.Errorf("%v: the comment of %s.%s does not name %s", l.position(n.Pos()), name, n.Name, want)
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
