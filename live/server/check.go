package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"productform/live/wire"
	"productform/num"
)

// Minimum requirements for an external server. Older versions break write-once with replicas.
const (
	minMajor, minMinor = 2, 14
	minStreams         = 9       // see Prepare
	minStore           = 1 << 28 // bytes: a few large results would fill a smaller store
)

// Check lists the requirements of a layout that a server does not meet, as *num.InputError. The
// error is the error of the request.
func Check(ctx context.Context, js jetstream.JetStream, l Layout) (lacks []*num.InputError, err error) {
	nc := js.Conn()
	lacks = checkConnection(nc.ConnectedServerVersion(), nc.MaxPayload())
	account, err := js.AccountInfo(ctx)
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrNoResponders) {
		return append(lacks, &num.InputError{
			Path:  "server.jetstream",
			Value: "off",
			Want:  "JetStream, on the server and for the account",
		}), nil
	}
	if err != nil {
		return nil, fmt.Errorf("server: limits of the account: %w", err)
	}
	return append(lacks, checkAccount(account, l)...), nil
}

// checkConnection lists the unmet requirements that the connection shows.
func checkConnection(version string, maxPayload int64) (lacks []*num.InputError) {
	if !isNew(version) {
		lacks = append(lacks, &num.InputError{
			Path:  "server.version",
			Value: version,
			Want:  fmt.Sprintf("nats-server %d.%d or later", minMajor, minMinor),
		})
	}
	if maxPayload < wire.MaxMessage {
		lacks = append(lacks, &num.InputError{
			Path:  "server.max_payload",
			Value: strconv.FormatInt(maxPayload, 10),
			Want:  fmt.Sprintf("at least %d bytes", wire.MaxMessage),
		})
	}
	return lacks
}

// isNew reports whether a version such as 2.15.2 or 2.14.0-beta.1 is new enough.
func isNew(version string) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 {
		return false
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return false
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil {
		return false
	}
	return major > minMajor || major == minMajor && minor >= minMinor
}

// checkAccount lists the limits of an account that are too low. Existing streams count as used.
func checkAccount(a *jetstream.AccountInfo, l Layout) (lacks []*num.InputError) {
	limits, path := a.Limits, "server.account."
	if len(a.Tiers) > 0 { // the account has separate limits per number of replicas
		name := "R" + strconv.Itoa(max(l.Replicas, 1))
		tier, ok := a.Tiers[name]
		if !ok {
			return []*num.InputError{
				{Path: path + "tiers", Value: strings.Join(slices.Sorted(maps.Keys(a.Tiers)), ", "), Want: name},
			}
		}
		limits, path = tier.Limits, path+name+"."
	}
	if limits.MaxStreams >= 0 && limits.MaxStreams < minStreams {
		lacks = append(lacks, &num.InputError{
			Path:  path + "max_streams",
			Value: strconv.Itoa(limits.MaxStreams),
			Want:  fmt.Sprintf("at least %d, or -1 for no limit", minStreams),
		})
	}
	if limits.MaxStore >= 0 && limits.MaxStore < minStore && !l.Memory {
		lacks = append(lacks, &num.InputError{
			Path:  path + "max_storage",
			Value: strconv.FormatInt(limits.MaxStore, 10),
			Want:  fmt.Sprintf("at least %d bytes, or -1 for no limit", minStore),
		})
	}
	return lacks
}
