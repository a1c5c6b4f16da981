// Package joblog answers for commands that run the jobs of a log: which log, which of its jobs,
// under which policy and on which workers? The flags have the same names, forms and errors in all
// of them.
package joblog
