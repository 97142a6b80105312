package snippet

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer/subflow"
)

// SubflowHost is what the commands for one of the two hosts need to know.
type SubflowHost struct {
	// Device gets the aliases; Kind is netplan's section for it, "" is KindBond.
	Device string
	Kind   DeviceKind
	// Before is what the path manager is set to, which taking the plan back
	// restores; nil is what Linux starts with.
	Before *netstate.MPTCP
}

// SubflowCommands are lines for one host, in the order to use them. All need
// root; they act on connections made afterwards.
type SubflowCommands struct {
	// Check shows, before anything is added, whether others use the addresses.
	Check []string `json:"check,omitempty"`
	// Set is in effect until the next reboot.
	Set []string `json:"set"`
	// Netplan is a file that keeps the addresses, Unit one of systemd that sets
	// MPTCP up at each start: netplan cannot represent it.
	Netplan []string `json:"netplan,omitempty"`
	Unit    []string `json:"unit"`
	// Run are ways to have a program use MPTCP without changing it.
	Run []string `json:"run"`
	// Verify shows the subflows of a running connection, and what became of
	// attempts to make some.
	Verify []string `json:"verify"`
	// Rollback takes Set back.
	Rollback []string `json:"undo"`
}

// SubflowUnit is the name of the systemd unit that keeps a plan.
const SubflowUnit = "mptcp-subflows.service"

// SubflowClient are the lines of a plan for the host that connects. Bits is the
// length of the subnet's prefix.
func SubflowClient(s subflow.Subflows, h SubflowHost, bits int) SubflowCommands {
	c := hostCommands(h, s.AddNear, bits, s.Client)
	c.Run = []string{
		remarked("mptcpize run PROGRAM", "C library programs (package mptcpize)"),
		remarked("GODEBUG=multipathtcp=1 PROGRAM", "Go programs"),
		remarked("iperf3 -m -c "+server(s), "iperf3 3.19 and newer"),
	}
	c.Verify = []string{
		remarked("ss -M -n dst "+server(s), "one connection"),
		remarked(fmt.Sprintf("ss -t -n -i '%s'", toServer(s)), fmt.Sprintf("its %d subflows", len(s.Flows))),
		"nstat -az 'MPTcpExt*'",
	}
	return c
}

// SubflowServer are the lines of a plan for the host that listens.
func SubflowServer(s subflow.Subflows, h SubflowHost, bits int) SubflowCommands {
	c := hostCommands(h, s.AddFar, bits, s.Server)
	c.Run = []string{
		remarked("mptcpize run PROGRAM", "C library programs (package mptcpize)"),
		remarked("PROGRAM", "Go 1.24 and newer: it listens with MPTCP"),
		remarked("GODEBUG=multipathtcp=1 PROGRAM", "older Go programs"),
		remarked("iperf3 -s -m", "iperf3 3.19 and newer"),
	}
	c.Verify = []string{"ss -M -n", "nstat -az 'MPTcpExt*'"}
	return c
}

// remarked is a line with a remark for people.
func remarked(line, remark string) string { return fmt.Sprintf("%-34s # %s", line, remark) }

// server is the address to connect to.
func server(s subflow.Subflows) string { return s.Flows[0].Dst.String() }

// toServer is ss(8)'s filter for the server's addresses.
func toServer(s subflow.Subflows) string {
	text := "dst " + server(s)
	for _, a := range s.AddFar {
		text += " or dst " + a.String()
	}
	return text
}

func hostCommands(h SubflowHost, add []netip.Addr, bits int, want netstate.MPTCP) SubflowCommands {
	aliases := Aliases{Addrs: add, Bits: bits, Device: h.Device, Kind: h.Kind}
	old := subflow.StartLimits()
	if h.Before != nil {
		old = *h.Before
	}
	settings := []string{"sysctl -w net.mptcp.enabled=1", limitsLine(want)}
	undo := []string{}
	for _, e := range want.Endpoints {
		settings = append(settings, fmt.Sprintf("ip mptcp endpoint add %s id %d %s", e.Addr, e.ID, e.Flags))
		undo = append(undo, fmt.Sprintf("ip mptcp endpoint delete id %d", e.ID))
	}
	undo = append(undo, limitsLine(old))
	// Last first: with the first address of a subnet the kernel removes the
	// others (unless promote_secondaries is set).
	for _, a := range slices.Backward(add) {
		undo = append(undo, fmt.Sprintf("ip addr del %s dev %s", netip.PrefixFrom(a, bits), h.Device))
	}
	c := SubflowCommands{
		Check:    aliases.Probe(),
		Set:      append(aliases.IP(), settings...),
		Unit:     unitFile(h.Device, settings),
		Rollback: undo,
	}
	if len(add) > 0 {
		c.Netplan = aliases.Netplan()
	}
	return c
}

func limitsLine(m netstate.MPTCP) string {
	return fmt.Sprintf("ip mptcp limits set subflows %d add_addr_accepted %d", m.Subflows, m.AddAddrAccepted)
}

// unitFile is a systemd unit that runs the commands once the network is up. An
// endpoint that is there already is no failure (the leading hyphen).
func unitFile(device string, commands []string) []string {
	lines := []string{
		"# /etc/systemd/system/" + SubflowUnit, "[Unit]",
		"Description=MPTCP subflows over the links of " + device,
		"Wants=network-online.target", "After=network-online.target", "",
		"[Service]", "Type=oneshot", "RemainAfterExit=yes",
	}
	for _, c := range commands {
		lines = append(lines, "ExecStart=-/usr/bin/env "+c)
	}
	return append(lines, "", "[Install]", "WantedBy=multi-user.target")
}
