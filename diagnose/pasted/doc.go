// Package pasted judges a piece.Case: what people post when several links do not
// add up. Each cause has its own rule, which looks at what was read and at nothing
// else; the surest finding comes first. Where the deciding output is not there, the
// answer is unknown, and Missing names the command that would decide, and for whom.
//
// Removing evidence must never make an answer surer: a rule counts what it has seen,
// never what is missing.
package pasted
