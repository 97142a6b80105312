// Package channels has the rules about bonds and the switch's channels: LACP, modes and
// hashes, how the flows fall, what the counters of the links show.
package channels
