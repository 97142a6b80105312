// Package nfs tests NFS mounts over the links of a bond, with the kernel's own server and
// client.
package nfs
