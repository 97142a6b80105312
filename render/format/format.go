// Package format has the names of the formats that configuration is written in, and
// nothing of what is in them: whoever only names one needs no more. render has the same
// names.
package format

import "slices"

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

// The formats that are a switch's, for what a host's bonds need of it.
const (
	IOS      Name = "ios"
	NXOS     Name = "nxos"
	EOS      Name = "eos"
	Junos    Name = "junos"
	Procurve Name = "procurve"
	AOSCX    Name = "aoscx"
	Cumulus  Name = "cumulus"
	SONiC    Name = "sonic"
	RouterOS Name = "routeros"
	OVS      Name = "ovs"
)

// Switches are the formats that are a switch's, in the order of help texts.
func Switches() []Name {
	return []Name{IOS, NXOS, EOS, Junos, Procurve, AOSCX, Cumulus, SONiC, RouterOS, OVS}
}

// Switch reports a format that is a switch's: it is no file of the host's.
func (n Name) Switch() bool { return slices.Contains(Switches(), n) }
