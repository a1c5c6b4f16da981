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

// A server is asked so often whether it is there, and is lost if so many questions have no answer. The standard of NATS, 2 minutes,
// is too long for workers of a cluster of servers, one of which hangs.
const (
	pingEvery = 5 * time.Second
	mostPings = 2
)

// Connect connects to a server: by the file of a key, or by a URL such as nats://127.0.0.1:4222 if it asks for none. The
// name of the connection is that of the worker or of whatever else connects; a server with keys takes that of the key.
// More options may say what is to happen as the connection is lost or found again, who hears of errors such as a subject
// that the key may not use, or to connect within the process.
//
// A connection that was lost is sought again every 50 ms for as long as it is not closed; it is closed if the server refuses
// the key twice. What is published meanwhile is refused, not sent later. The error is that of the context, of the file, or of the server, see [Refused] and [Away].
func Connect(ctx context.Context, target, name string, more ...nats.Option) (*nats.Conn, error) {
	address, key, err := Options(target)
	if err != nil {
		return nil, err
	}
	options := append([]nats.Option{nats.Name(name)}, key...)
	options = append(options,
		nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.ReconnectJitter(10*time.Millisecond, 10*time.Millisecond),
		nats.ReconnectBufSize(-1), nats.Timeout(5*time.Second), nats.DrainTimeout(5*time.Second),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(mostPings),
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
			return nil, fmt.Errorf("no server answers at %s: %w", address, err)
		}
		var unknown *tls.CertificateVerificationError
		if len(key) == 0 && (Refused(err) || errors.As(err, &unknown)) {
			return nil, fmt.Errorf("%s wants a key, whose file is given in place of the URL: %w", address, err)
		}
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return nc, nil
}

// Check refuses the file of a key that has none of some roles, and if name is not empty one with another name: the server would
// pass over what it may not do, without an answer. For a URL, and a file that cannot be read, there is nothing to check.
func Check(target, name string, roles ...Role) error {
	if strings.Contains(target, "://") {
		return nil
	}
	f, err := Read(target)
	if err != nil {
		return nil // Connect tells
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

// Away tells whether an error of [Connect] is that of a server that cannot be reached now, but perhaps later.
func Away(err error) bool {
	var network *net.OpError
	return errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, io.EOF) || errors.As(err, &network)
}

// Options are the URL of a server and what a connection needs to it, for a target as of [Connect]: nothing for a URL; for
// the file of a key, its name, TLS, and the prefix _INBOX_NAME of the subjects of answers.
func Options(target string) (url string, options []nats.Option, err error) {
	if strings.Contains(target, "://") {
		return target, nil, checkURL("url", target)
	}
	f, err := Read(target)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, &num.InputError{Path: "url", Value: target, Want: "a URL such as nats://127.0.0.1:4222, or the file of a key"}
	}
	if err != nil {
		return "", nil, err
	}
	options, err = f.options()
	return f.URL, options, err
}

// Refused tells whether a server refused a connection for the key or the lack of one.
func Refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked)
}

// options are those of a connection with a key.
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

// Left reads a message of the subject [Gone]: the name of the worker, or of what else was connected. On a server with keys
// it is the name of the key; the account of the managers has connections of other names, and ok is false.
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

// IsLoopback tells whether an address HOST:PORT is reached from its own machine only. A name other than localhost is
// not taken for one.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// checkURL refuses what is no URL of a server.
func checkURL(path, text string) error {
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(one)
		if err != nil || (u.Scheme != "nats" && u.Scheme != "tls") || u.Hostname() == "" || u.User != nil {
			return &num.InputError{Path: path, Value: text, Want: "a URL such as nats://cluster.example:4222, or several with commas"}
		}
	}
	return nil
}
