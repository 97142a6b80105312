// Package paste reads what people have of a host when they ask why several links
// do not add up: a forum post, a ticket, the scroll of a terminal, several hosts and
// a switch in one text. It cleans the text of what lies around it (quotes, fences,
// line numbers, colours, markup), cuts it into the outputs of commands, says whose
// each one is, and hands them to readers. What comes out is a Case: facts, each with
// the lines that it was read from, load tests, and a list of the lines that nobody
// could read, with the reason.
//
// It judges nothing, and it makes up nothing: what was not read is absent, a cut
// output is a partial one, and a redacted address is no address.
package paste
