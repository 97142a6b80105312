// Package overssh proves that hosts reached by ssh behave like any others: each
// is a namespace with a real sshd of its own; and that the same ones reached over
// NATS do, with an agent each. Only its tests do anything.
package overssh
