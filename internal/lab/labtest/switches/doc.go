// Package switches tests what is read of switches and made of it, against real ones:
// snmpd of a namespace, lldpd, and Open vSwitch in user space with hosts at its ports.
package switches
