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
	"productform/live/store"
	"productform/live/wire"
)

// A Client is a connection to the live system. Its methods may be called at the same time.
type Client struct {
	nc *nats.Conn
	js jetstream.JetStream
}

// Connect connects to a server by its URL, such as nats://127.0.0.1:4222, or by the file of a key. More options may be
// given, such as that of a server within the process. A connection that is lost later is sought again until [Client.Close].
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

// Upload keeps a content, such as a file that tasks need, on the server, and returns its digest for [wire.Run].Inputs. What
// is there already is not written again. A reader that is an [io.Seeker] is read twice from its beginning; of others a
// temporary copy is made.
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
	digest, _, err = store.Put(ctx, c.js, content)
	return digest, err
}

// Download writes a content to w. What it has written before an error is not to be used.
func (c *Client) Download(ctx context.Context, digest string, w io.Writer) error {
	return store.Get(ctx, c.js, digest, w)
}

// A news waits for changes of jobs. A manager announces them; since that may get lost, one looks again after a while anyhow.
type news struct {
	announced chan *nats.Msg
	subs      []*nats.Subscription
	pause     time.Duration
}

const (
	shortest = 10 * time.Millisecond
	longest  = 250 * time.Millisecond
)

// follow begins to wait for news of jobs; at most some of many are subscribed to.
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
		_ = sub.Unsubscribe() // of a closed connection it is gone
	}
}

// wait returns at news, or after a pause that grows to [longest]; the error is the cause of ctx.
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

// bucket returns the stream behind a bucket, and the subject of a key.
func bucket(name, key string) (stream, subject string) {
	return "KV_" + name, "$KV." + name + "." + key
}

// value returns the value of a key of a bucket; nil if there is none, or no longer.
func (c *Client) value(ctx context.Context, name, key string) ([]byte, error) {
	stream, subject := bucket(name, key)
	m, err := store.Last(ctx, c.js, stream, subject)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case isRemoved(m):
		return nil, nil
	}
	return m.Data, nil
}

// isRemoved tells whether a message of a bucket says that its key is gone.
func isRemoved(m *store.Message) bool { return m.Header.Get("KV-Operation") != "" }

// values calls keep with all values of a bucket.
func (c *Client) values(ctx context.Context, name string, keep func(data []byte) error) error {
	stream, subject := bucket(name, ">")
	for from := uint64(1); ; {
		list, next, err := store.Next(ctx, c.js, stream, subject, from, page)
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

// page is the number of messages that are read at a time.
const page = 500
