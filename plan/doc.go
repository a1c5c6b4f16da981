// Package plan finds what to buy for a cluster so that it meets targets at least cost, and proves it.
package plan
