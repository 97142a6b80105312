package hosttext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Ifupdown reads /etc/network/interfaces as ifupdown, ifupdown2 and Proxmox write
// it; indentation means nothing there.
var Ifupdown = piece.Reader{
	Kind:   "interfaces(5)",
	Starts: func(line string) bool { return stanza.MatchString(line) },
	Owns: func(s piece.Segment, line string) bool {
		return strings.Contains(s.Path+s.Command, "/network/interfaces") && (stanza.MatchString(line) || ifOption(strings.Fields(line)))
	},
	Read: reading(readIfupdown),
}

var stanza = piece.Compile(`^\s*(?:iface [\w.:@-]+(?: inet6?\b| can\b|\s*$)|auto [\w.:@-]+(?: [\w.:@-]+)*\s*$|allow-[\w-]+ [\w.@-]+(?: [\w.@-]+)*\s*$|source(?:-directory)? /|mapping [\w*]+\s*$)`)

var ifOptions = piece.Words(`address netmask gateway mtu up down pre-up post-up pre-down post-down slaves network broadcast hwaddress metric pointopoint
		method txqueuelen inherits accept_ra autoconf dad-attempts scope privext vlan-raw-device vlan-id vlan_raw_device alias link-speed link-duplex
		offload-gro offload-gso offload-tso ethernet-port-speed comment`)

var ifPrefixes = []string{"bond-", "bond_", "bridge-", "bridge_", "ovs_", "ovs-", "dns-", "vlan-", "vxlan-", "hardware-", "ethtool-", "mstpctl-", "lacp-", "auto-"}

var sysfsEcho = piece.Compile(`echo\s+["']?([\w.+ -]+?)["']?\s*>\s*/sys/class/net/([^/\s]+)/bonding/(\w+)`)

var ovsOption = piece.Compile(`([\w:-]+)=("[^"]*"|\S+)`)

// ifOption reports an option of a stanza.
func ifOption(f []string) bool {
	if len(f) < 2 {
		return false
	}
	if _, bare := bondopt.Find(f[0]); bare || ifOptions[f[0]] {
		return true
	}
	for _, p := range ifPrefixes {
		if strings.HasPrefix(f[0], p) {
			return true
		}
	}
	return false
}

// furthestPort is how many lines of a file are looked at for a switch's port.
const furthestPort = 120

// switchPort is a line that declares a front port of a switch that runs Linux, or has
// it in a bond: only there they have these names.
func switchPort(lines []piece.Line) (piece.Line, bool) {
	for _, l := range lines[:min(len(lines), furthestPort)] {
		if strings.Contains(l.Text, "swp") && switchStanza.MatchString(l.Text) {
			return l, true
		}
	}
	return piece.Line{}, false
}

var switchStanza = piece.Compile(`^\s*(?:(?:auto|iface) swp\d|(?:bond-slaves|bridge-ports) (?:glob )?swp\d)`)

