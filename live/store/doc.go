// Package store writes and reads what the server keeps, with direct requests only, since a worker and a client of a server with keys may do no
// more: how is a message written once, and a content of any size kept?
//
// [Once] writes to a subject that takes one message, ever. [Last] and [Next] read messages, [Put] and [Get] contents
// of any size by their SHA-256. A server that is away for a moment, or between two leaders, is asked again until the context
// ends: all that is written here can be written again without harm.
//
// For example:
//
//	ctx := context.Background()
//	js, stop := startServer() // as the part of a program has it that is connected
//	defer stop()
//	for _, result := range []string{"9", "8"} {
//		wrote, err := store.Once(ctx, js, wire.Done("squares", 3), []byte(result))
//		fmt.Println(result, "is written:", wrote, err)
//	}
//	digest, size, err := store.Put(ctx, js, strings.NewReader("a result of any size"))
//	if err != nil {
//		log.Fatal(err)
//	}
//	var back bytes.Buffer
//	err = store.Get(ctx, js, digest, &back)
//	fmt.Println(digest[:8], size, "bytes:", back.String(), err)
//	// Output:
//	// 9 is written: true <nil>
//	// 8 is written: false <nil>
//	// e4d55df3 20 bytes: a result of any size <nil>
package store
