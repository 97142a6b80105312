// Package othertext reads what ESXi, Windows, AIX, FreeBSD, RouterOS, ONTAP and the
// pages of a NAS print of their links, and what small systems and hypervisors print of
// USB, Wi-Fi, disks and guests' cards. It judges nothing.
package othertext
