// Package floor is what tests in a lab stand on: the lab's kernel around them,
// namespaces that go when they do. It knows nothing of the program above, so
// that a proof depends on what it proves and on no more.
package floor
