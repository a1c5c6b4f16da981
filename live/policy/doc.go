// Package policy makes a policy of one's own a service, which a manager of the live system asks before its own policy decides: how do I decide
// myself which worker does which job?
//
// At each moment at which something happens, and every few seconds, the manager sends a [wire.Question]: the jobs that can use a
// worker, the workers that are up, and what these say of their machines. The answer names a job for each worker. It has 0.2 s;
// where it does not come, or is no plan, the policy of the manager decides. What was answered is in the log of plans, so that
// neither a manager that takes over nor an audit asks again.
//
// For example:
//
//	firstCome := func(q *wire.Question) ([]string, error) {
//		jobs := make([]string, len(q.About)) // one for each worker that is up, or none
//		for w := range jobs {
//			if w < q.Jobs[0].Tasks {
//				jobs[w] = q.Jobs[0].Name
//			}
//		}
//		return jobs, nil
//	}
//	url, stop := startCluster("first-come") // a manager that was started with --policy-service first-come
//	defer stop()
//	ctx, cancel := context.WithCancel(context.Background())
//	served := make(chan error)
//	go func() { served <- policy.Serve(ctx, url, "first-come", firstCome) }()
//	by, status := render(url)
//	fmt.Println(len(by), "tasks are done, planned by the service:", status.Cluster.Counts.Advised > 0)
//	cancel()
//	fmt.Println("ended:", <-served)
//	// Output:
//	// 3 tasks are done, planned by the service: true
//	// ended: <nil>
package policy
