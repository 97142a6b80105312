package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// captured reads one tree.
type captured struct {
	tree fs.FS
	host netstate.Host
}

// Captured reads a tree of /proc and /sys that was copied from a Linux host,
// on any system. What only netlink tells (policy rules, queueing disciplines,
// routes outside the main table, virtual links' kinds, offloads) is in
// Host.Missing. A tree without sys/class/net is an error, fs.ErrNotExist.
func Captured(tree fs.FS) (netstate.Host, error) {
	c := &captured{tree: tree}
	c.machine()
	if err := c.links(); err != nil {
		return netstate.Host{}, fmt.Errorf("read captured tree: %w", err)
	}
	c.vlans()
	c.bonds()
	c.network()
	c.counts()
	c.host.Cards = addCards(tree, c.host.Links)
	placeDevices(tree, c.host.Links, func(netstate.Link) bool { return true })
	c.bridges()
	c.host.Machine, c.host.Cloud = readMachine(tree, c.host.CPU.Cores)
	values, err := sysctl.ReadFrom(tree, sysctlKeys(c.host.Links)...)
	c.note("sysctls", err)
	withoutSameMTU(values, c.host.Links, nil)
	c.host.Sysctls = values
	c.host.Owners = findOwners(tree, everAlive)
	ownLinks(tree, c.host.Links, everAlive)
	c.host.Missing = append(c.host.Missing, "policy rules, routes outside the main table, queueing disciplines, offloads: not in a captured tree")
	return c.host, nil
}

func (c *captured) note(what string, err error) {
	if err != nil {
		c.host.Missing = append(c.host.Missing, fmt.Sprintf("%s: %v", what, err))
	}
}

