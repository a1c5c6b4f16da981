package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A source holds the declarations and imports of the Go files of the module.
type source struct {
	// "bf.Solve", "cluster.Model.Reduce", "bf.TestReference"; also with the folder,
	// "sim/farm.TestTAGSFarm"
	functions map[string]bool
	types     map[string]bool // "plots.Figure", in both forms
	imports   map[string]bool // paths, including those of tests
}

// readSource returns the source, read once for all tests.
func readSource(t *testing.T) source {
	t.Helper()
	s, err := parsedSource()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var parsedSource = sync.OnceValues(func() (source, error) {
	s := source{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			where, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports[where] = true
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		declare := func(where map[string]bool, name string) {
			where[strings.TrimSuffix(file.Name.Name, "_test")+"."+name] = true
			where[filepath.ToSlash(folder)+"."+name] = true
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						declare(s.types, t.Name.Name)
					}
				}
			case *ast.FuncDecl:
				if name := receiver(d); name != "" {
					declare(s.functions, name+"."+d.Name.Name)
				} else {
					declare(s.functions, d.Name.Name)
				}
			}
		}
		return nil
	})
	return s, err
})

// receiver returns the name of the receiver type of a function, "" if it has none.
func receiver(f *ast.FuncDecl) string {
	name := ""
	if f.Recv != nil {
		ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && name == "" {
				name = id.Name // without type parameters
			}
			return name == ""
		})
	}
	return name
}

// tables returns the rows of the tables of a text, without their headers, cell by cell.
func tables(t *testing.T, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	body := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			body = false
		case strings.HasPrefix(line, "|---"):
			body = true
		case body:
			rows = append(rows, strings.Split(strings.Trim(line, "|"), "|"))
		}
	}
	return rows
}

var quoted = regexp.MustCompile("`([^`]+)`")

// Every row of docs/equations.md names a function and a test, and all names exist.
func TestEquations(t *testing.T) {
	s := readSource(t)
	rows := tables(t, "equations.md")
	if len(rows) < 30 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		if len(row) != 3 {
			t.Errorf("%q: %d cells, want 3", row, len(row))
			continue
		}
		for column, isTest := range map[int]bool{1: false, 2: true} {
			names := quoted.FindAllStringSubmatch(row[column], -1)
			if len(names) == 0 {
				t.Errorf("%s: nothing named in column %d", row[0], column+1)
			}
			for _, n := range names {
				last := n[1][strings.LastIndex(n[1], ".")+1:]
				if !s.functions[n[1]] || strings.HasPrefix(last, "Test") != isTest || !ast.IsExported(last) {
					t.Errorf("%s: no such function or test: %s", row[0], n[1])
				}
			}
		}
	}
}

