package worker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"productform/live/wire"
)

// maxInputs is the maximum size in bytes of the inputs kept for later tasks.
const maxInputs = 1 << 30

// fetch copies the inputs of a task to its folder. The most recently used contents are kept for
// later tasks, and are checked before each use.
func (s *slot) fetch(ctx context.Context, folder string, inputs map[string]string) error {
	for name, digest := range inputs {
		if err := s.fetchOne(ctx, filepath.Join(folder, name), digest); err != nil {
			return fmt.Errorf("input %s: %w", name, err)
		}
	}
	return nil
}

func (s *slot) fetchOne(ctx context.Context, path, digest string) error {
	all := filepath.Join(s.folder, "inputs")
	kept := filepath.Join(all, digest)
	switch err := copyChecked(path, kept, digest); {
	case err == nil:
		now := time.Now()
		return ignoreMissing(os.Chtimes(kept, now, now))
	case errors.Is(err, errChanged):
		s.log.Warn("a kept input has changed", "digest", digest)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(all, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.folder, "task-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(wire.GetContent(ctx, s.js, digest, f), f.Close()); err != nil {
		return err
	}
	if err := copyChecked(path, f.Name(), digest); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), kept); err != nil {
		return err
	}
	return prune(all, maxInputs, digest)
}

var errChanged = errors.New("the file does not have its digest")

// copyChecked copies a file whose content should have the given digest. After an error there is no
// file at to.
func copyChecked(to, from, digest string) (err error) {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(w, h), r)
	if err = errors.Join(err, w.Close()); err == nil && hex.EncodeToString(h.Sum(nil)) != digest {
		err = errChanged
	}
	if err != nil {
		err = errors.Join(err, os.Remove(to))
	}
	return err
}

// prune removes the least recently used files from a folder until their total size is at most most
// bytes, but never the named file.
func prune(folder string, most int64, name string) error {
	list, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, entry := range list {
		f, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another slot has removed it
		}
		if err != nil {
			return err
		}
		total += f.Size()
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, f := range files {
		if total <= most {
			break
		}
		if f.Name() == name {
			continue
		}
		if err := ignoreMissing(os.Remove(filepath.Join(folder, f.Name()))); err != nil {
			return err
		}
		total -= f.Size()
	}
	return nil
}

// ignoreMissing returns err unless it reports a missing file, since slots share the folder.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