// text is a file without surrounding blanks; "" when it cannot be read.
func (c *captured) text(file string) string {
	b, err := fs.ReadFile(c.tree, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// number is a file's decimal number; zero when there is none.
func (c *captured) number(file string) int64 {
	n, err := strconv.ParseInt(c.text(file), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (c *captured) machine() {
	c.host.Kernel = netstate.Kernel{OS: "linux", Release: c.text("proc/sys/kernel/osrelease"), Arch: c.text("proc/sys/kernel/arch")}
	switch c.host.Kernel.Arch {
	case "s390x", "ppc64", "ppc", "mips", "mips64":
		c.host.Kernel.BigEndian = true
	}
	for _, file := range []string{"proc/sys/kernel/hostname", "etc/hostname"} {
		if c.host.Name = c.text(file); c.host.Name != "" {
			break
		}
	}
	text, err := fs.ReadFile(c.tree, "proc/cpuinfo")
	if err == nil {
		var cpu procfs.CPUInfo
		cpu, err = procfs.ParseCPUInfo(text)
		c.host.CPU = netstate.CPU{Cores: cpu.Threads, Model: cpu.Model}
	}
	c.host.CPU.Governor = governor(c.tree)
	c.host.Memory = memory(c.text("proc/meminfo"))
	c.note("processors", err)
}

const classNet = "sys/class/net/"

func (c *captured) links() error {
	entries, err := fs.ReadDir(c.tree, strings.TrimSuffix(classNet, "/"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		// bonding_masters and the like are no links.
		if c.text(classNet+e.Name()+"/ifindex") != "" {
			c.host.Links = append(c.host.Links, c.link(e.Name()))
		}
	}
	if len(c.host.Links) == 0 {
		return errors.New("sys/class/net holds no links with an ifindex: `linerate inspect DIRECTORY` reads a report of other files, each by what it is")
	}
	slices.SortStableFunc(c.host.Links, func(a, b netstate.Link) int { return a.Index - b.Index })
	return nil
}

// Interface flags of the flags file (include/uapi/linux/if.h).
const (
	flagUp       = 1 << 0
	flagLoopback = 1 << 3
)

func (c *captured) link(name string) netstate.Link {
	dir := classNet + name + "/"
	flags, _ := strconv.ParseUint(c.text(dir+"flags"), 0, 32)
	l := netstate.Link{
		Name:    name,
		Index:   int(c.number(dir + "ifindex")),
		MTU:     int(c.number(dir + "mtu")),
		Up:      flags&flagUp != 0,
		Carrier: c.text(dir+"carrier") == "1",
		Kind:    c.kind(dir, flags&flagLoopback != 0),
	}
	c.state(dir, &l)
	l.MAC, _ = flow.ParseMAC(c.text(dir + "address"))
	for key, file := range map[string]string{"operstate": "operstate", "qlen": "tx_queue_len"} {
		if v := c.text(dir + file); v != "" {
			if l.Extra == nil {
				l.Extra = make(map[string]string)
			}
			l.Extra[key] = v
		}
	}
	for _, line := range strings.Fields(c.text(dir + "device/uevent")) {
		key, value, _ := strings.Cut(line, "=")
		switch {
		case key == "DRIVER":
			l.Driver = value
		case key == "PCI_SLOT_NAME" && pciAddress.MatchString(value):
			l.PCI = value
		}
	}
	if mbps := c.number(dir + "speed"); l.Kind == "" && mbps > 0 && mbps < 1<<31 {
		l.Speed, l.Duplex = unit.BitRate(mbps)*unit.Mbps, c.text(dir+"duplex")
	}
	for file, counter := range map[string]*uint64{
		"rx_bytes": &l.Counters.RxBytes, "tx_bytes": &l.Counters.TxBytes,
		"rx_packets": &l.Counters.RxPackets, "tx_packets": &l.Counters.TxPackets,
		"rx_dropped": &l.Counters.RxDropped, "tx_dropped": &l.Counters.TxDropped,
		"rx_errors": &l.Counters.RxErrors, "tx_errors": &l.Counters.TxErrors,
		"rx_crc_errors": &l.Counters.RxCRC, "rx_frame_errors": &l.Counters.RxFrame,
		"rx_missed_errors": &l.Counters.RxMissed, "collisions": &l.Counters.Collisions,
	} {
		*counter, _ = strconv.ParseUint(c.text(dir+"statistics/"+file), 10, 64)
	}
	return l
}

// state takes the kernel's word for what the flags and the carrier do not say in
// the tree (operstate, Documentation/networking/operstates.rst), and says what was
// not read: a link is down, or has no MTU, only where a file says so.
func (c *captured) state(dir string, l *netstate.Link) {
	var lacks []string
	oper := c.text(dir + "operstate")
	if c.text(dir+"flags") == "" {
		l.Up = oper == "up"
		if oper == "" || oper == "unknown" {
			lacks = append(lacks, "flags")
		}
	}
	if c.text(dir+"carrier") == "" && l.Up { // of a link that is down it cannot be read
		l.Carrier = oper == "up"
		if oper == "" || oper == "unknown" {
			lacks = append(lacks, "carrier")
		}
	}
	if l.MTU == 0 {
		lacks = append(lacks, "mtu")
	}
	if len(lacks) > 0 {
		c.host.Missing = append(c.host.Missing, fmt.Sprintf("%s: %s: not in %s", l.Name, strings.Join(lacks, ", "), strings.TrimSuffix(dir, "/")))
	}
}

// kind finds a link's kind by the traces each leaves in sysfs. A virtual link
// without one is "unknown", for "" would claim a device.
func (c *captured) kind(dir string, loopback bool) string {
	there := func(file string) bool {
		_, err := fs.Stat(c.tree, dir+file)
		return err == nil
	}
	for _, line := range strings.Fields(c.text(dir + "uevent")) {
		if kind, ok := strings.CutPrefix(line, "DEVTYPE="); ok && kind != "wlan" {
			return kind
		}
	}
	switch {
	case loopback:
		return "loopback"
	case there("bonding"), c.inProc(path.Base(dir)):
		return "bond"
	case there("bridge"):
		return "bridge"
	case there("tun_flags"):
		return "tun"
	case there("device"):
		return ""
	}
	return "unknown"
}

// inProc reports a bond whose file below /proc was captured, and may be all of it.
func (c *captured) inProc(name string) bool {
	_, err := fs.Stat(c.tree, "proc/net/bonding/"+name)
	return err == nil
}

// find is the named link; nil when there is none.
func (c *captured) find(name string) *netstate.Link {
	i := slices.IndexFunc(c.host.Links, func(l netstate.Link) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return &c.host.Links[i]
}
