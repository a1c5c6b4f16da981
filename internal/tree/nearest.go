package tree

import (
	"fmt"
	"iter"
	"strings"
)

// DidYouMean returns a question after the word most like a misspelt one, whatever their case, or nothing if none is much
// like it. A part of a word ("rate" of arrival_rate) counts as one letter wrong. Long words are passed over: the edit
// distance takes quadratic time.
func DidYouMean(word string, words iter.Seq[string], show func(string) string) string {
	const longest = 100
	if len(word) > longest {
		return ""
	}
	word = strings.ToLower(word)
	best, distance := "", 0
	for w := range words {
		if len(w) > longest {
			continue
		}
		small := strings.ToLower(w)
		d := editDistance(word, small)
		if len(word) >= 3 && d > 1 && strings.Contains(small, word) {
			d = 1
		}
		if best == "" || d < distance {
			best, distance = w, d
		}
	}
	length := len([]rune(best))
	if distance >= length || distance > max(1, length/3) {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", show(best))
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
