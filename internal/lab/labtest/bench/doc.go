// Package bench compares the engine with the traffic generators that people
// use, side by side: two network namespaces, one veth, every tool in turn.
package bench
