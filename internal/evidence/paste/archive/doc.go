// Package archive knows the layouts of archives that tell of hosts: sosreport,
// supportconfig, must-gather, TrueNAS's debug, vm-support, and copies of /proc, /sys and
// /etc. From a member's path it says which command printed the member's text, or which
// file of the host it is. It opens nothing.
package archive
