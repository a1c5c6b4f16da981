// Package page serves a status page for browsers and metrics for Prometheus: what is the cluster
// doing, and is it healthy?
//
//	/          tables of jobs and workers ([L14], Figure 2.1), workers over time, the workers of one job
//	           ([L14], Figure 6.1), decisions
//	/events    the same content as server-sent events, every second
//	/metrics   for Prometheus
//	/healthz   200 if a manager leads and responds, otherwise 503
//
// The page is read-only. It loads nothing from other sites, as a strict Content-Security-Policy
// enforces.
//
// For example:
//
//	nc, stop := startCluster() // a connection to a server on which a manager leads
//	defer stop()
//	ctx, cancel := context.WithCancel(context.Background())
//	defer cancel()
//	h, err := page.Handler(ctx, nc, prometheus.NewRegistry())
//	if err != nil {
//		log.Fatal(err)
//	}
//	web := httptest.NewServer(h) // or http.ListenAndServe("127.0.0.1:8222", h)
//	defer web.Close()
//	for _, path := range []string{"/", "/metrics", "/healthz"} {
//		r, err := http.Get(web.URL + path)
//		if err != nil {
//			log.Fatal(err)
//		}
//		r.Body.Close()
//		fmt.Println(path, r.Status, r.Header.Get("Content-Type")[:10])
//	}
//	// Output:
//	// / 200 OK text/html;
//	// /metrics 200 OK text/plain
//	// /healthz 200 OK text/plain
package page
