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
	"tables.js", "editor.js", "pool.js", "page.js",
}

// A start is the model that the page shows at first.
type start struct {
	Name string `json:"name"` // name of its file
	Text string `json:"text"` // text of the file
}

// A site holds the files of the page: a single file, or several for web servers, which browsers
// cache separately.
type site map[string][]byte

const indexFile = "index.html"

// onePage returns the page as one file, which browsers can also open from a disk. Its policy runs
// only the scripts in the file, and forbids all connections.
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

// bare returns a script or style sheet without indentation and comment lines, to make the page
// smaller.
func bare(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimLeft(line, " \t"); !strings.HasPrefix(line, "//") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// parts holds the content of the page, including the parts in which its forms differ.
type parts struct {
	Policy, Style, Script, Start, Worker, Solver string
	Size                                         int // size of the compressed solver in bytes
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
	start, err := json.Marshal(first) // Marshal escapes <
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

// policy returns a content security policy: scripts and styles from these sources, workers created
// by the page, no connections.
func policy(script, style string) string {
	return "default-src 'none'; script-src " + script + " 'wasm-unsafe-eval'; style-src " + style +
		"; worker-src blob:; img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
}

// hash returns the policy source that permits exactly this text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// unfit lists the characters that the text of an element cannot contain literally.
const unfit = "\x00\r<"

// pack encodes bytes as text, lowest bits first: seven bits become the character with that code. If
// that character is unfit, it and the next nine bits become one two-byte character, U+0080 + 512
// u + n, where u is the index of the character in unfit and n the value of the nine bits. The text
// is a seventh shorter than base64.
func pack(zipped []byte) string {
	rest := append(zipped, 0, 0) // more bits than the last character needs
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
