// Package joblog is what commands that run the jobs of a log share: how they name the log, what of it they take, for which
// policy and on which workers. The flags have the same names, forms and errors in all of them.
package joblog
