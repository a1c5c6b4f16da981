package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The table in the docs has the settings that the program computes. Means at host 1 agree with
// theory, and the others do not exceed their formulas. Over 48 lines, agreement fails by chance
// with probability 48 P(|t_19| > 10), below 1e-6.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../../docs/tags-simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| 1e+") {
			lines = append(lines, line)
		}
	}
	rows, err := rows()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != len(rows) {
		t.Fatalf("%d lines, want %d", len(lines), len(rows))
	}
	interval := regexp.MustCompile(`([\d.]+) ± ([\d.]+)`)
	for i, line := range lines {
		if !strings.HasPrefix(line, rows[i].setting()) {
			t.Errorf("line begins not as computed:\n%s%s", line, rows[i].setting())
		}
		for k, m := range interval.FindAllStringSubmatch(line, -1) {
			mean, _ := strconv.ParseFloat(m[1], 64)
			half, _ := strconv.ParseFloat(m[2], 64)
			room := 5*half + 0.003 // both are rounded to 0.0005
			if k == 2 && mean < 1-room || mean > 1+room {
				t.Errorf("%s: %s", rows[i].setting(), m[0])
			}
		}
	}
}
