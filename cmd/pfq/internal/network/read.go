package network

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/tree"
	"productform/network"
	"productform/network/loss"
)

// A model is what a file holds: one of them is set.
type model struct {
	network *network.Model // with stations
	loss    *loss.Model    // without
}

// read reads the file that the question is about. Which model it holds is told by whether it has stations.
func read(q command.Query) (m model, err error) {
	root, q, err := look(q)
	if err != nil {
		return m, err
	}
	if slices.Contains(root.Keys, "stations") {
		m.network, err = command.Read(q, network.Read, network.ReadFile, "solve", "servers", "mean_size")
	} else {
		m.loss, err = command.Read(q, loss.Read, loss.ReadFile, "solve", "mean_size")
	}
	return m, err
}

// mostText bounds what is looked at: the readers take no more.
const mostText = 65 << 20

// look returns the tree of the file, and the query with which it is read again.
func look(q command.Query) (root *tree.Node, again command.Query, err error) {
	from, regular, name := q.Stdin, false, cli.Source(q.File)
	if q.File != "-" {
		f, err := os.Open(q.File)
		if err != nil {
			return nil, q, tree.InFile(name, err)
		}
		defer f.Close()
		info, err := f.Stat()
		from, regular = f, err == nil && info.Mode().IsRegular()
	}
	text, err := io.ReadAll(io.LimitReader(from, mostText))
	if err != nil {
		return nil, q, input.InFile(name, err)
	}
	format := tree.Auto
	switch strings.ToLower(filepath.Ext(q.File)) {
	case ".json":
		format = tree.JSON
	case ".yaml", ".yml":
		format = tree.YAML
	}
	if root, err = tree.Read(bytes.NewReader(text), format, "a network with stations, or a system with losses"); err != nil {
		return nil, q, tree.InFile(name, err)
	}
	if !regular {
		q.File, q.Stdin = "-", bytes.NewReader(text)
	}
	return root, q, nil
}
