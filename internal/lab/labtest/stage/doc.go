// Package stage takes a test binary to a kernel where it can run, and gives
// its tests network namespaces that go when they do.
package stage
