// Package live holds what is said of traffic that is there already against
// traffic that was made for it: programs with known limits, over a bond of two
// links, watched by a program that must not send a packet.
package live
