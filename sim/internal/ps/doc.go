// Package ps simulates networks of processor-sharing queues, which several systems are: clusters and divisible resources whose
// jobs share, and Whittle networks.
package ps
