// Package net has figures of networks, losses and pass-and-swap queues, with systems of our own: throughput and delay against the population (net-1); where the textbooks'
// mean value analysis of many servers fails (net-2); blocking against the load for skills (net-3); tokens against other assignments (net-4); losses that do not
// depend on the sizes (net-5); pass-and-swap against order of arrival (net-6). All points come from simulation job by job.
package net
