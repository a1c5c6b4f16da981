// Package ps simulates networks of processor-sharing queues: how many jobs are there, and how long
// do they take? Clusters and divisible resources whose jobs share, and Whittle networks, are such
// networks.
package ps
