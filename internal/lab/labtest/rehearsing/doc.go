// Package rehearsing tests that a lab builds, and changes, the networks that
// scenarios declare.
package rehearsing
