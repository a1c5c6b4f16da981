// Package page shows the cluster, by a status page for browsers and metrics for Prometheus: how are jobs and workers, and is all well?
//
//	/          tables of jobs and workers ([L14], Figure 2.1), workers over time, one job's workers ([L14], Figure 6.1), decisions
//	/events    the same as server-sent events, anew every second
//	/metrics   for Prometheus
//	/healthz   200 if a manager leads and answers, else 503
//
// Nothing can be changed here. The page loads nothing from elsewhere, and a strict Content-Security-Policy says so.
package page
