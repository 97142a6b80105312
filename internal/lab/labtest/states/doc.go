// Package states proves on a running kernel that a host can be brought from
// any state to any other and back: the table of bond options, both ways, and
// states drawn at random that are planned, applied, read back and undone.
package states
