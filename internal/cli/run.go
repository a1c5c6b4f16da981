package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"productform/internal/file"
	"productform/internal/input"
)

// Interrupted is the exit status of a command that was interrupted.
const Interrupted = 130

// Help starts with the usage of a command, then examples, then the text. Long examples come at the
// end because they would separate the text from the flags.
const (
	usage = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasHelpSubCommands}}

Topics:{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

Run "{{.Root.Name}} help{{if .HasParent}} {{.Name}}{{end}} TOPIC" for more about a command{{if .HasHelpSubCommands}} or a topic{{end}}.{{end}}
`
	help = `{{.Short}}
{{if or .Runnable .HasSubCommands}}
{{.UsageString}}{{end}}{{$long := gt (len .Example) 3000}}{{if and .Example (not $long)}}
Examples:
{{.Example}}
{{end}}{{with .Long}}
{{.}}
{{end}}{{if $long}}
Examples:
{{.Example}}
{{end}}`
)

// Execute runs a command line. If cobra would print a help text or names of Go functions, Execute
// returns an error that states the problem instead. It also returns an error if a help text cannot
// be written.
func Execute(ctx context.Context, root *cobra.Command, args []string) error {
	args = append([]string{}, args...) // nil would mean os.Args
	root.SetArgs(args)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetUsageTemplate(usage)
	root.SetHelpTemplate(help)
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
			for _, shell := range c.Commands() {
				shell.Long = strings.ReplaceAll(shell.Long, "#### ", "") // remove Markdown headings
			}
		}
	}
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // or ShellCompNoDescRequestCmd
		registerCompletions(root)
	}
	if c, rest, err := root.Find(args); err != nil { // no such command
		if c.ParseFlags(rest) == nil && c.Flags().NArg() > 0 {
			return known(c, c.Flags().Args()[:1])
		}
	}
	var lost error
	show := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		var text bytes.Buffer
		out := c.OutOrStdout()
		c.SetOut(&text)
		show(c, args)
		c.SetOut(out)
		_, lost = out.Write(text.Bytes())
	})
	if err := root.ExecuteContext(ctx); err != nil {
		return err
	}
	return lost
}

// known returns an error unless the words name a subcommand of c.
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
			hint := file.DidYouMean(word, slices.Values(names), strings.Clone)
			if hint == "" && len(names) > 1 {
				hint = "; " + c.CommandPath() + " --help lists them"
			}
			return fmt.Errorf("unknown command %q for %q%s", word, c.CommandPath(), hint)
		}
		c = next
	}
	return nil
}

// flagError returns an error that states the problem with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var bad *input.Error
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		name, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "=")
		if len(name) == 1 {
			return err
		}
		if cmd.Flags().Lookup(name) != nil {
			return fmt.Errorf("unknown flag: -%s; did you mean --%[1]s?", name)
		}
		return fmt.Errorf("unknown flag: -%s%s", name, rightFlag(cmd, name))
	case errors.As(err, &unknown):
		return fmt.Errorf("unknown flag: --%s%s",
			unknown.GetSpecifiedName(), rightFlag(cmd, unknown.GetSpecifiedName()))
	case errors.As(err, &bad):
		return bad
	case errors.As(err, &invalid): // --help=maybe
		return input.Errorf("--"+invalid.GetFlag().Name, invalid.GetValue(), "true or false")
	}
	return err
}

// rightFlag suggests a flag instead of an unknown one: its replacement, one with a similar
// spelling, or the same flag of another command.
func rightFlag(cmd *cobra.Command, name string) string {
	if now, renamed := cmd.Annotations[renamedFlag+name]; renamed {
		return fmt.Sprintf("; it is now --%s", now)
	}
	if why, gone := cmd.Annotations[goneFlag+name]; gone {
		return "; " + why
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := file.DidYouMean(name, slices.Values(names), func(n string) string { return "--" + n }); near != "" {
		return near
	}
	var have, had []string // sister commands
	var now string
	for _, c := range cmd.Root().Commands() {
		if c.Flags().Lookup(name) != nil {
			have = append(have, c.Name())
		} else if new, renamed := c.Annotations[renamedFlag+name]; renamed && (now == "" || now == new) {
			had, now = append(had, c.Name()), new
		}
	}
	switch {
	case had != nil:
		return fmt.Sprintf("; it is now --%s of %s", now, andOf(had))
	case have != nil:
		return "; it is a flag of " + andOf(have)
	}
	return ""
}

// andOf returns "a, b and c".
func andOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// OneLine returns the message of an error on one line.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
