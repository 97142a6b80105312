// Package early is what a lab kernel's first process needs before anything else of
// the program is initialised. It must import nothing but the standard library: Go
// initialises packages in the order of their paths as soon as what they import is
// (the language's specification, "Program initialization"), and so this one before
// those of github.com/nats-io, of which one reads /proc when it is initialised
// (nats-server, server/pse) and dies where the file there is empty, as that of the
// machine is through hostfs.
package early

// EnvConfig names where the orders of a lab kernel's first process are; it is set for
// that alone.
const EnvConfig = "LINERATE_GUEST_CONFIG"
