// This file damages the files of a stopped server as a failing disk, a power failure or an
// inconsistent copy would. Tests check that the system notices the losses.

package servertest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CorruptibleStreams lists the streams whose losses a test can detect.
var CorruptibleStreams = []string{"PFQ_IN", "PFQ_PLAN", "PFQ_BLOB", "OBJ_PFQ_SNAP", "KV_pfq_jobs", "KV_pfq_workers",
	"KV_pfq_batches", "KV_pfq_profiles", "KV_pfq_leader"}

// CorruptStream damages a message file of a stream in a store, and returns a description, empty if
// the stream has no messages on disk. Some kinds of damage also remove the index of the stream, as
// if it had not been written.
func CorruptStream(r *rand.Rand, store, stream string) (what string, err error) {
	folders, err := filepath.Glob(filepath.Join(store, "jetstream", "*", "streams", stream, "msgs"))
	if err != nil || len(folders) != 1 {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(folders[0], "*.blk"))
	if err != nil || len(files) == 0 {
		return "", err
	}
	slices.Sort(files)
	file := files[r.IntN(len(files))]
	data, err := os.ReadFile(file)
	if err != nil || len(data) == 0 {
		return "", err
	}
	at, how := r.IntN(len(data)), r.IntN(4)
	if how == 3 && stream == "PFQ_IN" && r.IntN(4) > 0 { // a small stream has one block and would lose everything
		how = r.IntN(3)
	}
	if strings.HasPrefix(stream, "KV_") {
		// If a block of a bucket contains bad bytes, nats-server 2.15.2 may search forever for the
		// message that must make room for the next one of its key (storeRawMsg, "Enforce per
		// message limits"). That loses nothing, but the test would not end.
		how |= 1
	}
	switch how {
	case 0:
		data[at] ^= 1 << r.IntN(8)
		what = fmt.Sprintf("%s: bit flipped in byte %d of %d", file, at, len(data))
	case 1:
		what = fmt.Sprintf("%s: cut to %d of %d bytes", file, at, len(data))
		data = data[:at]
	case 2:
		end := min(len(data), at+4096)
		clear(data[at:end])
		what = fmt.Sprintf("%s: zeros in bytes %d to %d of %d", file, at, end, len(data))
	default:
		what = fmt.Sprintf("%s: deleted, %d bytes", file, len(data))
		data = nil
	}
	if data == nil {
		err = os.Remove(file)
	} else {
		err = os.WriteFile(file, data, 0o600)
	}
	if err == nil && r.IntN(2) == 0 {
		what += "; no index"
		if err = os.Remove(filepath.Join(folders[0], "index.db")); os.IsNotExist(err) {
			err = nil
		}
	}
	return what, err
}
