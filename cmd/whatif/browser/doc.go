// Package browser tests the what-if page in a real Chromium. It is a module of its own, so that the tests of the library need no
// browser and its go.sum does not see the driver of one.
package browser
