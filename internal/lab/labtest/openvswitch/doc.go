// Package openvswitch runs Debian's Open vSwitch in user space, unpacked and not installed,
// as a switch of a test's: in a namespace whose links are its ports.
package openvswitch
