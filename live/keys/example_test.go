package keys_test

import (
	"fmt"
	"log"
	"os"

	"productform/live/keys"
)

func Example() {
	folder, err := os.MkdirTemp("", "keys-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := keys.Init(folder, "nats://cluster.example:4222"); err != nil { // the server uses this folder
		log.Fatal(err)
	}
	if _, err := keys.Add(folder, keys.Worker, "w7"); err != nil { // copy the returned file to the machine of w7
		log.Fatal(err)
	}
	f, err := keys.Load(folder)
	if err != nil {
		log.Fatal(err)
	}
	for _, u := range f.Users {
		fmt.Println(u.Role, u.Name)
	}
	// Output:
	// manager manager
	// client client
	// monitor monitor
	// worker w7
}
