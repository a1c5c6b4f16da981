package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"strings"
	"text/template"
	"unicode/utf8"
)

//go:embed page
var files embed.FS

// scripts are the scripts of the page, in the order in which they run.
var scripts = []string{
	"dom.js", "numbers.js", "model.js", "state.js", "questions.js", "solver.js", "graph.js", "chart.js",
	"tables.js", "editor.js", "page.js",
}

// A start is the model that the page shows at first.
type start struct {
	Name string `json:"name"` // name of its file
	Text string `json:"text"` // text of the file
}

// A site is the page as files: one that holds all, or several for web servers, which browsers can
// keep apart.
type site map[string][]byte

const indexFile = "index.html"

// onePage returns the page as one file, which browsers open from a disk as well. Its policy lets
// run what it holds and nothing else, and forbids all connections.
func onePage(s solver, first start) (site, error) {
	script, style, err := texts()
	if err != nil {
		return nil, err
	}
	script, style, s.support = bare(script), bare(style), bare(s.support)
	index, err := page(s, first, parts{
		Policy: policy("'"+hash(script)+"'", "'"+hash(style)+"'"),
		Style:  "<style>" + style + "</style>",
		Script: "<script>" + script + "</script>",
	})
	return site{indexFile: index}, err
}

// manyFiles returns the page as a static site, with script and style in separate files.
func manyFiles(s solver, first start) (site, error) {
	script, style, err := texts()
	if err != nil {
		return nil, err
	}
	index, err := page(s, first, parts{
		Policy: policy("'self'", "'self'"),
		Style:  `<link rel="stylesheet" href="page.css">`,
		Script: `<script src="page.js"></script>`,
	})
	return site{indexFile: index, "page.css": []byte(style), "page.js": []byte(script)}, err
}

// texts returns the script and the style of the page.
func texts() (script, style string, err error) {
	var b strings.Builder
	b.WriteString("\"use strict\";\n")
	for _, name := range scripts {
		text, err := fs.ReadFile(files, "page/"+name)
		if err != nil {
			return "", "", err
		}
		b.Write(text)
	}
	css, err := fs.ReadFile(files, "page/page.css")
	return b.String(), string(css), err
}

// bare returns a script or a style without indentation and without the lines that are comments,
// which a page that is sent need not have.
func bare(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimLeft(line, " \t"); !strings.HasPrefix(line, "//") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// The parts of the page that differ from one form to the other, and what it holds.
type parts struct {
	Policy, Style, Script, Start, Worker, Solver string
	Size                                         int // bytes of the solver, compressed
}

// page returns the page with a solver and a model.
func page(s solver, first start, p parts) ([]byte, error) {
	text, err := fs.ReadFile(files, "page/"+indexFile)
	if err != nil {
		return nil, err
	}
	worker, err := fs.ReadFile(files, "page/worker.js")
	if err != nil {
		return nil, err
	}
	start, err := json.Marshal(first) // which writes < as an escape
	if err != nil {
		return nil, err
	}
	p.Start, p.Worker = string(start), s.support+string(worker)
	zipped, err := compress(s.wasm)
	if err != nil {
		return nil, err
	}
	p.Solver, p.Size = pack(zipped), len(zipped)
	t, err := template.New(indexFile).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}

// policy returns a content security policy: scripts and styles of these sources, workers made by
// the page, no connections.
func policy(script, style string) string {
	return "default-src 'none'; script-src " + script + " 'wasm-unsafe-eval'; style-src " + style +
		"; worker-src blob:; img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
}

// hash returns the source of a policy for exactly this text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// unfit are the letters that the text of an element does not hold as they are.
const unfit = "\x00\r<"

// pack writes bytes as text, the lowest bits first: seven bits are the letter of that code. Those
// of an unfit letter and the nine bits after them are one letter of two bytes instead, U+0080 + 512
// u + n with u the place of the letter in unfit and n the nine bits. The text is a seventh shorter
// than base64.
func pack(zipped []byte) string {
	rest := append(zipped, 0, 0) // more bits than the last letter takes
	text := make([]byte, 0, len(rest)*8/7)
	var held, bits int
	take := func(n int) int {
		for bits < n {
			held |= int(rest[0]) << bits
			rest, bits = rest[1:], bits+8
		}
		v := held & (1<<n - 1)
		held, bits = held>>n, bits-n
		return v
	}
	for len(rest)*8+bits > 16 {
		letter := take(7)
		if u := strings.IndexByte(unfit, byte(letter)); u >= 0 {
			letter = 0x80 + 512*u + take(9)
		}
		text = utf8.AppendRune(text, rune(letter))
	}
	return string(text)
}

func compress(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}
