// Package worker runs tasks for the live system: how can a program of mine run tasks?
//
// A worker is a slot that runs at most one task at a time ([L14], section 3.4). The manager
// controls it with orders. An order describes a state: the last one says what the worker should be
// doing now. Orders older than one already seen, and orders for another process, are ignored. If
// only older orders arrive for 10 s, the server has lost its data, and the worker restarts as a new
// process.
//
//	no task --order--> fetches the inputs --> runs --> reports --stored or refused--> no task
//	             \--order for another task, or for none: the current task is dropped--/
//
// The worker reports its actual state in heartbeats; a manager that finds a difference sends the
// order again. The worker publishes the report of a task until the server has stored it or replies
// that another worker was first. In both cases the task is done.
//
// For example:
//
//	url, stop := startCluster() // such as nats://127.0.0.1:4222
//	defer stop()
//	count := func(_ context.Context, t wire.Task) ([]byte, error) {
//		text, err := os.ReadFile(filepath.Join(t.Folder, "text")) // an error: the task is tried again
//		return fmt.Append(nil, len(strings.Fields(string(text)))), err
//	}
//	leave, left := make(chan struct{}), make(chan error)
//	go func() {
//		handlers := map[string]worker.Handler{"count": count}
//		left <- worker.Run(context.Background(), worker.Settings{
//			Server: url, Name: "counter", Handlers: handlers, Leave: leave,
//		})
//	}()
//	fmt.Println(words(url, "to be or not to be"), "words")
//	close(leave) // as on SIGTERM: the running task is finished
//	fmt.Println("left:", <-left)
//	// Output:
//	// 6 words
//	// left: <nil>
package worker
