package server_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"productform/live/keys"
	"productform/live/server"
	"productform/live/wire"
)

// A guarded is a server that requires keys, on a port of this machine.
type guarded struct {
	*server.Server
	folder  string
	outside string // its URL, if it is an external server
}

func (g guarded) url() string {
	if g.outside != "" {
		return g.outside
	}
	return g.URL()
}

func guard(t *testing.T) guarded {
	t.Helper()
	folder := newFolder(t)
	s, err := server.Start(context.Background(), server.Settings{Keys: folder, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	g := guarded{Server: s, folder: folder}
	if err := server.Prepare(context.Background(), stream(t, g.connect(t, "manager")), server.Layout{
		Memory: true,
	}); err != nil {
		t.Fatal(err)
	}
	return g
}

// newFolder makes a folder with the keys manager, client, monitor, w7 and w8.
func newFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	err := keys.Init(folder, "nats://127.0.0.1:4222")
	for _, name := range []string{"w7", "w8"} {
		if err == nil {
			_, err = keys.Add(folder, keys.Worker, name)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// open connects over the network with a key of any folder.
func (g guarded) open(folder, name string, more ...nats.Option) (*nats.Conn, error) {
	_, options, err := keys.Options(filepath.Join(folder, name+".key"))
	if err != nil {
		return nil, err
	}
	return nats.Connect(g.url(), append(options, more...)...)
}

func (g guarded) connect(t *testing.T, name string, more ...nats.Option) *nats.Conn {
	t.Helper()
	quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	nc, err := g.open(g.folder, name, append([]nats.Option{quiet}, more...)...)
	if err != nil {
		t.Fatal(name, err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func stream(t *testing.T, nc *nats.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// A probe is a subject and the keys that may use it: m for manager, c for client, o for monitor, w
// for w7.
type probe struct{ subject, may string }

// publishes and subscriptions are written by hand, as an independent check of the table of rights.
var publishes = []probe{
	{"pfq.plan", "m"}, {"pfq.in.script", "m"},
	{"pfq.beat.w7", "w"}, {"pfq.beat.w8", ""}, {"pfq.beat.client", ""},
	{"pfq.order.w7", "m"}, {"pfq.order.w8", "m"}, {"pfq.news.j", "m"},
	{"pfq.in.submit.b", "c"}, {"pfq.in.cancel.j", "c"}, {"pfq.in.change.j.1", "c"}, {"pfq.in.clear.j", "c"},
	{"pfq.in.drain.w7.1", "c"},
	{"pfq.in.done.j.1", "w"}, {"pfq.in.done.j.1.2", "w"}, {"pfq.in.again.j.1.2", ""},
	{"pfq.in.fail.j.1.1", "w"}, {"pfq.in.else", ""},
	{"pfq.blob.d.0", "wc"}, {"pfq.blob.d.size", "wc"}, {"pfq.blob.d", ""},
	{"pfq.api.status", "co"}, {"pfq.api.history", "co"}, {"pfq.policy.mine", ""}, {"_R_.x", "m"},
	{"_INBOX_manager.x", "m"}, {"_INBOX_w7.x", ""}, {"_INBOX_w8.x", ""}, {"_INBOX_client.x", ""},
	{"_INBOX.x", ""}, {"else", ""},

	{"$KV.pfq_leader.k", "m"}, {"$KV.pfq_jobs.k", "m"}, {"$KV.pfq_workers.k", "m"}, {"$KV.pfq_batches.k", "m"},
	{"$KV.pfq_profiles.k", "m"},
	{"$O.PFQ_SNAP.M.x", "m"}, {"$O.PFQ_SNAP.C.x", "m"},

	{"$JS.API.DIRECT.GET.PFQ_IN", "mco"}, {"$JS.API.DIRECT.GET.PFQ_IN.pfq.in.submit.b", "mcow"},
	{"$JS.API.DIRECT.GET.PFQ_IN.pfq.in.done.j.1", "mco"},
	{"$JS.API.DIRECT.GET.PFQ_IN.pfq.in.submit.b.c", "mco"}, {"$JS.API.DIRECT.GET.PFQ_IN.pfq.in.>", "mco"},
	{"$JS.API.DIRECT.GET.PFQ_PLAN", "mo"}, {"$JS.API.DIRECT.GET.PFQ_PLAN.pfq.plan", "mo"},
	{"$JS.API.DIRECT.GET.PFQ_BLOB", "m"}, {"$JS.API.DIRECT.GET.PFQ_BLOB.pfq.blob.d.0", "mcw"},
	{"$JS.API.DIRECT.GET.KV_pfq_jobs", "mco"}, {"$JS.API.DIRECT.GET.KV_pfq_jobs.$KV.pfq_jobs.j", "mco"},
	{"$JS.API.DIRECT.GET.KV_pfq_leader", "m"}, {"$JS.API.DIRECT.GET.OBJ_PFQ_SNAP", "m"},

	{"$JS.API.INFO", "m"}, {"$JS.API.STREAM.LIST", ""}, {"$JS.API.STREAM.NAMES", "m"},
	{"$JS.API.STREAM.CREATE.ELSE", ""},
	{"$JS.API.STREAM.INFO.KV_pfq_jobs", "m"}, {"$JS.API.ACCOUNT.PURGE.PFQ", ""},
	{"$JS.API.META.LEADER.STEPDOWN", ""}, {"$JS.API.SERVER.REMOVE", ""}, {"$SYS.REQ.SERVER.PING", ""},
	{"$SYS.REQ.ACCOUNT.PFQ.CONNZ", ""},
	{"$SYS.REQ.USER.INFO", ""}, {"$SYS.ACCOUNT.worker-w8.DISCONNECT", ""},
	{"$JS.ACK.PFQ_IN.c.1.1.1.1.1", "m"}, {"$JS.FC.PFQ_IN.c.x", "m"},
}

// apis are requests about a stream. Most are for managers, and some for no one.
var apis = []probe{
	{"STREAM.CREATE.%s", "m"}, {"STREAM.INFO.%s", "m"}, {"STREAM.MSG.GET.%s", "m"}, {"STREAM.PURGE.%s", "m"},
	{"STREAM.UPDATE.%s", ""}, {"STREAM.DELETE.%s", ""}, {"STREAM.MSG.DELETE.%s", ""}, {"STREAM.SNAPSHOT.%s", ""},
	{"STREAM.RESTORE.%s", ""},
	{"STREAM.PEER.REMOVE.%s", ""}, {"STREAM.LEADER.STEPDOWN.%s", ""},
	{"CONSUMER.CREATE.%s", "m"}, {"CONSUMER.CREATE.%s.c", "m"}, {"CONSUMER.CREATE.%s.c.pfq.in.done.>", "m"},
	{"CONSUMER.DURABLE.CREATE.%s.c", ""},
	{"CONSUMER.NAMES.%s", "m"}, {"CONSUMER.LIST.%s", "m"}, {"CONSUMER.INFO.%s.c", "m"}, {"CONSUMER.DELETE.%s.c", "m"},
	{"CONSUMER.MSG.NEXT.%s.c", "m"},
}

var subscriptions = []probe{
	{">", ""}, {"*", ""}, {"pfq.>", ""}, {"_INBOX.>", ""}, {"_INBOX_*.>", ""}, {"$SYS.>", ""},
	{"$JS.>", ""}, {"$KV.>", ""}, {"_R_.>", ""},
	{"pfq.policy.mine", ""},
	{"_INBOX_w7.>", "w"}, {"_INBOX_w8.>", ""}, {"_INBOX_client.>", "c"}, {"_INBOX_manager.>", "m"},
	{"_INBOX_monitor.>", "o"},
	{"pfq.order.w7", "w"}, {"pfq.order.w8", ""}, {"pfq.order.*", ""}, {"pfq.plan", ""}, {"pfq.in.>", ""},
	{"pfq.in.done.>", ""},
	{"pfq.beat.*", "m"}, {"pfq.beat.w8", "m"}, {"pfq.news.j", "co"}, {"pfq.api.*", "m"},
	{"pfq.blob.>", ""}, {keys.Gone, "m"},
	{"$KV.pfq_jobs.>", ""}, {"$O.PFQ_SNAP.>", ""}, {"$JS.API.>", ""}, {"$JS.EVENT.ADVISORY.>", ""},
}

// Each role tries every subject. The server rejects everything that the lists above do not grant
// it, and nothing else.
func TestEachRoleTriesEverything(t *testing.T) {
	g := guard(t)
	all := publishes
	for _, name := range []string{
		wire.InStream, wire.PlanStream, wire.BlobStream, "OBJ_" + wire.SnapshotStore, "KV_" + wire.LeaderBucket,
	} {
		for _, a := range apis {
			all = append(all, probe{"$JS.API." + fmt.Sprintf(a.subject, name), a.may})
		}
	}
	for letter, name := range map[string]string{"m": "manager", "c": "client", "o": "monitor", "w": "w7"} {
		refused, last := map[string]bool{}, make(chan struct{})
		nc := g.connect(t, name, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			refused[err.Error()] = true
			if strings.Contains(err.Error(), `"the.last"`) {
				close(last)
			}
		}))
		for _, p := range all {
			if err := nc.Publish(p.subject, nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range subscriptions {
			if _, err := nc.SubscribeSync(p.subject); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Publish("the.last", nil); err != nil {
			t.Fatal(err)
		}
		<-last
		check := func(what string, probes []probe) {
			for _, p := range probes {
				said := fmt.Sprintf(`nats: permissions violation: Permissions Violation for %s to %q`, what, p.subject)
				if got, want := !refused[said], strings.Contains(p.may, letter); got != want {
					t.Errorf("%s, %s %s: allowed %v, want %v", name, what, p.subject, got, want)
				}
				delete(refused, said)
			}
		}
		check("Publish", all)
		check("Subscription", subscriptions)
		if len(refused) != 1 {
			t.Errorf("%s: %v", name, refused)
		}
	}
}
