// Package snippet writes what people type so that other programs use flows as
// steer chose them: commands for benchmarks and copiers, addresses to add to an
// interface, NFS mounts, MPTCP endpoints. Pure: it runs nothing.
//
// A snippet that leaves links to chance, because its program cannot be told
// which ports to use, says so and how good the chance is.
//
// The package must never choose a link: that is steer's. And no line that it
// writes may be run by linerate itself, which changes hosts by plan's steps.
package snippet
