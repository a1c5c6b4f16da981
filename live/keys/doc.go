// Package keys defines who may do what on a server that others can reach, and makes the keys that
// prove identities: how do I open a cluster to some users but not to everyone?
//
// Each key has a name and one of four roles. The server allows a key exactly what the table
// [Rights] grants to its role.
//
//	manager  decides; several may stand by
//	worker   runs tasks; one key per worker, with its name
//	client   submits jobs, requests and contents, reads results
//	monitor  reads everything readable
//
// A key is an nkey. The server and the folder of keys hold its public half, and the owner's file
// holds the seed; the seed is never sent over the network. Servers authenticate themselves over TLS
// 1.3, with a certificate of an authority that is made with the keys.
//
// For example:
//
//	folder, err := os.MkdirTemp("", "keys-")
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer os.RemoveAll(folder)
//	if err := keys.Init(folder, "nats://cluster.example:4222"); err != nil { // the server uses this folder
//		log.Fatal(err)
//	}
//	if _, err := keys.Add(folder, keys.Worker, "w7"); err != nil { // copy the returned file to the machine of w7
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
// Each worker, client and monitor has its own account on the server. It sees only what the table
// imports from the account of the streams and the managers. Permissions alone would not be enough:
// a request for a stored message may name any subject for the response, and NATS writes the
// response there, past the permissions of the requester. In a separate account, such a response
// reaches no one else. For the same reason only managers may create consumers.
package keys
