// Package steer says which link a flow takes under Linux bonding, and which
// source ports or addresses spread flows evenly over the links. Pure: no
// files, sockets or clock.
//
// Its answer is a link only where the link is certain. Where the kernel's
// inputs are secret, random or depend on load, or where an input was not
// given, it says so with the reason instead of guessing.
//
// A Hasher turns one frame into the kernel's hash. A Bundle adds the mode and
// the usable ports and places frames; Groups and Reach answer what stays true
// even when MAC addresses are unknown. Pick chooses ports and lanes.
//
// The package must never learn how packets are sent or counted: checking a
// placement against counters is the caller's work.
package steer