func readIfupdown(s *sink, lines []piece.Line) (read int) {
	if l, ok := switchPort(lines); ok {
		if s.Host.Name == "" {
			s.Host = s.C.NamelessSwitch()
		}
		s.Host.Switch = true
		s.Set("host", "vendor", "cumulus", l)
	}
	r := ifupdownReader{sink: s, hooks: make(map[string]int)}
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		text := strings.TrimSpace(l.Text)
		f := strings.Fields(text)
		switch {
		case text == "":
			continue
		case strings.HasPrefix(text, "#"):
			if read == 0 {
				return 0
			}
		case stanza.MatchString(l.Text):
			r.stanza(f, l)
		case ifOption(f) || read > 0 && text != l.Text && len(f) > 1 && f[0] == strings.ToLower(f[0]):
			for strings.HasSuffix(text, `\`) && i+1 < len(lines) {
				i++
				text = strings.TrimSuffix(text, `\`) + " " + strings.TrimSpace(lines[i].Text)
				f = strings.Fields(text)
			}
			if len(f) > 1 {
				r.option(f, strings.TrimSpace(strings.TrimPrefix(text, f[0])), l)
			}
		default:
			return read
		}
		read = i + 1
	}
	return read
}

type ifupdownReader struct {
	*sink
	name   string // of the stanza; "" none
	family string
	hooks  map[string]int // post-up lines by link
}

func (r *ifupdownReader) stanza(f []string, l piece.Line) {
	r.name = ""
	switch f[0] {
	case "iface":
		r.name, _, _ = strings.Cut(f[1], ":") // an alias is the same link
		r.declare(r.name, "format", "ifupdown", l)
		if len(f) > 2 {
			r.family = f[2]
		}
		if len(f) > 3 && f[3] == "dhcp" {
			r.declare(r.name, "dhcp", "yes", l)
		}
		if parent, id, ok := strings.Cut(r.name, "."); ok && piece.Digits.MatchString(id) {
			r.vlan(parent, id, l)
		}
		if piece.Digits.MatchString(strings.TrimPrefix(r.name, "vmbr")) && strings.HasPrefix(r.name, "vmbr") {
			r.Set("host", "system", "proxmox", l)
		}
	case "auto":
		for _, name := range f[1:] {
			r.declare(name, "auto", "yes", l)
		}
	}
}

func (r *ifupdownReader) vlan(parent, id string, l piece.Line) {
	r.declare(r.name, "kind", "vlan", l)
	r.declare(r.name, "below", parent, l)
	r.declare(r.name, "id", id, l)
}

// option reads a stanza's option.
func (r *ifupdownReader) option(f []string, value string, l piece.Line) {
	if r.name == "" {
		return // its stanza was cut off
	}
	key := strings.ReplaceAll(f[0], "_", "-")
	switch {
	case key == "address":
		r.declare(r.name, key, f[1], l)
	case key == "netmask":
		r.netmask(f[1], l)
	case key == "gateway" || key == "mtu" || key == "metric":
		r.declare(r.name, key, f[1], l)
	case key == "hwaddress":
		r.declare(r.name, "mac", f[len(f)-1], l)
	case key == "bond-slaves" || key == "slaves" || key == "bond-ports":
		r.ports("bond", f[1:], l)
	case key == "bond-master":
		if f[1] != "none" {
			r.declare(f[1], "kind", "bond", l)
			r.addPort(f[1], r.name, l)
		}
	case key == "bridge-ports":
		r.ports("bridge", f[1:], l)
	case strings.HasPrefix(key, "bond-"):
		r.bondOption(strings.ReplaceAll(strings.TrimPrefix(key, "bond-"), "-", "_"), value, l)
	case key == "vlan-raw-device":
		r.declare(r.name, "kind", "vlan", l)
		r.declare(r.name, "below", f[1], l)
		if id := strings.TrimPrefix(r.name, "vlan"); piece.Digits.MatchString(id) {
			r.declare(r.name, "id", id, l)
		}
	case key == "clag-id": // Cumulus: what the other switch of a pair knows the bond by
		r.declare(r.name, "clag_id", f[1], l)
	case key == "alias":
		r.declare(r.name, "description", value, l)
	case key == "vlan-id":
		r.declare(r.name, "id", f[1], l)
	case strings.HasPrefix(key, "ovs-"):
		r.ovs(key, f, value, l)
	case key == "up" || key == "post-up" || key == "pre-up":
		r.hook(value, l)
	case strings.HasPrefix(key, "bridge-"):
		r.declare(r.name, key, value, l)
	default:
		// ifenslave knows an option by its "bond-"; without it nobody does.
		if o, ok := bondopt.Find(strings.ReplaceAll(key, "-", "_")); ok {
			r.declare(r.name, "bare_"+o.Name, value, l)
		}
	}
}

// netmask gives the address that was read last its prefix.
func (r *ifupdownReader) netmask(mask string, l piece.Line) {
	bits := piece.Atoi(mask)
	if n, ok := maskBits(mask); ok {
		bits = n
	}
	if bits < 0 {
		return
	}
	subject := "config " + r.name
	for key := range r.Host.Facts[subject] {
		if a, ok := strings.CutPrefix(key, "address "); ok && !strings.Contains(a, "/") && strings.Contains(a, ":") == (r.family == "inet6") {
			delete(r.Host.Facts[subject], key)
			r.declare(r.name, "address", a+"/"+strconv.Itoa(bits), l)
		}
	}
}

func (r *ifupdownReader) ports(kind string, all []string, l piece.Line) {
	r.declare(r.name, "kind", kind, l)
	for _, port := range all {
		if strings.HasPrefix(port, "#") {
			return
		}
		if port != "none" && piece.LinkName.MatchString(port) {
			r.addPort(r.name, port, l)
		}
	}
}

// bondOption reads an option; what HTML joined on one line is parted again.
func (r *ifupdownReader) bondOption(name, value string, l piece.Line) {
	r.declare(r.name, "kind", "bond", l)
	if at := strings.Index(value, " bond-"); at > 0 {
		r.option(strings.Fields(value[at:]), strings.TrimSpace(strings.TrimPrefix(value[at+1:], strings.Fields(value[at:])[0])), l)
		value = value[:at]
	}
	if !r.namedOption(r.name, bondopt.Ifcfg, name, value, l) {
		r.declare(r.name, name, value, l)
	}
}

// ovs reads Open vSwitch's keys.
func (r *ifupdownReader) ovs(key string, f []string, value string, l piece.Line) {
	switch key {
	case "ovs-type":
		kind := map[string]string{"OVSBond": "ovs-bond", "OVSBridge": "ovs-bridge", "OVSIntPort": "ovs-port", "OVSPort": "ovs-port"}[f[1]]
		r.declare(r.name, "kind", kind, l)
	case "ovs-bridge":
		r.declare(r.name, "master", f[1], l)
	case "ovs-bonds":
		r.ports("ovs-bond", f[1:], l)
	case "ovs-ports":
		r.ports("ovs-bridge", f[1:], l)
	case "ovs-mtu":
		r.declare(r.name, "mtu", f[1], l)
	case "ovs-options":
		for _, m := range ovsOption.FindAllStringSubmatch(value, -1) {
			r.Set("config "+r.name, strings.ReplaceAll(strings.TrimPrefix(m[1], "other_config:"), "-", "_"), strings.Trim(m[2], `"`), l)
		}
	}
}

// hook keeps a line that is run, and reads the options of the bond that it sets.
func (r *ifupdownReader) hook(value string, l piece.Line) {
	r.hooks[r.name]++
	r.Set("config "+r.name, "post_up "+strconv.Itoa(r.hooks[r.name]), value, l)
	filled := strings.NewReplacer("$IFACE", r.name, "${IFACE}", r.name).Replace(value)
	r.givenRules(filled, l)
	if m := sysfsEcho.FindStringSubmatch(filled); m != nil {
		r.declare(m[2], m[3], m[1], l)
	}
}
