// Package processes runs programs as process groups that end as a whole.
//
// A program may start others, which are left behind if it is killed, or if the process that started it is. Each group
// therefore has a mark, a random word in the environment that all its processes inherit, and the mark is kept as a file in a
// folder while the group runs. A process that starts anew with the same folder kills what bears a mark in it. On Linux,
// the kernel besides kills the leader of the group at the death of the process that started it.
//
// What clears its environment and leaves the group as well is not found.
package processes
