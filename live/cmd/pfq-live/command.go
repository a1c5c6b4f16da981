package main

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/live/keys"
)

// The help of a command is its short description, an empty line and the text. Its examples are in a
// separate file.
//
//go:embed help
var helpFiles embed.FS

// help sets the help of a command.
func help(cmd *cobra.Command) *cobra.Command {
	text, err := helpFiles.ReadFile("help/" + cmd.Name() + ".txt")
	if err != nil {
		panic(err) // cannot fail: the files are embedded
	}
	cmd.Short, cmd.Long, _ = strings.Cut(strings.TrimRight(string(text), "\n"), "\n\n")
	if examples, err := helpFiles.ReadFile("help/examples/" + cmd.Name() + ".txt"); err == nil {
		cmd.Example = strings.TrimRight(string(examples), "\n")
	}
	return cmd
}

// arguments accepts one argument per word; the words are their names.
func arguments(words ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == len(words):
			return nil
		case len(words) == 0:
			return fmt.Errorf("unexpected argument %q: %s takes flags only", args[0], cmd.Name())
		}
		return fmt.Errorf("%s needs %s, not %d arguments", cmd.Name(), strings.Join(words, " "), len(args))
	}
}

// standardURL is the default address of servers and connections.
const standardURL = "nats://127.0.0.1:4222"

// addURL adds --url.
func addURL(cmd *cobra.Command, url *string) {
	*url = standardURL
	cli.AddText(
		cmd, url, "url", "", "a URL such as nats://127.0.0.1:4222, or a key file",
		"`URL` of the server, or a key file, which contains it",
	)
}

// addName adds --name.
func addName(cmd *cobra.Command, name *string) {
	cli.AddText(
		cmd, name, "name", "", "a name of letters, digits, _ and -",
		"unique `NAME` (default the name of the machine and a number)",
	)
}

// addDuration adds a flag for a duration with a minimum.
func addDuration(cmd *cobra.Command, target *time.Duration, name string, least time.Duration, usage string) {
	want := fmt.Sprintf("a duration of at least %v, such as 500ms or 2s", least)
	cli.Flag[time.Duration]{Name: name, Kind: "duration", Usage: usage, Default: target.String(), Want: want,
		Parse: func(text string) (time.Duration, bool) {
			d, err := time.ParseDuration(text)
			return d, err == nil && d >= least
		}}.Add(cmd, target)
}

// addInt adds a flag for integers in least..most.
func addInt(cmd *cobra.Command, target *int, name string, least, most int, usage string) {
	cli.Flag[int]{
		Name:    name,
		Kind:    "int",
		Usage:   usage,
		Default: strconv.Itoa(*target),
		Want:    fmt.Sprintf("an integer in %d..%d", least, most),
		Parse: func(text string) (int, bool) {
			v, err := strconv.Atoi(text)
			return v, err == nil && v >= least && v <= most
		},
	}.Add(cmd, target)
}

// addNumber adds a flag for numbers in [1e-50, 1e50]. The help shows the given default.
func addNumber(cmd *cobra.Command, target *float64, name, standard, usage string) {
	cli.Flag[float64]{Name: name, Kind: "float", Usage: usage, Default: standard, Want: input.Speed.Want(),
		Parse: func(text string) (float64, bool) {
			v, err := strconv.ParseFloat(text, 64)
			return v, err == nil && input.Speed.Has(v)
		}}.Add(cmd, target)
}

// uniqueName returns a name that no other program is likely to have.
func uniqueName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	host = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, host)
	return host[:min(len(host), 40)] + "-" + strconv.Itoa(os.Getpid())
}

// programVersion returns the version that workers report in heartbeats.
func programVersion() string { return strings.TrimSpace(cli.Version("pfq-live")) }

// connect connects to a server, and waits for it if necessary.
func connect(ctx context.Context, url, name string, log *slog.Logger) (*nats.Conn, error) {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		nc, err := keys.Connect(ctx, url, name)
		if err == nil || ctx.Err() != nil || !keys.Away(err) {
			return nc, err
		}
		log.Warn("waiting for the server", "error", err)
		sleep(ctx, pause)
	}
}

// sleep waits for a duration or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// answerFlags are the flags --format and --output.
type answerFlags struct{ format, file string }

func (f *answerFlags) add(cmd *cobra.Command) {
	cli.AddChoice(cmd, &f.format, "format", render.Formats, "form of the answer")
	cli.AddText(cmd, &f.file, "output", "o", "the name of a file, or - for the standard output",
		"write the answer to `FILE`, whole or not at all, instead of the standard output (-)")
}

func (f *answerFlags) write(cmd *cobra.Command, a render.Answer) error {
	text, err := a.Format(f.format)
	if err != nil {
		return err
	}
	return cli.Write(text, f.file, cmd.OutOrStdout())
}
