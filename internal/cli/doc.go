// Package cli answers: how does a command read its flags and report errors and progress? It
// provides flags that state the accepted values, one-line errors, progress, and suggestions for
// misspelt words.
package cli
