package keys

import "productform/live/wire"

// A Role is the purpose of a key.
type Role string

const (
	Manager Role = "manager" // decides; several may stand by
	Worker  Role = "worker"  // runs tasks, for the worker with the name of the key
	Client  Role = "client"  // submits jobs, requests and contents, reads results
	Monitor Role = "monitor" // reads everything readable
)

// outdated is a role of earlier versions. Its keys stay in the folder, since names are never used
// twice, but give no access.
const outdated Role = "policy"

// Roles lists all roles.
func Roles() []Role { return []Role{Manager, Worker, Client, Monitor} }

// A Verb is one of the two operations on a subject in NATS.
type Verb string

const (
	Publish   Verb = "publish"   // write a message or send a request
	Subscribe Verb = "subscribe" // receive messages and the responses to own requests
)

// A Right allows a role to publish or subscribe to matching subjects.
type Right struct {
	Role    Role
	Verb    Verb
	Subject string // {name} stands for the name of the key
	For     string // purpose, human-readable
	Many    bool   // a request has several responses
}

// Subjects of JetStream requests. A response to direct.STREAM.SUBJECT is the last message on the
// subject; responses to direct.STREAM are any messages.
const (
	direct = "$JS.API.DIRECT.GET."
	api    = "$JS.API."
)

// Rights returns the table of what each role may do. The server rejects everything else.
func Rights() []Right {
	all := []Right{
		{Worker, Publish, "pfq.beat.{name}", "its heartbeats", false},
		{Worker, Publish, "pfq.in.done.>", "results: the first of a task is accepted", false},
		{Worker, Publish, "pfq.in.fail.>", "abandoned attempts", false},
		{Worker, Publish, wire.BlobSubjects, "large results: a content is written once", false},
		{Worker, Publish, direct + wire.InStream + ".pfq.in.submit.*", "the jobs of its orders", false},
		{Worker, Publish, direct + wire.BlobStream + "." + wire.BlobSubjects, "inputs", false},
		{Worker, Subscribe, "pfq.order.{name}", "its orders", false},
		{Worker, Subscribe, "_INBOX_{name}.>", "answers to its requests", false},

		{Client, Publish, "pfq.in.submit.*", "batches of jobs", false},
		{Client, Publish, "pfq.in.cancel.*", "requests about jobs", false},
		{Client, Publish, "pfq.in.change.*.*", "requests about jobs", false},
		{Client, Publish, "pfq.in.clear.*", "requests about jobs", false},
		{Client, Publish, "pfq.in.drain.*.*", "requests about workers", false},
		{Client, Publish, wire.BlobSubjects, "inputs", false},
		{Client, Publish, "pfq.api.*", "queries to the manager, which change nothing", false},
		{Client, Publish, direct + wire.InStream, "results, and other messages to the manager", true},
		{Client, Publish, direct + wire.InStream + ".>", "results, and other messages to the manager", false},
		{Client, Publish, direct + wire.BlobStream + "." + wire.BlobSubjects, "large results", false},
		{Client, Subscribe, "pfq.news.*", "progress of jobs", false},
		{Client, Subscribe, "_INBOX_{name}.>", "answers to its requests", false},

		{Monitor, Publish, "pfq.api.*", "queries to the manager, which change nothing", false},
		{Monitor, Publish, direct + wire.InStream, "messages to the manager", true},
		{Monitor, Publish, direct + wire.InStream + ".>", "messages to the manager", false},
		{Monitor, Publish, direct + wire.PlanStream, "decisions", true},
		{Monitor, Publish, direct + wire.PlanStream + "." + wire.PlanSubject, "decisions", false},
		{Monitor, Subscribe, "pfq.news.*", "progress of jobs", false},
		{Monitor, Subscribe, "_INBOX_{name}.>", "answers to its requests", false},

		{Manager, Publish, wire.PlanSubject, "decisions, by compare-and-set", false},
		{Manager, Publish, wire.ScriptSubject, "the script of a replay", false},
		{Manager, Publish, "pfq.order.*", "orders", false},
		{Manager, Publish, "pfq.news.*", "progress of jobs", false},
		{
			Manager, Publish, "_R_.>", "answers to clients and monitors, by the subject that the server made for each",
			false,
		},
		{Manager, Publish, "_INBOX_{name}.>", "to itself", false},
		{Manager, Publish, "$O." + wire.SnapshotStore + ".>", "snapshots", false},
		{Manager, Publish, "$KV." + wire.LeaderBucket + ".>", "which manager leads", false},
		{Manager, Publish, direct + ">", "everything that is stored", false},
		{Manager, Publish, api + "INFO", "limits of the account", false},
		{Manager, Publish, api + "STREAM.NAMES", "the library looks up a stream by its subject", false},
		{Manager, Publish, "$JS.ACK.>", "acknowledgements of consumers", false},
		{Manager, Publish, "$JS.FC.>", "flow of consumers", false},
		{Manager, Subscribe, "pfq.beat.*", "heartbeats", false},
		{Manager, Subscribe, "pfq.api.*", "questions", false},
		{Manager, Subscribe, Gone, "connections that ended", false},
		{Manager, Subscribe, "_INBOX_{name}.>", "answers to its requests", false},
	}
	for _, bucket := range []string{wire.JobsBucket, wire.WorkersBucket, wire.BatchesBucket, wire.ProfilesBucket} {
		for _, r := range []Role{Client, Monitor} {
			all = append(all,
				Right{r, Publish, direct + "KV_" + bucket, "views", true},
				Right{r, Publish, direct + "KV_" + bucket + ".>", "views", false})
		}
		all = append(all, Right{Manager, Publish, "$KV." + bucket + ".>", "views", false})
	}
	for _, stream := range streams() {
		all = append(all,
			Right{Manager, Publish, api + "STREAM.CREATE." + stream, "made at the first start", false},
			Right{Manager, Publish, api + "STREAM.INFO." + stream, "checked at each start", false},
			Right{Manager, Publish, api + "STREAM.MSG.GET." + stream, "everything that is stored", false},
			Right{
				Manager, Publish, api + "STREAM.PURGE." + stream, "jobs that are cleared, plans before a snapshot",
				false,
			},
			Right{Manager, Publish, api + "CONSUMER.*." + stream, "messages read as they arrive", false},
			Right{Manager, Publish, api + "CONSUMER.*." + stream + ".>", "messages read as they arrive", false},
			Right{Manager, Publish, api + "CONSUMER.MSG.NEXT." + stream + ".*", "messages read as they arrive", false})
	}
	return all
}

// streams returns the names of the streams of package wire, including those of object stores and
// buckets.
func streams() []string {
	return []string{
		wire.InStream, wire.PlanStream, wire.BlobStream, "OBJ_" + wire.SnapshotStore,
		"KV_" + wire.LeaderBucket, "KV_" + wire.JobsBucket, "KV_" + wire.WorkersBucket, "KV_" + wire.BatchesBucket,
		"KV_" + wire.ProfilesBucket,
	}
}

// Gone is the subject of messages to managers about closed connections, see [Left].
const Gone = "$SYS.ACCOUNT.*.DISCONNECT"
