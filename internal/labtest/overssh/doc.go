// Package overssh proves that hosts reached by ssh behave like any others: each
// is a namespace with a real sshd of its own. Only its tests do anything.
package overssh
