package keys

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"productform/num"
)

// Connections ping the server every pingEvery, and are lost after maxPings pings without a
// response. The NATS default of 2 minutes is too long for workers of a cluster with a server that
// hangs.
const (
	pingEvery = 5 * time.Second
	maxPings  = 2
)

// Connect connects to a server with a key file, or by a URL such as nats://127.0.0.1:4222 if the
// server requires no key. The name of the connection is the name of the worker or other program; a
// server with keys uses the name of the key instead. More options may add handlers for lost
// connections, reconnections and errors such as a forbidden subject, or connect within the process.
//
// A lost connection is retried every 50 ms until it is closed. It is closed if the server rejects
// the key twice. Messages published in the meantime are rejected, not sent later. The error is an
// error of the context, the file or the server, see [Refused] and [Away].
func Connect(ctx context.Context, target, name string, more ...nats.Option) (*nats.Conn, error) {
	address, key, err := Options(target)
	if err != nil {
		return nil, err
	}
	options := append([]nats.Option{nats.Name(name)}, key...)
	options = append(options,
		nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.ReconnectJitter(10*time.Millisecond, 10*time.Millisecond),
		nats.ReconnectBufSize(-1), nats.Timeout(5*time.Second), nats.DrainTimeout(5*time.Second),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(maxPings),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if deadline, ok := ctx.Deadline(); ok {
		options = append(options, nats.Timeout(min(5*time.Second, time.Until(deadline))))
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	nc, err := nats.Connect(address, append(options, more...)...)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if Away(err) {
			return nil, fmt.Errorf("no server responds at %s: %w", address, err)
		}
		var unknown *tls.CertificateVerificationError
		if len(key) == 0 && (Refused(err) || errors.As(err, &unknown)) {
			return nil, fmt.Errorf("%s needs a key: give its file instead of the URL: %w", address, err)
		}
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return nc, nil
}

// Check rejects a key file with a role other than the given ones, and, if name is not empty, with
// another name. Otherwise the server would silently ignore forbidden requests. URLs and unreadable
// files are not checked.
func Check(target, name string, roles ...Role) error {
	if strings.Contains(target, "://") {
		return nil
	}
	f, err := Read(target)
	if err != nil {
		return nil // Connect returns the error
	}
	if !slices.Contains(roles, f.Role) {
		want := "a key of a " + string(roles[0])
		for _, r := range roles[1:] {
			want += " or a " + string(r)
		}
		return &num.InputError{File: target, Path: "role", Value: string(f.Role), Want: want}
	}
	if name != "" && f.Name != name {
		return &num.InputError{File: target, Path: "name", Value: f.Name, Want: "a key named " + name}
	}
	return nil
}

// Away reports whether an error of [Connect] means that the server is unreachable, possibly only
// temporarily.
func Away(err error) bool {
	var network *net.OpError
	return errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, io.EOF) ||
		errors.As(err, &network)
}

// Options returns the URL of a server and the options of a connection to a target of [Connect]. For
// a URL there are none. For a key file they set the name, TLS, and the prefix _INBOX_NAME for the
// subjects of responses.
func Options(target string) (url string, options []nats.Option, err error) {
	if strings.Contains(target, "://") {
		return target, nil, checkURL("url", target)
	}
	f, err := Read(target)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, &num.InputError{
			Path:  "url",
			Value: target,
			Want:  "a URL such as nats://127.0.0.1:4222, or a key file",
		}
	}
	if err != nil {
		return "", nil, err
	}
	options, err = f.options()
	return f.URL, options, err
}

// Refused reports whether a server rejected a connection because of its key or because it had none.
func Refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) ||
		errors.Is(err, nats.ErrAuthRevoked)
}

// options returns the options of a connection with a key.
func (f *File) options() ([]nats.Option, error) {
	key, err := nkeys.FromSeed([]byte(f.Seed))
	if err != nil {
		return nil, &num.InputError{Path: "seed", Want: "the seed of an nkey", Cause: err}
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, &num.InputError{Path: "seed", Want: "the seed of an nkey", Cause: err}
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(f.Authority)) {
		return nil, &num.InputError{Path: "authority", Want: "a certificate in PEM"}
	}
	return []nats.Option{
		nats.Name(f.Name),
		nats.Nkey(public, key.Sign),
		nats.Secure(&tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS13}),
		nats.CustomInboxPrefix("_INBOX_" + f.Name),
	}, nil
}

// Left decodes a message on the subject [Gone]. It returns the name of the worker, or of another
// program, that disconnected. On a server with keys that is the name of the key. Connections in the
// managers' account have other names; then ok is false.
func Left(message []byte) (name string, ok bool) {
	var m struct {
		Client struct {
			Account string `json:"acc"`
			Name    string `json:"name"`
		} `json:"client"`
	}
	if json.Unmarshal(message, &m) != nil {
		return "", false
	}
	if m.Client.Account == MainAccount {
		return m.Client.Name, true
	}
	if name, ok = strings.CutPrefix(m.Client.Account, string(Worker)+"-"); !ok {
		return "", false
	}
	return name, true
}

// IsLoopback reports whether an address HOST:PORT is reachable only from its own machine. Names
// other than localhost do not count.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// checkURL rejects an invalid URL of a server.
func checkURL(path, text string) error {
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(one)
		if err != nil || (u.Scheme != "nats" && u.Scheme != "tls") || u.Hostname() == "" || u.User != nil {
			return &num.InputError{
				Path:  path,
				Value: text,
				Want:  "a URL such as nats://cluster.example:4222, or several with commas",
			}
		}
	}
	return nil
}
