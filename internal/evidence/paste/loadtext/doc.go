// Package loadtext reads what a host did and counted: sockets, counters and queues, cores
// and interrupts, logs, cards and slots, mounts and paths to storage. It judges nothing.
package loadtext
