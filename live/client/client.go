package client

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/keys"
	"productform/live/wire"
)

// A Client is a connection to the live system. Its methods may be called concurrently.
type Client struct {
	nc *nats.Conn
	js jetstream.JetStream
}

// Connect connects to a server by its URL, such as nats://127.0.0.1:4222, or with a key file. More
// options may be given, such as nats.InProcessServer. A lost connection is reestablished
// automatically until [Client.Close].
func Connect(ctx context.Context, server string, more ...nats.Option) (*Client, error) {
	nc, err := keys.Connect(ctx, server, "client", more...)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &Client{nc, js}, nil
}

// Close ends the connection.
func (c *Client) Close() { c.nc.Close() }

// Upload stores content, such as an input file, on the server and returns its digest for
// [wire.Run].Inputs. Content that is already stored is not written again. An [io.Seeker] is read
// twice from the start; any other reader is first copied to a temporary file.
func (c *Client) Upload(ctx context.Context, r io.Reader) (digest string, err error) {
	content, ok := r.(io.ReadSeeker)
	if !ok {
		copied, err := os.CreateTemp("", "pfq-upload-")
		if err != nil {
			return "", err
		}
		defer os.Remove(copied.Name())
		defer copied.Close()
		if _, err := io.Copy(copied, r); err != nil {
			return "", err
		}
		content = copied
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	digest, _, err = wire.PutContent(ctx, c.js, content)
	return digest, err
}

// Download writes content to w. After an error, discard what was written.
func (c *Client) Download(ctx context.Context, digest string, w io.Writer) error {
	return wire.GetContent(ctx, c.js, digest, w)
}

// news waits for changes to jobs. A manager announces them, but announcements may get lost, so
// callers also check after a pause.
type news struct {
	announced chan *nats.Msg
	subs      []*nats.Subscription
	pause     time.Duration
}

const (
	shortest = 10 * time.Millisecond
	longest  = 250 * time.Millisecond
)

// follow starts waiting for changes to jobs. It subscribes to a limited number of changes.
func (c *Client) follow(jobs []string) (*news, error) {
	const most = 64
	n := &news{announced: make(chan *nats.Msg, 64), pause: shortest}
	for _, job := range jobs[:min(len(jobs), most)] {
		sub, err := c.nc.ChanSubscribe(wire.News(job), n.announced)
		if err != nil {
			n.stop()
			return nil, err
		}
		n.subs = append(n.subs, sub)
	}
	return n, nil
}

func (n *news) stop() {
	for _, sub := range n.subs {
		_ = sub.Unsubscribe() // fails only if the connection is closed
	}
}

// wait returns after an announcement, or after a pause that grows to [longest]. The error is the
// cause of ctx.
func (n *news) wait(ctx context.Context) error {
	timer := time.NewTimer(n.pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-n.announced:
		for len(n.announced) > 0 {
			<-n.announced
		}
		n.pause = shortest
	case <-timer.C:
		n.pause = min(2*n.pause, longest)
	}
	return nil
}

// bucket returns the stream of a bucket, and the subject of a key.
func bucket(name, key string) (stream, subject string) {
	return "KV_" + name, "$KV." + name + "." + key
}

// value returns the value of a key in a bucket, or nil if there is none.
func (c *Client) value(ctx context.Context, name, key string) ([]byte, error) {
	stream, subject := bucket(name, key)
	m, err := wire.LastMessage(ctx, c.js, stream, subject)
	switch {
	case errors.Is(err, wire.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case isRemoved(m):
		return nil, nil
	}
	return m.Data, nil
}

// isRemoved reports whether a message of a bucket marks a deleted key.
func isRemoved(m *wire.Stored) bool { return m.Header.Get("KV-Operation") != "" }

// values calls keep for all values of a bucket.
func (c *Client) values(ctx context.Context, name string, keep func(data []byte) error) error {
	stream, subject := bucket(name, ">")
	for from := uint64(1); ; {
		list, next, err := wire.NextMessages(ctx, c.js, stream, subject, from, page)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, m := range list {
			if isRemoved(m) {
				continue
			}
			if err := keep(m.Data); err != nil {
				return err
			}
		}
		from = next
	}
}

// page is the number of messages read per request.
const page = 500
