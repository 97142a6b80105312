// Package saidtext reads rates that people tell in sentences: what a test of the network
// came to, what the disks do, what a copy gets, one connection beside several, and the
// same with a tunnel and without, by a public and a private address, before and after,
// by one tool and another. None of it is a measurement; it is kept as facts of "said",
// which the rules trust little.
package saidtext
