// Package store reads and writes the data on the server: how is a message written exactly once, and
// how is a content of any size stored? It uses direct requests only, which are all that the keys of
// workers and clients allow.
//
// [Once] writes to a subject that accepts a single message. [Last] and [Next] read messages. [Put]
// and [Get] store and read contents of any size by their SHA-256. While a server is unavailable, or
// elects a leader, requests are repeated until the context ends. This is safe because all writes
// can be repeated without harm.
//
// For example:
//
//	ctx := context.Background()
//	js, stop := startServer() // a program gets js from its connection
//	defer stop()
//	for _, result := range []string{"9", "8"} {
//		wrote, err := store.Once(ctx, js, wire.Done("squares", 3), []byte(result))
//		fmt.Println(result, "written:", wrote, err)
//	}
//	digest, size, err := store.Put(ctx, js, strings.NewReader("a result of any size"))
//	if err != nil {
//		log.Fatal(err)
//	}
//	var back bytes.Buffer
//	err = store.Get(ctx, js, digest, &back)
//	fmt.Println(digest[:8], size, "bytes:", back.String(), err)
//	// Output:
//	// 9 written: true <nil>
//	// 8 written: false <nil>
//	// e4d55df3 20 bytes: a result of any size <nil>
package store
