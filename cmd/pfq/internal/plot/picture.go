package plot

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/plots"
	"productform/plots/draw"
)

// byName selects the format by the extension of the file name, or SVG without a file.
const byName = "auto"

// NewPicture returns a command that answers with a figure: a picture, or a table of its numbers. A
// nil figure is not written.
func NewPicture(use string, figure func(q command.Query, table bool) (*plots.Figure, error)) *cobra.Command {
	formats := []string{byName}
	for _, format := range draw.Formats() {
		if format != draw.HTML {
			formats = append(formats, string(format))
		}
	}
	answer := func(q command.Query) (picture []byte, found bool, err error) {
		format, err := formatOf(q)
		if err != nil {
			return nil, false, err
		}
		f, err := figure(q, format == draw.CSV)
		if err != nil || f == nil {
			return nil, false, err
		}
		picture, err = Draw(q, f, format)
		return picture, true, err
	}
	return command.NewWriter(use, formats, fileOnTerminal, answer)
}

// Draw returns the figure about the file of a question in a format. It sets the name, the widths of
// panels and the titles of the figure.
func Draw(q command.Query, f *plots.Figure, format draw.Format) ([]byte, error) {
	f.ID, f.Captioned = cmp.Or(f.ID, nameOf(q.File)), true
	f.Fill()
	if format != draw.CSV { // columns keep their names as they are
		capitalize(f)
	}
	picture, err := draw.Render(f, format)
	return picture, command.InFile(q.File, explainGlyphError(err))
}

// explainGlyphError adds advice to an error about text that cannot be drawn, such as names in
// letters that the font lacks.
func explainGlyphError(err error) error {
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	return &input.Error{Path: "text of the picture", Value: bad.Value, Want: bad.Want + "; --format csv takes all"}
}

// fileOnTerminal returns the file for a picture that would otherwise go to a terminal; "" for a
// table.
func fileOnTerminal(q command.Query) string {
	format, err := formatOf(q)
	if err != nil || format == draw.CSV {
		return ""
	}
	name := "plot"
	if q.File != "-" && q.File != "" {
		name = nameOf(q.File)
	}
	return name + "." + string(format)
}

// formatOf returns the format of the picture: the requested format, or the one that the file name
// implies. They must not differ.
func formatOf(q command.Query) (draw.Format, error) {
	format := extension(q.To)
	isPicture := format != draw.HTML && slices.Contains(draw.Formats(), format)
	if q.Format != byName {
		if asked := draw.Format(q.Format); !isPicture || format == asked {
			return asked, nil
		}
		return "", input.Errorf("--output", q.To, "a name that ends in .%s, for --format %[1]s", q.Format)
	}
	if q.To == "" || q.To == "-" {
		return draw.SVG, nil
	}
	if !isPicture {
		return "", input.Errorf("--output", q.To, "a name that ends in .png, .svg, .pdf or .csv, or --format as well")
	}
	return format, nil
}

// extension returns the format that the name of a file ends in.
func extension(name string) draw.Format {
	return draw.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(name), ".")))
}

// nameOf returns a name for the picture of a file.
func nameOf(file string) string {
	if file == "-" {
		return "model"
	}
	return cmp.Or(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), "model")
}

// inFile returns the subject of a caption: "The cluster in shop.yaml".
func inFile(file, what string) string {
	return "The " + what + " in " + cli.Source(filepath.Base(file))
}

// capitalize capitalizes the titles of a picture, except names such as p95.
func capitalize(f *plots.Figure) {
	upper := func(title string) string {
		word, _, _ := strings.Cut(title, " ")
		if word == "" || strings.ContainsAny(word, "0123456789") {
			return title
		}
		first, size := utf8.DecodeRuneInString(title)
		return string(unicode.ToUpper(first)) + title[size:]
	}
	f.Title = upper(f.Title)
	for i := range f.Panels {
		f.Panels[i].Title = upper(f.Panels[i].Title)
	}
}
