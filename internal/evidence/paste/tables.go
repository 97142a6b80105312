package paste

import "net/netip"

// Socket is a connection as ss shows it. Info are its words by name, times and
// shares without their units: "rtt" "31.1/0.05", "rwnd_limited" "98.6" (per cent).
type Socket struct {
	Local, Remote netip.AddrPort
	Info          map[string]string
	Source
}

// Core is what one core did, in per cent; ID "all" is their mean.
type Core struct {
	ID                              string
	User, System, Soft, Steal, Idle float64
	Source
}

// Process is a program or thread with what it takes of a core, in per cent.
type Process struct {
	Name string
	CPU  float64
	Source
}

// Event is a line of a log about a link.
type Event struct {
	Text, Kind, Link string
	Seconds          float64 // its time stamp; 0 none
	Source
}

// Mount is a mounted file system of a server.
type Mount struct {
	Device, Path, Kind string
	Options            map[string]string
	Ports              []uint16 // source ports of its connections
	Source
}
