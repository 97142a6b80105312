package sys

import (
	"fmt"
	"io/fs"
	"net/netip"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sockaddr is an address as system calls take it. The zone of
// an IPv6 address is the name or the number of a link of the calling thread's
// network namespace; one that is not there is fs.ErrNotExist.
func Sockaddr(a netip.AddrPort) (syscall.Sockaddr, error) {
	if a.Addr().Is4() {
		return &syscall.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}, nil
	}
	zone, err := Zone(a.Addr().Zone())
	if err != nil {
		return nil, fmt.Errorf("address %s: %w", a.Addr(), err)
	}
	return &syscall.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: zone}, nil
}

// Family is the family of the sockets for an address.
func Family(a netip.Addr) int {
	if a.Is4() {
		return syscall.AF_INET
	}
	return syscall.AF_INET6
}

// Bind gives a socket its own address. Errors: those of bind(2) and Sockaddr.
func Bind(fd int, at netip.AddrPort) error {
	sa, err := Sockaddr(at)
	if err != nil {
		return err
	}
	return syscall.Bind(fd, sa)
}

// Connect joins a socket to an address. Errors: those of connect(2) and Sockaddr.
func Connect(fd int, far netip.AddrPort) error {
	sa, err := Sockaddr(far)
	if err != nil {
		return err
	}
	return syscall.Connect(fd, sa)
}

// Zone is the number of the link that a zone names; zero for "". Errors:
// fs.ErrNotExist.
func Zone(zone string) (uint32, error) {
	if zone == "" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n), nil
	}
	request, err := unix.NewIfreq(zone)
	if err != nil {
		return 0, fmt.Errorf("%w: no link is called %q", fs.ErrNotExist, zone)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("look for link %s: %w", zone, err)
	}
	defer unix.Close(fd)
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, request); err != nil {
		return 0, fmt.Errorf("%w: no link here is called %s", fs.ErrNotExist, zone)
	}
	return request.Uint32(), nil
}

// AddrPort is what a system call says of an end of a connection, without its
// zone; invalid for families other than IPv4 and IPv6.
func AddrPort(sa syscall.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *syscall.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *syscall.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}
