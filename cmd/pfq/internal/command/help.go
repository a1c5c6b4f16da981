package command

import (
	"embed"
	"encoding/json"
	"io/fs"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/network"
	"productform/network/loss"
	"productform/network/swap"
	"productform/plan"
)

// The help of a command is its short description, an empty line, and the text. Its examples are in
// a separate file.
//
//go:embed help
var helpFiles embed.FS

// helpTexts returns the texts of the files of the help. It copies them once, because tests
// make commands thousands of times.
var helpTexts = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	err := fs.WalkDir(helpFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := helpFiles.ReadFile(path)
		texts[path] = strings.TrimRight(string(text), "\n")
		return err
	})
	if err != nil {
		panic(err) // cannot fail: the files are embedded
	}
	return texts
})

// Help sets the help texts of a command.
func Help(cmd *cobra.Command) *cobra.Command {
	text, ok := helpTexts()["help/"+cmd.Name()+".txt"]
	if !ok {
		panic("no help for " + cmd.Name())
	}
	cmd.Short, cmd.Long, _ = strings.Cut(text, "\n\n")
	if cmd.Name() == "model" {
		cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
			cmd.Long = modelText(cmd)
			cmd.Root().HelpFunc()(cmd, args)
		})
	}
	cmd.Example = helpTexts()["help/examples/"+cmd.Name()+".txt"] // topics have none
	return cmd
}

// addSchema adds the flag --format to the command help; it prints the topic model as a JSON schema.
func addSchema(help *cobra.Command) {
	help.Example = "  $ pfq help model --format schema > model.schema.json"
	format, show := "text", help.Run
	cli.AddChoice(help, &format, "format", []string{"text", "schema"},
		"form of the topic model, schema for a JSON schema of all files")
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

// A modelFile is a kind of file.
type modelFile struct {
	name   string // in the JSON schema and in the topic model
	use    string // description in the JSON schema
	schema func() map[string]any
	help   func() string
}

func modelFiles() []modelFile {
	return []modelFile{
		{"cluster", "for solve, stability, simulate, estimate and plot", cluster.Schema, cluster.Help},
		{"gangs", "for solve, stability and simulate: jobs hold several servers at once", cluster.GangSchema,
			cluster.GangHelp},
		{"pool", "for allocate and plot", fluid.Schema, fluid.Help},
		{"traffic", "for allocate --dynamic and plot", traffic.Schema, traffic.Help},
		{"plan", "for plan and plot", plan.Schema, plan.Help},
		{"network", "for network", network.Schema, network.Help},
		{"losses", "for network: arrivals that do not fit are lost", loss.Schema, loss.Help},
		{"swaps", "for network: a pass-and-swap queue", swap.Schema, swap.Help},
	}
}

// modelText returns the text of the topic model, in which each line {NAME} is replaced by a table
// of the fields of that kind of file. It takes a millisecond or two.
func modelText(cmd *cobra.Command) string {
	text := cmd.Long + "\n"
	for _, f := range modelFiles() {
		text = strings.Replace(text, "{"+f.name+"}\n", f.help(), 1)
	}
	return strings.TrimRight(text, "\n")
}

// modelSchema returns the JSON schema of all files.
func modelSchema() ([]byte, error) {
	var schema map[string]any
	if err := json.Unmarshal([]byte(helpTexts()["help/model.schema.json"]), &schema); err != nil {
		return nil, err
	}
	kinds := schema["$defs"].(map[string]any)
	for _, f := range modelFiles() {
		kind := f.schema()
		kind["description"] = f.use
		kinds[f.name] = kind
	}
	text, err := json.MarshalIndent(schema, "", "  ")
	return append(text, '\n'), err
}
