// Package datagrams tests that UDP is counted as it is on a shaped link of a
// real kernel: the rate, and every datagram that is lost.
package datagrams
