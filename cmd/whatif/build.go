package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const solverPackage = "productform/cmd/whatif/wasm"

// A solver is the program that the workers of the page run.
type solver struct {
	wasm    []byte
	support string // Go's script that runs it
}

// coldPackages are compiled without inlining, which makes the page 10 % smaller: solvers spend no
// time in them.
var coldPackages = []string{"go.yaml.in/...", "gonum.org/...", "encoding/...", "regexp/...", "time", "fmt", "reflect",
	"os", "internal/...", "strconv", "crypto/...", "unicode/...", "bufio", "bytes", "strings", "io/...", "path/...",
	"errors", "context", "compress/...", "hash/...", "syscall/...",
	"productform/bf", "productform/cluster", "productform/dispatch/...", "productform/internal/file",
	"productform/internal/input", "productform/internal/render", "productform/cmd/whatif/internal", "productform/sim",
	"productform/sizes/...", "productform/stability", "productform/sweep", "productform/num", "github.com/...",
	"golang.org/...", "math/big", "math/rand/...", "sort", "sync/...", "log/...", "maps", "slices", "container/..."}

// buildSolver compiles the solver with the installed Go.
func buildSolver(ctx context.Context) (s solver, err error) {
	root, err := runGo(ctx, nil, "env", "GOROOT")
	if err != nil {
		return s, err
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return s, err
	}
	s.support = string(support)
	folder, err := os.MkdirTemp("", "whatif")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "solver.wasm")
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-gcflags=all=-dwarf=false"}
	for _, pattern := range coldPackages {
		args = append(args, "-gcflags="+pattern+"=-dwarf=false -l")
	}
	if _, err := runGo(
		ctx, []string{"GOOS=js", "GOARCH=wasm"}, append(args, "-o", file, solverPackage)...,
	); err != nil {
		return s, err
	}
	s.wasm, err = os.ReadFile(file)
	return s, err
}

// sourceFolder returns where the source of this program is, so that its solver can be built from
// any folder; "" for the current one, if it has moved since.
func sourceFolder() string {
	_, file, _, _ := runtime.Caller(0)
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return filepath.Dir(file)
}

// runGo runs the go command and returns what it prints.
func runGo(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = sourceFolder(), append(os.Environ(), env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("go %s: %v: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}
