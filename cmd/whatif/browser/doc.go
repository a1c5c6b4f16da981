// Package browser tests the what-if page in a real Chromium. It is a separate module: the tests of
// the library need no browser, and its go.sum does not contain a browser driver.
package browser