// The theorems of docs/theory.md are numbered in order, and docs/equations.md has a row for each.
func TestTheorems(t *testing.T) {
	read := func(name, pattern string) (numbers []string) {
		text, err := os.ReadFile(filepath.Join(root, "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			numbers = append(numbers, m[1])
		}
		return numbers
	}
	stated := read("theory.md", `(?m)^\*\*Theorem (\d+) \(`)
	cited := read("equations.md", `\[theorem (\d+)\]\(theory\.md#`)
	if len(stated) < 20 {
		t.Errorf("%d theorems", len(stated))
	}
	for i, number := range stated {
		if want := strconv.Itoa(i + 1); number != want {
			t.Errorf("theorem %s follows theorem %d", number, i)
		}
		if !slices.Contains(cited, number) {
			t.Errorf("docs/equations.md does not name theorem %s", number)
		}
	}
	for _, number := range cited {
		if !slices.Contains(stated, number) {
			t.Errorf("docs/equations.md names theorem %s, which docs/theory.md does not state", number)
		}
	}
}

// Functions that the guide recommends to Go callers exist.
func TestGuideFromGo(t *testing.T) {
	s := readSource(t)
	names := 0
	for _, row := range tables(t, "guide/go-functions.md") {
		for _, n := range quoted.FindAllStringSubmatch(row[1], -1) {
			if pkg, name, ok := strings.Cut(n[1], "."); !ok || !ast.IsExported(name) || ast.IsExported(pkg) {
				continue // a package or a field
			}
			if names++; !s.functions[n[1]] && !s.types[n[1]] {
				t.Errorf("%s: there is no %s", row[0], n[1])
			}
		}
	}
	if names < 40 {
		t.Errorf("%d names", names)
	}
}

// docs/dependencies.md lists exactly the modules that the code of all modules here imports or runs
// as tools.
func TestDependencies(t *testing.T) {
	var modules, paths []string
	for _, folder := range []string{".", "tools"} {
		text, err := os.ReadFile(filepath.Join(root, folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:require)?\s*(\S+) v\S+`).FindAllStringSubmatch(string(text), -1) {
			modules = append(modules, m[1])
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:tool)?\s+(\S+)$`).FindAllStringSubmatch(string(text), -1) {
			paths = append(paths, m[1])
		}
	}
	for where := range readSource(t).imports {
		paths = append(paths, where)
	}
	var want []string
	for _, where := range paths {
		for dir := where; dir != "."; dir = path.Dir(dir) {
			if slices.Contains(modules, dir) {
				want = append(want, dir)
				break
			}
		}
	}
	for _, folder := range []string{"live", "cmd/whatif/browser", "internal/avo"} {
		text, err := os.ReadFile(filepath.Join(root, folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:require)?\s*(\S+\.\S+/\S+) v\S+$`).FindAllStringSubmatch(
			string(text), -1,
		) {
			want = append(want, m[1]) // direct requirements have no comment
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	var got []string
	for _, row := range tables(t, "dependencies.md") {
		for _, n := range quoted.FindAllStringSubmatch(row[0], -1) {
			got = append(got, n[1])
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/dependencies.md lacks modules of go.mod and the code (-), or lists others (+):\n%s", diff)
	}
}

// The files that docs/design.md names exist.
func TestFilesOfDesign(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, n := range quoted.FindAllStringSubmatch(string(text), -1) {
		if path.Ext(n[1]) == "" || !strings.Contains(n[1], "/") || strings.ContainsAny(n[1], " *") ||
			strings.Contains(n[1], "NAME") ||
			strings.Contains(n[1], "PAPER") {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, n[1])); err != nil {
			t.Errorf("%s: %v", n[1], err)
		}
		files++
	}
	if files < 20 {
		t.Errorf("%d files", files)
	}
}

// The recipes in CONTRIBUTING.md and docs/design.md name files and identifiers that exist, and
// identifiers are in the files that the texts name for them. Parts of names in capitals, such as
// NAME, match anything.
func TestRecipes(t *testing.T) {
	s := readSource(t)
	words := readWords(t)
	for _, name := range []string{"CONTRIBUTING.md", "docs/design.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		_, section, ok := strings.Cut(string(text), "\n## Where to add\n")
		if !ok {
			t.Fatalf("%s has no recipes", name)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		named := quoted.FindAllStringSubmatch(section, -1)
		if len(named) < 20 {
			t.Errorf("%s names %d things", name, len(named))
		}
		for _, n := range named {
			if what := missing(n[1], s, words); what != "" {
				t.Errorf("%s: there is no %s %s", name, what, n[1])
			}
		}
		for _, n := range nameInFile.FindAllStringSubmatch(string(text), -1) {
			file, err := os.ReadFile(filepath.Join(root, n[2]))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if !regexp.MustCompile(`\b` + n[1] + `\b`).Match(file) {
				t.Errorf("%s: there is no %s in %s", name, n[1], n[2])
			}
		}
	}
}

// nameInFile matches "`NAME` in `FILE`" and "`NAME` (`FILE`)", where the file has a folder.
var nameInFile = regexp.MustCompile("`(?:\\w+\\.)*(\\w+)`\\s+(?:in |\\()`(\\w[\\w.]*/[\\w./]+\\.(?:go|js))`")

var (
	anyName    = regexp.MustCompile(`\b[A-Z]{2,}\b`)
	fileEnding = regexp.MustCompile(`\.(go|txt|md|js|json|yaml)$`)
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*(\.[A-Za-z_][A-Za-z_0-9]*)*$`)
)

// missing returns "file" or "identifier" if the tree has no such file or identifier.
func missing(name string, s source, words map[string]bool) string {
	isAny := anyName.MatchString(strings.TrimSuffix(strings.TrimSuffix(name, ".md"), "CHANGELOG"))
	switch {
	case isAny, strings.Contains(name, " "): // a command line is not a name
		return ""
	case strings.Contains(name, "/") || fileEnding.MatchString(name):
		for _, folder := range []string{
			"", "cmd/pfq/internal/plot", "cmd/whatif/page", "sim/internal/stations", "cmd/pfq/internal/command/help",
		} {
			if _, err := os.Stat(filepath.Join(root, folder, name)); err == nil {
				return ""
			}
		}
		return "file"
	case !identifier.MatchString(name):
		return "" // a text
	case s.functions[name] || s.types[name]:
		return ""
	}
	for word := range strings.SplitSeq(name, ".") {
		if !words[word] {
			return "identifier"
		}
	}
	return ""
}

// readWords returns the identifiers of the Go files and the words of the command texts.
func readWords(t *testing.T) map[string]bool {
	t.Helper()
	words := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return filepath.SkipDir
		}
		if d.IsDir() || !slices.Contains([]string{".go", ".js", ".txt"}, filepath.Ext(name)) {
			return nil
		}
		text, err := os.ReadFile(name)
		for word := range strings.FieldsFuncSeq(string(text), func(c rune) bool {
			return !(c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9')
		}) {
			words[strings.TrimLeft(word, "0123456789")] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return words
}
