// Package field puts faults into networks that none of the other proofs draws: other
// traffic, overlays, policers, marks, memory, copies, limits of each flow, short queues,
// ECMP, addresses on lo, half of a bond; and odd networks that are well. Each is built
// by a few lines of ip, tc, nft and sysctl, discovered, measured and explained by the
// program's own commands, and what it says first is held against what was done.
package field
