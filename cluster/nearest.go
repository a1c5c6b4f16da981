package cluster

import (
	"fmt"
	"strings"
)

// A nearest remembers the candidate most like a misspelt word.
type nearest struct {
	to, best string
	distance int
}

// try offers a candidate. A part of it ("rate" of arrival_rate) counts as one letter wrong.
// Long words are passed over: the edit distance takes quadratic time.
func (n *nearest) try(candidate string) {
	if len(n.to) > 100 || len(candidate) > 100 {
		return
	}
	d := editDistance(n.to, candidate)
	if len(n.to) >= 3 && strings.Contains(candidate, n.to) {
		d = 1
	}
	if n.best == "" || d < n.distance {
		n.best, n.distance = candidate, d
	}
}

// hint returns a question after the best candidate, or nothing if it is not much like the word.
func (n *nearest) hint(show func(string) string) string {
	length := len([]rune(n.best))
	if n.distance >= length || n.distance > max(1, length/3) {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", show(n.best))
}

// editDistance returns the number of letters to insert, delete or replace to turn a into b
// (Wagner and Fischer, "The string-to-string correction problem", J. ACM 21, 1974).
func editDistance(a, b string) int {
	to := []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	i := 0
	for _, c := range a {
		i++
		diagonal := row[0]
		row[0] = i
		for j := range to {
			replace := diagonal
			if to[j] != c {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, diagonal+1, row[j]+1)
		}
	}
	return row[len(to)]
}
