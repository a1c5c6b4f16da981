package server

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"productform/live/keys"
	"productform/live/wire"
)

// A gate closes the streams that users and workers fill while the store is full: they then accept
// only user requests, which are small. Plans, views and the lease are never rejected, so a manager
// can still lead, and clearing a job makes room.
type gate struct {
	settings Settings
	nats     *server.Server
	nc       *nats.Conn
	js       jetstream.JetStream
	log      *slog.Logger
	isFull   bool
	isSet    bool // the streams are open or closed according to isFull
	walked   time.Time
	size     int64 // bytes of the store's files and free bytes, at the last measurement
}

const (
	gatePeriod = 250 * time.Millisecond // between two checks of the store
	walkPeriod = 2 * time.Second        // between two measurements of its files

	unlimited = 1 << 60 // bytes: a lower limit in NATS would also reject plans and leases
)

// closedSizes returns the streams that a full store closes, and the maximum message size with
// header that each still accepts. A user request has at most 140 bytes, 52 of them in the header;
// the shortest report has 160, 26 of them random.
func closedSizes() map[string]int32 {
	return map[string]int32{wire.InStream: 150, wire.BlobStream: 1}
}

// openGate connects to a server within the process, using a key that only this process knows.
func openGate(n *server.Server, s Settings, own nkeys.KeyPair, log *slog.Logger) (*gate, error) {
	public, err := own.PublicKey()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect("", nats.InProcessServer(n), nats.Name("store"), nats.Nkey(public, own.Sign),
		nats.MaxReconnects(-1), nats.ReconnectWait(gatePeriod))
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(time.Second))
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &gate{settings: s, nats: n, nc: nc, js: js, log: log}, nil
}

// watch opens and closes the streams until the context is done. It then leaves them open.
func (g *gate) watch(ctx context.Context) {
	tick := time.NewTicker(gatePeriod)
	defer tick.Stop()
	defer g.nc.Close()
	for {
		g.look(ctx)
		select {
		case <-ctx.Done():
			if g.isFull {
				end, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
				_ = g.set(end, false) // otherwise the next server does it
				stop()
			}
			return
		case <-tick.C:
		}
	}
}

// look compares the stored bytes with the limit.
func (g *gate) look(ctx context.Context) {
	info, err := g.nats.Jsz(nil)
	if err != nil || info.Disabled {
		return // JetStream is about to be reopened
	}
	d := g.measure(int64(info.Store))
	isFull := d.isFull(g.isFull)
	if isFull == g.isFull && g.isSet {
		return
	}
	if err := g.set(ctx, isFull); err != nil {
		return // the streams do not exist yet, or the disk is full: the next check tries again
	}
	if isFull != g.isFull && g.log != nil {
		if isFull {
			g.log.Warn("the store is full: submissions and results wait until there is room",
				"used", d.used, "limit", d.limit, "free", d.free)
		} else {
			g.log.Info("the store has room again", "used", d.used, "limit", d.limit, "free", d.free)
		}
	}
	g.isFull, g.isSet = isFull, true
}

// A disk holds the numbers that decide whether its store is full.
type disk struct {
	used, limit   int64 // bytes of the store
	free, reserve int64 // bytes on the disk
}

// isFull reports whether the store is full or the disk nearly full. A full store has room again
// only after somewhat more bytes are free; otherwise its state would keep changing.
func (d disk) isFull(was bool) bool {
	if was {
		return d.used > d.limit-d.limit/32 || d.free < 2*d.reserve
	}
	return d.used >= d.limit || d.free < d.reserve
}

// newDisk returns the limit and the reserve of a store whose messages use some bytes. size is the
// size of its files and free the free bytes. The store may use most bytes, or 3/4 of the total if
// most is 0.
func newDisk(used, size, free, most int64) disk {
	const smallest, largest = 1 << 20, 1 << 30
	return disk{
		used: used, limit: cmp.Or(most, size/4*3),
		free: free, reserve: min(max(size/20, smallest), largest),
	}
}

// measure measures the disk. It measures the size of the files less often.
func (g *gate) measure(used int64) disk {
	free, isKnown := freeBytes(g.settings.Store)
	if !isKnown {
		return disk{used: used, limit: cmp.Or(g.settings.MaxStore, unlimited), free: unlimited}
	}
	if now := time.Now(); now.Sub(g.walked) >= walkPeriod {
		g.walked, g.size = now, sizeOf(g.settings.Store)+free
	}
	return newDisk(used, g.size, free, g.settings.MaxStore)
}

// sizeOf returns the total size of the files below a folder; files that disappear in the meantime
// do not count.
func sizeOf(folder string) (size int64) {
	_ = filepath.WalkDir(folder, func(_ string, f fs.DirEntry, err error) error {
		if err == nil && f.Type().IsRegular() {
			if about, err := f.Info(); err == nil {
				size += about.Size()
			}
		}
		return nil
	})
	return size
}

// set opens or closes the streams.
func (g *gate) set(ctx context.Context, isClosed bool) (err error) {
	for name, size := range closedSizes() {
		if !isClosed {
			size = wire.MaxMessage
		}
		s, one := g.js.Stream(ctx, name)
		if one == nil {
			if c := s.CachedInfo().Config; c.MaxMsgSize != size {
				c.MaxMsgSize = size
				_, one = g.js.UpdateStream(ctx, c)
			}
		}
		err = errors.Join(err, one)
	}
	return err
}

// admit adds a key of this process to the account of the streams, with all rights.
func admit(o *server.Options, own nkeys.KeyPair) error {
	public, err := own.PublicKey()
	if err != nil {
		return err
	}
	for _, a := range o.Accounts {
		if a.Name == keys.MainAccount {
			o.Nkeys = append(o.Nkeys, &server.NkeyUser{Nkey: public, Account: a})
		}
	}
	return nil
}
