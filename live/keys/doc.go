// Package keys says who may do what on a server that others can reach, and makes the keys that prove who one is: how do I open a cluster to
// others without opening it to all?
//
// Each key has a name and one of four roles. The server lets a key do what the table [Rights] gives its
// role, and nothing else.
//
//	manager  decides; several may stand by
//	worker   runs tasks: one key a worker, by its name
//	client   submits jobs, wishes and contents, reads results
//	monitor  reads what can be read
//
// A key is an nkey: the server and the folder of keys hold its public half, the file of its owner the seed, and neither
// passes the network. Servers prove who they are by a certificate of an authority that is made with the keys, over TLS 1.3.
//
// For example:
//
//	folder, err := os.MkdirTemp("", "keys-")
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer os.RemoveAll(folder)
//	if err := keys.Init(folder, "nats://cluster.example:4222"); err != nil { // the server begins with this folder
//		log.Fatal(err)
//	}
//	if _, err := keys.Add(folder, keys.Worker, "w7"); err != nil { // the file that it returns is for the machine of w7
//		log.Fatal(err)
//	}
//	f, err := keys.Load(folder)
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, u := range f.Users {
//		fmt.Println(u.Role, u.Name)
//	}
//	// Output:
//	// manager manager
//	// client client
//	// monitor monitor
//	// worker w7
//
// Each worker, client and monitor has an account of its own on the server. It sees nothing of the account in which the
// streams and the managers are but what the table imports. Permissions alone would not do: NATS lets who may ask for a
// stored message name any subject for the answer, and the server writes it there, past the permissions of who asked. In an
// account of its own, such an answer reaches no one else. For the same reason only managers may make consumers.
package keys
