// Package paths tests, in namespaces of the running kernel, which ways a
// measurement takes: several interfaces and several targets in one window,
// routes that lead elsewhere, ports and networks that are closed, and
// addresses that are there for a measurement only.
package paths
