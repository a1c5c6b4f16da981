// Package docs answers for tests: do the code blocks of Markdown texts work as shown? It reads the
// blocks so tests can run them.
package docs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// A Block is the text between two lines that start with ```.
type Block struct {
	Line int    // number of its first line, from 1
	Info string // text after the opening ```, such as "go" or "yaml shop.yaml"
	Text string // ends in a line feed, unless empty
}

// Blocks returns the code blocks of a Markdown text in order.
func Blocks(markdown string) []Block {
	var blocks []Block
	open := false
	line := 0
	for text := range strings.Lines(markdown) {
		line++
		info, fence := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "```")
		switch {
		case fence && !open:
			blocks = append(blocks, Block{Line: line + 1, Info: strings.TrimSpace(info)})
			open = true
		case fence:
			open = false
		case open:
			blocks[len(blocks)-1].Text += text
		}
	}
	return blocks
}

// A Command is a line "$ ..." of a console block with its output.
type Command struct {
	Line   int    // from 1
	Text   string // without "$ "
	Output string // the lines up to the next command or the end of the block
}

// Commands returns the commands of a block, whose first line must be one.
func (b Block) Commands() []Command {
	var commands []Command
	line := b.Line
	for text := range strings.Lines(b.Text) {
		if command, ok := strings.CutPrefix(text, "$ "); ok {
			commands = append(commands, Command{Line: line, Text: strings.TrimRight(command, "\r\n")})
		} else if n := len(commands); n > 0 {
			commands[n-1].Output += text
		}
		line++
	}
	return commands
}

// Output returns the output of a command according to the Markdown file.
func Output(file, command string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for _, b := range Blocks(string(text)) {
		for _, c := range b.Commands() {
			if c.Text == command {
				return c.Output, nil
			}
		}
	}
	return "", fmt.Errorf("%s: no command %q", file, command)
}

// Matches reports whether got equals want, where a line "..." in want matches any lines. Leading
// and trailing spaces are ignored.
func Matches(want, got string) bool {
	pattern := regexp.QuoteMeta(strings.TrimSpace(want) + "\n")
	pattern = strings.ReplaceAll(pattern, `\.\.\.`+"\n", `(?s:.*\n)`)
	return regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimSpace(got) + "\n")
}

// CheckOutput returns an error unless run prints the output of the command in the Markdown file.
func CheckOutput(file, command string, run func(io.Writer) error) error {
	want, err := Output(file, command)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := run(&b); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	if b.String() != want {
		return fmt.Errorf("%s: %s prints\n%s\nwant\n%s", file, command, b.String(), want)
	}
	return nil
}

// CheckTable compares the table of a file that starts with head (two lines) with the given table,
// which starts with the same lines. If update is set, it writes the given table instead.
func CheckTable(file, head, table string, update bool) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), head)
	if !found {
		return fmt.Errorf("%s: no line %q", file, head)
	}
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	whole := before + table + rest
	if update {
		return os.WriteFile(file, []byte(whole), 0o644)
	}
	if whole != string(text) {
		return fmt.Errorf("%s: the table differs; -update writes the computed one:\n%s", file, table)
	}
	return nil
}
