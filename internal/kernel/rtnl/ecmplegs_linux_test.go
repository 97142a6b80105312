package rtnl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// The destinations of the multipath routes, the addresses that this host has
// all of, and the legs' subnets, by family.
var (
	farPrefix = map[bool]netip.Prefix{false: netip.MustParsePrefix("100.64.0.0/10"), true: netip.MustParsePrefix("2001:db8::/32")}
	ownPrefix = map[bool]netip.Prefix{false: netip.MustParsePrefix("172.16.0.0/12"), true: netip.MustParsePrefix("fd16::/32")}
)

const seedKey = "net.ipv4.fib_multipath_hash_seed"

func legAddress(ipv6 bool, leg, host int) netip.Addr {
	if ipv6 {
		return netip.MustParseAddr(fmt.Sprintf("fd80:%x::%x", leg, host))
	}
	return netip.MustParseAddr(fmt.Sprintf("10.80.%d.%d", leg, host))
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func familyName(ipv6 bool) string {
	if ipv6 {
		return "IPv6"
	}
	return "IPv4"
}

// legs makes one veth for each weight, with gateways whose address is known,
// and a multipath route over them in both families.
func legs(weights []int) error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return err
	}
	hops := map[bool][]*netlink.NexthopInfo{}
	for i, weight := range weights {
		name := fmt.Sprintf("leg%d", i)
		if err := addVeth(name, "far"+name); err != nil {
			return err
		}
		l, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		for _, ipv6 := range []bool{false, true} {
			bits := map[bool]int{false: 24, true: 64}[ipv6]
			const noDAD = 2
			if err := netlink.AddrAdd(l, &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(legAddress(ipv6, i, 1), bits)), Flags: noDAD}); err != nil {
				return fmt.Errorf("add address to %s: %w", name, err)
			}
			gateway := legAddress(ipv6, i, 2).AsSlice()
			if err := netlink.NeighSet(&netlink.Neigh{LinkIndex: l.Attrs().Index, IP: gateway, State: netlink.NUD_PERMANENT,
				HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 9, byte(i)}}); err != nil {
				return fmt.Errorf("add neighbour: %w", err)
			}
			hops[ipv6] = append(hops[ipv6], &netlink.NexthopInfo{LinkIndex: l.Attrs().Index, Gw: gateway, Hops: weight - 1})
		}
	}
	for _, ipv6 := range []bool{false, true} {
		const typeLocal, tableLocal = 2, 255
		if err := netlink.RouteAdd(&netlink.Route{Dst: ipNet(ownPrefix[ipv6]), LinkIndex: lo.Attrs().Index, Scope: netlink.SCOPE_HOST, Type: typeLocal, Table: tableLocal}); err != nil {
			return fmt.Errorf("add local route: %w", err)
		}
		if err := netlink.RouteAdd(&netlink.Route{Dst: ipNet(farPrefix[ipv6]), MultiPath: hops[ipv6]}); err != nil {
			return fmt.Errorf("add multipath route: %w", err)
		}
	}
	return nil
}

func sysctlFile(key string) string { return "/proc/sys/" + strings.ReplaceAll(key, ".", "/") }

func setSysctl(key string, value uint64) error {
	return os.WriteFile(sysctlFile(key), []byte(strconv.FormatUint(value, 10)), 0)
}

// setHash sets policy and fields of both families, and the seed.
func setHash(policy steer.MultipathPolicy, fields steer.HashFields, seed uint32) error {
	var problems []error
	for _, family := range []string{"ipv4", "ipv6"} {
		problems = append(problems, setSysctl("net."+family+".fib_multipath_hash_policy", uint64(policy)))
		if fields != 0 {
			problems = append(problems, setSysctl("net."+family+".fib_multipath_hash_fields", uint64(fields)))
		}
	}
	if _, err := os.Stat(sysctlFile(seedKey)); err == nil || seed != 0 {
		problems = append(problems, setSysctl(seedKey, uint64(seed)))
	}
	return errors.Join(problems...)
}

// observedRoute reads the host back and returns its multipath route.
func observedRoute(ipv6 bool) (m steer.Multipath, err error) {
	h, _, err := read()
	if err != nil {
		return m, err
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return m, err
	}
	h.Kernel = netstate.Kernel{OS: "linux", Release: strings.TrimSpace(string(release)), BigEndian: binary.NativeEndian.Uint16([]byte{0, 1}) == 1}
	h.Sysctls = map[string]netstate.Sysctl{}
	for _, key := range []string{"net.ipv4.fib_multipath_hash_policy", "net.ipv4.fib_multipath_hash_fields", seedKey,
		"net.ipv6.fib_multipath_hash_policy", "net.ipv6.fib_multipath_hash_fields"} {
		value, err := os.ReadFile(sysctlFile(key))
		if err == nil {
			h.Sysctls[key] = netstate.Sysctl{Value: strings.TrimSpace(string(value))}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return m, err
		}
	}
	for _, r := range h.Routes {
		if r.Dst == farPrefix[ipv6] {
			return steer.MultipathOf(h, r)
		}
	}
	return m, fmt.Errorf("no route to %s", farPrefix[ipv6])
}
