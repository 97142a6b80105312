// Package othertext reads what ESXi, Windows, AIX, FreeBSD, ONTAP and the pages of a
// NAS print of their links. It judges nothing.
package othertext
