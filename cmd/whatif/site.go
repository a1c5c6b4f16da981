package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"text/template"
	"unicode/utf8"
)

//go:embed page
var files embed.FS

// scripts are those of the page, in the order in which they run.
var scripts = []string{"dom.js", "numbers.js", "model.js", "state.js", "questions.js", "solver.js", "graph.js", "chart.js", "tables.js", "editor.js", "page.js"}

// A start is the model that the page shows at first.
type start struct {
	Name string `json:"name"` // of its file
	Text string `json:"text"` // of the file
}

// A site is the page as files: one that holds all, or several for web servers, which browsers can keep apart.
type site map[string][]byte

const indexFile = "index.html"

// onePage returns the page as one file, which browsers open from a disk as well. Its policy lets run what it holds and
// nothing else, and forbids all connections.
func onePage(s solver, first start) (site, error) {
	script, style, err := texts()
	if err != nil {
		return nil, err
	}
	packed, err := pack(s.wasm, "\x00\r<")
	if err != nil {
		return nil, err
	}
	index, err := page(first, parts{
		Policy: policy("'"+hash(script)+"'", "'"+hash(style)+"'"),
		Style:  "<style>" + style + "</style>",
		Solver: data("worker", workerScript(s)) + data("solver", packed),
		Script: "<script>" + script + "</script>",
	})
	return site{indexFile: index}, err
}

// manyFiles returns the page as a static site.
func manyFiles(s solver, first start) (site, error) {
	script, style, err := texts()
	if err != nil {
		return nil, err
	}
	packed, err := pack(s.wasm, "\x00\n\r\"\\<")
	if err != nil {
		return nil, err
	}
	worker, err := json.Marshal(workerScript(s))
	if err != nil {
		return nil, err
	}
	index, err := page(first, parts{
		Policy: policy("'self'", "'self'"),
		Style:  `<link rel="stylesheet" href="page.css">`,
		Script: `<script src="solver.js"></script><script src="page.js"></script>`,
	})
	loaded := fmt.Sprintf("globalThis.loaded = {worker: %s, solver: \"%s\"};\n", worker, packed)
	return site{indexFile: index, "page.css": []byte(style), "page.js": []byte(script), "solver.js": []byte(loaded)}, err
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

// workerScript returns what a worker runs before it is given the solver.
func workerScript(s solver) string {
	text, err := fs.ReadFile(files, "page/worker.js")
	if err != nil {
		panic(err) // embedded
	}
	return s.support + string(text)
}

// The parts of the page that differ from one form to the other.
type parts struct{ Policy, Style, Solver, Script, Start string }

func page(first start, p parts) ([]byte, error) {
	text, err := fs.ReadFile(files, "page/"+indexFile)
	if err != nil {
		return nil, err
	}
	start, err := json.Marshal(first) // which writes < as an escape
	if err != nil {
		return nil, err
	}
	p.Start = string(start)
	t, err := template.New(indexFile).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}

// data returns an element that holds a text for the script and is not run.
func data(id, text string) string {
	return fmt.Sprintf("<script type=\"text/plain\" id=%q>%s</script>\n", id, text)
}

// policy returns a content security policy: scripts and styles of these sources, workers made by the page, no connections.
func policy(script, style string) string {
	return "default-src 'none'; script-src " + script + " 'wasm-unsafe-eval'; style-src " + style +
		"; worker-src blob:; img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
}

// hash returns the source of a policy for exactly this text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// pack compresses the solver and writes it seven bits a letter, the lowest first. Letters that the place cannot hold are those of
// 128 more, so that the script that reads them looks at the lowest seven bits only. The page is a seventh smaller so than in base64.
func pack(wasm []byte, unfit string) (string, error) {
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(wasm); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	text := make([]byte, 0, zipped.Len()*8/7*21/20)
	add := func(letter byte) {
		r := rune(letter)
		if strings.IndexByte(unfit, letter) >= 0 {
			r += 128
		}
		text = utf8.AppendRune(text, r)
	}
	var held, bits uint
	for _, b := range zipped.Bytes() {
		held |= uint(b) << bits
		for bits += 8; bits >= 7; bits -= 7 {
			add(byte(held & 127))
			held >>= 7
		}
	}
	if bits > 0 {
		add(byte(held & 127))
	}
	return string(text), nil
}
