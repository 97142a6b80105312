// Package format has the names of the formats that configuration is written in, and
// nothing of what is in them: whoever only names one needs no more. render has the same
// names.
package format

// Name is a configuration system whose files are written, as the command line takes it.
type Name string

// The formats.
const (
	Netplan  Name = "netplan"
	Ifcfg    Name = "ifcfg"
	Networkd Name = "networkd"
	Keyfile  Name = "nmkeyfile"
	Ifupdown Name = "ifupdown"
	Nmstate  Name = "nmstate"
	Iproute2 Name = "iproute2"
	FreeBSD  Name = "freebsd"
	TrueNAS  Name = "truenas"
	AIX      Name = "aix"
	Sysctl   Name = "sysctl"
	Teamd    Name = "teamd"
	Talos    Name = "talos"
)
