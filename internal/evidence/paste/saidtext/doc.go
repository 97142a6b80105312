// Package saidtext reads rates that people tell in sentences: what a test of the network
// came to, what the disks do, what a copy gets, one connection beside several. None of
// it is a measurement; it is kept as facts of "said", which the rules trust little.
package saidtext
