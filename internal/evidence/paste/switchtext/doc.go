// Package switchtext reads what switches print of their channels, LACP, ports, hashes
// and neighbours, of sixteen makers. It judges nothing.
package switchtext
