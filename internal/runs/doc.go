// Package runs shares the runs of a command that simulates among processes, on one machine or many.
//
// The runs of a command are the tasks of a sweep, and a folder of results holds those that are done. So whoever fills
// the folder, the command finds them there, and its answer has the digits that it has where one process does all.
// There are two ways to fill it:
//
//	--part K/N    the process does the runs whose place is K modulo N, and writes them to a folder that all share
//	--tasks list  the process names the runs that are missing; others do them by --tasks serve, and their results
//	              are put into the folder by whoever gave them away ([productform/sweep.Put])
//
// Lists and answers are lines of JSON, the first of which is a [Fingerprint]. Digits are those of one process if all have
// the same fingerprint.
package runs
