// Package runs answers: how can several processes, on one machine or many, share the runs of a
// command that simulates?
//
// The runs of a command are the tasks of a sweep, and a folder of results holds the finished ones.
// The command finds them there, whichever process computed them, and its answer has the same digits
// as that of a single process. There are two ways to fill the folder:
//
//	--part K/N    the process does the runs whose place is K modulo N, and writes them to a folder that all share
//	--tasks list  the process names the runs that are missing; others do them by --tasks serve, and their results
//	              are put into the folder by whoever gave them away ([productform/sweep.Put])
//
// Lists and answers are lines of JSON, the first of which is a [Fingerprint]. Digits are those of a
// single process if all fingerprints are equal.
package runs
