// Package sys is the only door to golang.org/x/sys: thin, typed wrappers of
// system calls that the standard library lacks. No policy, no retries beyond
// EINTR, no custom API: a call does what its manual page says.
package sys
