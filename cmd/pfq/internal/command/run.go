package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/network"
	"productform/network/loss"
	"productform/network/swap"
	"productform/plan/problem"
)

// Root returns pfq with these commands.
func Root(commands ...*cobra.Command) *cobra.Command {
	root := Help(&cobra.Command{Use: "pfq", Version: cli.Version("pfq")})
	root.SetVersionTemplate("{{.Version}}")
	root.AddCommand(commands...)
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			addSchema(c)
		}
	}
	return root
}

// addSchema gives the command help the flag --format, by which the topic model is a JSON schema.
func addSchema(help *cobra.Command) {
	help.Example = "  $ pfq help model --format schema > model.schema.json"
	format, show := "text", help.Run
	cli.AddChoice(help, &format, "format", []string{"text", "schema"}, "form of the topic model, schema for a JSON schema of all files")
	help.Run, help.RunE = nil, func(c *cobra.Command, args []string) error {
		if format == "text" {
			show(c, args)
			return nil
		}
		if len(args) != 1 || args[0] != "model" {
			return input.Errorf("--format", format, "text, or the topic model, which alone has a schema")
		}
		schema, err := modelSchema()
		if err == nil {
			_, err = c.OutOrStdout().Write(schema)
		}
		return err
	}
}

// A modelFile is a kind of files.
type modelFile struct {
	name   string // in the JSON schema and in the topic model
	use    string // its description in the JSON schema
	schema func() map[string]any
	help   func() string
}

func modelFiles() []modelFile {
	return []modelFile{
		{"cluster", "for solve, stability, simulate, estimate and plot", cluster.Schema, cluster.Help},
		{"pool", "for allocate and plot", fluid.Schema, fluid.Help},
		{"traffic", "for allocate --dynamic and plot", traffic.Schema, traffic.Help},
		{"plan", "for plan and plot", problem.Schema, problem.Help},
		{"network", "for network", network.Schema, network.Help},
		{"losses", "for network: arrivals that do not fit are lost", loss.Schema, loss.Help},
		{"swaps", "for network: a pass-and-swap queue", swap.Schema, swap.Help},
	}
}

// modelText returns the text of the topic model, with a table of the fields of each kind of files in place
// of a line {NAME}. It takes a millisecond or two.
func modelText(cmd *cobra.Command) string {
	text := cmd.Long + "\n"
	for _, f := range modelFiles() {
		text = strings.Replace(text, "{"+f.name+"}\n", f.help(), 1)
	}
	return strings.TrimRight(text, "\n")
}

// modelSchema returns the JSON schema of all files.
func modelSchema() ([]byte, error) {
	text, err := helpFiles.ReadFile("help/model.schema.json")
	if err != nil {
		return nil, err
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	kinds := schema["$defs"].(map[string]any)
	for _, f := range modelFiles() {
		kind := f.schema()
		kind["description"] = f.use
		kinds[f.name] = kind
	}
	text, err = json.MarshalIndent(schema, "", "  ")
	return append(text, '\n'), err
}

// Run executes one command line of pfq and returns its exit status.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return Status(Execute(root, args, stdin, stdout, stderr), stderr)
}

// Execute executes one command line of pfq.
func Execute(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return cli.Execute(context.Background(), root, args)
}

// An EndedError says that a program which did the work of the command ended with a status that is not 0, and has
// said why.
type EndedError struct{ Status int }

func (e *EndedError) Error() string { return fmt.Sprintf("exit status %d", e.Status) }

// Status writes an error, and returns the exit status that it means.
func Status(err error, stderr io.Writer) int {
	var ended *EndedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.Status
	case errors.Is(err, ErrNoAnswer):
		return 1
	}
	fmt.Fprintln(stderr, "pfq:", cli.OneLine(err))
	if errors.Is(err, ErrInterrupted) {
		return cli.Interrupted
	}
	return 2
}

// ErrNoAnswer ends a command that has written why its valid model has no answer.
var ErrNoAnswer = errors.New("no answer")
