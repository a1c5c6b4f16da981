// Package cli is what the commands have in common: flags that say what they accept, errors of one line, and
// questions after misspelt words.
package cli
