// Package pool simulates resources that jobs share by one of the policies of package fluid: [Divisible] ones, and machines on
// which tasks run that cannot be cut ([Tasks]).
package pool
