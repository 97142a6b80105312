// Package steer says which link a flow takes, and chooses ports and addresses
// that spread flows evenly. Its answer is a link only where that is certain:
// where the inputs of a hash are secret, random, go by load or were not given,
// it says so with the reason. Pure: no files, sockets or clock.
//
// Where to look, by the beginning of a file's name (spreader.go has the noun
// that all share):
//
//	hash*, bundle*              Linux bonding: the hash by era, modes, groups
//	ecmp*, lagg, etherchannel   routes, FreeBSD and AIX: the other Spreaders
//	table                       a Spreader of what was seen, flow by flow
//	reach, show*, parseflows    what can help; documents; CSV files of flows
//	pick*, chance               source ports, evenly on up to four sides
//	address*                    pairs of addresses, evenly
//	erafit                      which kernel's hash explains what was seen
//
// Package system finds the spreader of a host that is not Linux, and has those of
// ESXi and Windows; team and ovs have those of teamd and Open vSwitch. Package subflow
// plans the subflows of one MPTCP connection, package recognise tells which rule explains
// what was seen of an unknown switch, package affine learns the switch's hash exactly
// where a few flows fix it.
//
// The package must never learn how packets are sent or counted, and never what
// people type: commands are package snippet's.
package steer
