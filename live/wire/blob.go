package wire

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"productform/num"
)

// pieceSize is the size of all pieces of the content except the last.
const pieceSize = 512 << 10

// ErrCorrupt reports that the content stored under a digest does not match it: someone without the
// content wrote it, or the store is damaged. Purging the subjects of the digest removes it.
var ErrCorrupt = errors.New("the content on the server does not have its digest")

// PutContent stores content and returns its digest and its size in bytes. It reads the content
// twice. Content that is already complete is not written again. If some of its pieces exist, Put
// adds the others and reads everything back. The error is as for [WriteOnce], or [ErrCorrupt].
func PutContent(ctx context.Context, js jetstream.JetStream, content io.ReadSeeker) (
	digest string, size int64, err error,
) {
	hash := sha256.New()
	if size, err = io.Copy(hash, untilDone{ctx, content}); err != nil {
		return "", 0, err
	}
	digest = hex.EncodeToString(hash.Sum(nil))
	if _, err := LastMessage(ctx, js, BlobStream, BlobSize(digest)); !errors.Is(err, ErrNotFound) {
		return digest, size, err
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return "", 0, err
	}
	there := false // a piece existed
	piece := make([]byte, pieceSize)
	for i := 0; int64(i)*pieceSize < size; i++ {
		n, err := io.ReadFull(content, piece[:min(pieceSize, size-int64(i)*pieceSize)])
		if err != nil {
			return "", 0, fmt.Errorf("the content changed while it was read: %w", err)
		}
		wrote, err := WriteOnce(ctx, js, Blob(digest, i), piece[:n])
		if err != nil {
			return "", 0, err
		}
		there = there || !wrote
	}
	wrote, err := WriteOnce(ctx, js, BlobSize(digest), strconv.AppendInt(nil, size, 10))
	if err == nil && (there || !wrote) {
		err = GetContent(ctx, js, digest, io.Discard)
	}
	return digest, size, err
}

// An untilDone reads until its context is done.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// GetContent writes the content with a digest. The error wraps [ErrNotFound] if the content is
// missing or incomplete after a second, and [ErrCorrupt] if it does not match the digest. After an
// error, discard what was written.
func GetContent(ctx context.Context, js jetstream.JetStream, digest string, to io.Writer) error {
	sum, err := hex.DecodeString(digest)
	if err != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != digest {
		return &num.InputError{
			Path:  "digest",
			Value: strconv.Quote(digest),
			Want:  "64 hexadecimal digits in lower case",
		}
	}
	m, err := found(ctx, js, BlobSize(digest))
	if err != nil {
		return err
	}
	size, err := strconv.ParseInt(string(m.Data), 10, 64)
	if err != nil || size < 0 {
		return fmt.Errorf("%s: %w", digest, ErrCorrupt)
	}
	hash := sha256.New()
	for i, left := 0, size; left > 0; i++ {
		m, err := found(ctx, js, Blob(digest, i))
		if err != nil {
			return err
		}
		if int64(len(m.Data)) != min(pieceSize, left) {
			return fmt.Errorf("%s: %w", digest, ErrCorrupt)
		}
		left -= int64(len(m.Data))
		hash.Write(m.Data)
		if _, err := to.Write(m.Data); err != nil {
			return err
		}
	}
	if !bytes.Equal(hash.Sum(nil), sum) {
		return fmt.Errorf("%s: %w", digest, ErrCorrupt)
	}
	return nil
}

// lag is the maximum delay of the copies of a stream in a cluster.
const lag = time.Second

// found returns the message on a subject. It waits up to lag, because this copy of the stream may
// be behind.
func found(ctx context.Context, js jetstream.JetStream, subject string) (*Stored, error) {
	for begun := time.Now(); ; {
		m, err := LastMessage(ctx, js, BlobStream, subject)
		if !errors.Is(err, ErrNotFound) || time.Since(begun) > lag {
			return m, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
