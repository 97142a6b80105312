// Package hosttext reads what a host says of its links: /proc and /sys, ip, ifconfig,
// ethtool, bridges, Open vSwitch and teams, and the files that configure them. It
// judges nothing.
package hosttext
