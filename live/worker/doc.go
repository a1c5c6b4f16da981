// Package worker runs tasks for the live system: how does a program of mine do the work?
//
// A worker is a slot: it has one task in hand, or none ([L14], section 3.4). It is told what to do by orders, which are
// levels: the last order of the manager says what the worker should be doing now. An order that is older than one it has
// seen, or that is meant for another process, is not followed; if for 10 s none but older ones come, the server has lost what it
// kept, and the worker begins anew as another process.
//
//	no task --order--> fetches the inputs --> runs --> reports --stored or refused--> no task
//	             \--order for another task, or for none: what is in hand is dropped--/
//
// What the worker really does it says in heartbeats; a manager that finds a difference sends the order again. The report of a
// task is published until the server has it, or says that another worker was first: both mean that the task is done.
//
// For example:
//
//	url, stop := startCluster() // such as nats://127.0.0.1:4222
//	defer stop()
//	count := func(_ context.Context, t worker.Task) ([]byte, error) {
//		text, err := os.ReadFile(filepath.Join(t.Folder, "text")) // an error: the task is tried again
//		return fmt.Append(nil, len(strings.Fields(string(text)))), err
//	}
//	leave, left := make(chan struct{}), make(chan error)
//	go func() {
//		handlers := map[string]worker.Handler{"count": count}
//		left <- worker.Run(context.Background(), worker.Settings{Server: url, Name: "counter", Handlers: handlers, Leave: leave})
//	}()
//	fmt.Println(words(url, "to be or not to be"), "words")
//	close(leave) // as on SIGTERM: what it has in hand is finished
//	fmt.Println("left:", <-left)
//	// Output:
//	// 6 words
//	// left: <nil>
package worker
