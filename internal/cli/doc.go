// Package cli is what the commands have in common: flags that say what they accept, errors of one line, progress, and
// questions after misspelt words.
package cli
