// Package labtest holds the tests that need a real kernel with bonding. They
// run on the running kernel where it has it and the user is root, else in a
// lab kernel; the test binary boots it and runs itself inside.
package labtest
