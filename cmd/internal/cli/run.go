package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Interrupted is the exit status of a command that was interrupted.
const Interrupted = 130

// Execute runs a command line. What cobra would answer with a help text or the names of Go functions is an
// error that says what was wrong, and so is a help text that cannot be written.
func Execute(ctx context.Context, root *cobra.Command, args []string) error {
	args = append([]string{}, args...) // not nil, which would mean os.Args
	root.SetArgs(args)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(flagError)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, topic []string) error { return known(root, topic) }
		case "completion":
			c.Args = func(_ *cobra.Command, shell []string) error { return known(c, shell) }
			c.RunE = func(*cobra.Command, []string) error { return c.Help() }
		}
	}
	var lost error
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		var text bytes.Buffer
		out := c.OutOrStdout()
		c.SetOut(&text)
		help(c, args)
		c.SetOut(out)
		_, lost = out.Write(text.Bytes())
	})
	if err := root.ExecuteContext(ctx); err != nil {
		return err
	}
	return lost
}

// known returns an error unless the words name a command below the one given.
func known(c *cobra.Command, words []string) error {
	for _, word := range words {
		var names []string
		var next *cobra.Command
		for _, sub := range c.Commands() {
			names = append(names, sub.Name())
			if sub.Name() == word {
				next = sub
			}
		}
		if next == nil {
			return fmt.Errorf("unknown command %q for %q%s", word, c.CommandPath(), suggest(word, names))
		}
		c = next
	}
	return nil
}

var flagName = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)

// flagError says what was wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown interface {
		GetSpecifiedName() string
		GetSpecifiedShortnames() string
	}
	var invalid interface {
		error
		GetValue() string
		Unwrap() error
	}
	switch {
	case strings.HasPrefix(err.Error(), "unknown flag") && errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if now, renamed := cmd.Annotations[renamedFlag+name]; renamed {
			return fmt.Errorf("unknown flag: --%s; it is --%s now", name, now)
		}
		var names []string
		for _, match := range flagName.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
			names = append(names, "--"+match[1])
		}
		return fmt.Errorf("%w%s", err, suggest("--"+name, names))
	case errors.As(err, &invalid):
		if strings.HasPrefix(invalid.Unwrap().Error(), "strconv.") { // --help=maybe
			text, _, _ := strings.Cut(err.Error(), ": strconv.")
			return errors.New(text)
		}
		return invalid.Unwrap()
	}
	return err
}

// suggest returns a question after the one word that a misspelt one is like, or nothing if it is like none or several.
func suggest(word string, words []string) string {
	length := len(strings.Trim(word, "-"))
	if length == 0 || length > 100 {
		return ""
	}
	for distance := 1; distance <= max(1, min(length/3, 2)); distance++ {
		known := cobra.Command{SuggestionsMinimumDistance: distance}
		for _, w := range words {
			known.AddCommand(&cobra.Command{Use: w, Run: func(*cobra.Command, []string) {}})
		}
		if near := known.SuggestionsFor(word); len(near) == 1 {
			return fmt.Sprintf("; did you mean %s?", near[0])
		}
	}
	return ""
}

// Version returns the line with which a command answers --version: its name, its version and that of the Go that built it.
func Version(name string) string {
	version, goVersion := "(unknown)", "go (unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		version, goVersion = info.Main.Version, info.GoVersion
	}
	return fmt.Sprintf("%s %s %s\n", name, version, goVersion)
}

// OneLine returns the message of an error on one line.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
