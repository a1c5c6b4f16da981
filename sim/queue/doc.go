// Package queue simulates systems of which the rates of service are given as a function of the jobs present: Whittle
// networks of processor-sharing queues ([Network]), and order-independent queues with returning jobs ([Queue]).
package queue
