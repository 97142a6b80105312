// Package steering sets what steer says against what running kernels do:
// transmit hashes against the counters of a bond's ports.
package steering
