// Package nfs tests NFS mounts over the links of a bond, with the kernel's own
// server and client: by the addresses that steer chose and the commands that
// it prints.
package nfs
