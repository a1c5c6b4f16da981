package file

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"productform/internal/input"
)

// WantName returns the text for an error about a name that is not among the names: what it should
// be, such as "the name of a class", and the most similar name or, if there is none, all names
// unless they are many.
func WantName(what, name string, names []string) string {
	if hint := DidYouMean(name, slices.Values(names), input.Quote); hint != "" {
		return what + hint
	}
	const most = 10
	if len(names) == 0 || len(names) > most {
		return what
	}
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, input.Quote(n))
	}
	return what + ": " + strings.Join(quoted, ", ")
}

// DidYouMean suggests the word most similar to a misspelt one, ignoring case, or returns "" if none
// is similar enough or several are equally similar. A word that contains the misspelt one ("rate"
// in arrival_rate) ranks after words with one wrong letter and before those with two. Long words
// are skipped: the edit distance takes quadratic time.
func DidYouMean(word string, words iter.Seq[string], show func(string) string) string {
	const longest = 100
	if len(word) > longest {
		return ""
	}
	word = strings.ToLower(word)
	best, least, several := "", 0, false
	for w := range words {
		if len(w) > longest {
			continue
		}
		small := strings.ToLower(w)
		distance := 2 * editDistance(word, small) // in half letters
		if len(word) >= 3 && distance > 2 && strings.Contains(small, word) {
			distance = 3
		}
		switch {
		case best == "" || distance < least:
			best, least, several = w, distance, false
		case distance == least && w != best:
			several = true
		}
	}
	length, letters := len([]rune(best)), least/2
	if several || letters >= length || letters > max(1, length/3) {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", show(best))
}

// editDistance returns the number of letters to insert, delete or replace, and of neighbours to
// swap, to turn a into b, where swapped letters are not edited again (Wagner and Fischer, "The
// string-to-string correction problem", J. ACM 21, 1974; Damerau, "A technique for computer
// detection and correction of spelling errors", Communications of the ACM 7, 1964).
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before, row, next := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range from {
		next[0] = i + 1
		for j := range to {
			replace := row[j]
			if to[j] != c {
				replace++
			}
			next[j+1] = min(replace, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && c == to[j-1] && from[i-1] == to[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(to)]
}
