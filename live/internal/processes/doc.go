// Package processes runs programs as process groups that end together: how do I stop a program with
// all its children?
//
// A program may start others, which would be left behind if the program or its parent is killed.
// Each group therefore has a mark, a random word in the environment that all its processes inherit.
// While the group runs, the mark is a file in a folder. A restarted process with the same folder
// kills all processes with a mark in it. On Linux, the kernel also kills the leader of the group
// when the process that started it dies.
//
// A process that clears its environment and also leaves the group is not found.
package processes
