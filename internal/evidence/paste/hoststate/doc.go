// Package hoststate makes of what was read of one host a netstate.Host: what runs
// first, else what a configuration declares. What was not read stays unknown: it is
// never a default, and its absence never a fault.
package hoststate
