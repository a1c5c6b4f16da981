package render

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Headings take several lines, with units last, and columns without a value are omitted.
func TestWide(t *testing.T) {
	rows := []Record{
		{
			{Key: "policy", Value: "edf"}, {Key: "tasks_together", Value: false, Title: "together"},
			{Key: "average_priority_violation_rate", Value: 0.25, Unit: "of jobs"},
			{Key: "lost", Value: nil, Unit: "tasks"},
		},
		{{Key: "policy", Value: "priority·5"}, {Key: "tasks_together", Value: true}},
	}
	var text Text
	text.Wide(rows, "policy", "tasks_together", "average_priority_violation_rate", "lost", "absent")
	text.Wide(rows, "policy", "tasks_together")
	text.Wide(rows, "policy", "lost")
	want := `                      average
                      priority
policy      together  violation rate
                      of jobs
edf         no        0.25
priority·5  yes       -

policy      together
edf         no
priority·5  yes

`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
}

// Without units there is no line for them, in any of the tables.
func TestWideWithoutUnits(t *testing.T) {
	long := strings.Repeat("x", 90)
	var text Text
	text.Wide([]Record{{{Key: "a", Value: 1}, {Key: "b", Value: long}, {Key: "c", Value: long}}}, "a", "b", "c")
	want := "a  b\n1  " + long + "\n\na  c\n1  " + long + "\n\n"
	if text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
}

// Long names in the first column are cut.
func TestWideCuts(t *testing.T) {
	var text Text
	text.Wide([]Record{{{Key: "account", Value: strings.Repeat("é", 49)}, {Key: "jobs", Value: 7}}}, "account", "jobs")
	want := strings.Repeat("é", 47) + "…  7\n\n"
	if _, row, _ := strings.Cut(text.String(), "\n"); row != want {
		t.Errorf("%q, want %q", row, want)
	}
}

// No line has more than 100 characters, if two columns fit. Each table begins with the first
// column, and the tables have all other columns in order.
func TestWideFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row, keys := Record{}, []string{}
		for i := range rapid.IntRange(2, 30).Draw(t, "columns") {
			key := fmt.Sprintf("%s%d", rapid.StringMatching(`([a-z]{1,8}_){0,4}`).Draw(t, "key"), i)
			value := strings.Repeat("x", rapid.IntRange(1, 48).Draw(t, "width"))
			row, keys = append(row, Field{Key: key, Value: value, Unit: "s"}), append(keys, key)
		}
		var text Text
		text.Wide([]Record{row}, keys...)
		var cells []string
		for table := range strings.SplitSeq(strings.TrimSuffix(text.String(), "\n\n"), "\n\n") {
			lines := strings.Split(table, "\n")
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > 100 || line != strings.TrimRight(line, " ") {
					t.Fatalf("%d characters in %q", n, line)
				}
			}
			of := strings.Fields(lines[len(lines)-1])
			if of[0] != row[0].Value || len(of) < 2 {
				t.Fatalf("a table with the cells %v", of)
			}
			cells = append(cells, of[1:]...)
		}
		for i, cell := range cells {
			if cell != row[i+1].Value {
				t.Fatalf("column %d is %s, want %v", i+1, cell, row[i+1].Value)
			}
		}
		if len(cells) != len(row)-1 {
			t.Fatalf("%d columns, want %d", len(cells), len(row)-1)
		}
	})
}
