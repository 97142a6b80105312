package wanted

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/advise/profile"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// need is a whole number that a sysctl must have at least for something else
// that the file wants.
type need struct {
	key   string
	least int64
	path  []any
	why   string
	// link is the one whose setting it is, "" the host's.
	link string
}

func (b *builder) need(key string, least int64, path []any, why string) {
	b.needed = append(b.needed, need{key: key, least: least, path: path, why: why})
}

// needLink is a need of one link's IPv4 setting.
func (b *builder) needLink(link, name string, least int64, path []any, why string) {
	key := netstate.LinkSysctl("ipv4", link, name)
	if v := b.observed.SysctlInts("net.ipv4.conf.all." + name); len(v) == 1 && v[0] >= least {
		return // the greater of all's and the link's counts
	}
	b.needed = append(b.needed, need{key: key, least: least, path: path, why: why, link: link})
}

// sysctls sets the file's own, then what other wishes rest on, then the
// profiles'; each leaves alone what one before it set.
func (b *builder) sysctls() {
	own := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(b.file.Sysctl)) {
		own[key] = true
		b.fileSysctl(key, b.file.Sysctl[key])
	}
	for _, n := range b.needed {
		b.needSysctl(n, own)
	}
	b.profiles(own)
	b.spread(own)
	b.followDefaults(own)
	b.dropLRO()
}

// spread lets the keys that the kernel sets along with others be as it sets
// them, where nobody wants them otherwise. Redirects stay refused where they
// were: a host that stops forwarding would take them again.
func (b *builder) spread(own map[string]bool) {
	for _, key := range b.observed.SysctlKeys() {
		value := b.want.Sysctls[key].Value
		if value == b.observed.Sysctls[key].Value {
			continue
		}
		for other, becomes := range plan.Spread(b.observed.Sysctls, key, value) {
			s := b.want.Sysctls[other]
			switch {
			case own[other]:
			case other == "net.ipv4.ip_forward" || other == "net.ipv4.conf.all.forwarding":
				delete(b.want.Sysctls, other) // the same number by its other name
			case becomes == value || becomes == "0":
				s.Value = becomes
				b.want.Sysctls[other] = s
			}
		}
	}
}

// dropLRO lets links that begin to forward be without LRO, which the kernel switches off
// then and does not switch on again when forwarding ends (dev_disable_lro, called by
// inet_forward_change, devinet_sysctl_forward and dev_forward_change): a step of its own
// can be rolled back.
func (b *builder) dropLRO() {
	begins := func(key string) bool {
		was, now := b.observed.Sysctls[key].Value, b.want.Sysctls[key].Value
		return was == "0" && now != "0" && now != ""
	}
	all := begins("net.ipv4.ip_forward") || begins("net.ipv4.conf.all.forwarding") || begins("net.ipv6.conf.all.forwarding")
	for _, l := range b.want.Links {
		fixed := l.Device != nil && slices.Contains(l.Device.Fixed, "lro")
		if l.Offloads["lro"] && !fixed && (all || begins(netstate.LinkSysctl("ipv4", l.Name, "forwarding")) || begins(netstate.LinkSysctl("ipv6", l.Name, "forwarding"))) {
			b.change(l.Name, func(l *netstate.Link) {
				l.Offloads = maps.Clone(l.Offloads)
				l.Offloads["lro"] = false
			})
			b.because(plan.Step{Kind: plan.Offload, Link: l.Name, Key: "lro"}, "", "forwarding switches it off, and would leave it off when it ends")
		}
	}
}

// followDefaults sees to what links without addresses take from a new
// conf.default by themselves (devinet_copy_dflt_conf): the file's are set, so
// that it is known; of others (containers' and the like) nothing is wanted.
func (b *builder) followDefaults(own map[string]bool) {
	for _, l := range b.observed.Links {
		if slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr().Is4() }) {
			continue
		}
		prefix := netstate.LinkSysctl("ipv4", l.Name, "")
		for _, key := range b.observed.SysctlKeys() {
			name, ok := strings.CutPrefix(key, prefix)
			if !ok || own[key] {
				continue
			}
			from := netstate.LinkSysctl("ipv4", "default", name)
			was, now := b.observed.Sysctls[from].Value, b.want.Sysctls[from].Value
			switch {
			case was == now || b.want.Sysctls[key].Value != was:
			case b.declared[l.Name] == "":
				delete(b.want.Sysctls, key)
			default:
				b.setSysctl(key, now, b.reasons[from].By, "a link without addresses follows "+from)
			}
		}
	}
}

func (b *builder) setSysctl(key, value, by, why string) {
	s := b.want.Sysctls[key]
	s.Value = value
	b.want.Sysctls[key] = s
	b.because(plan.Step{Kind: plan.Sysctl, Key: key}, by, why)
}

func (b *builder) fileSysctl(key, value string) {
	path := []any{"sysctl", key}
	have, there := b.observed.Sysctls[key]
	value = asPrinted(value, have.Value)
	scope := have.Scope
	if scope == "" {
		scope = netstate.ScopeOf(key)
	}
	switch {
	case b.request.InNamespace && scope == netstate.ScopeGlobal:
		b.leave("sysctl %s: it is the whole machine's, and this host is a network namespace", key)
	case there:
		b.setSysctl(key, value, b.at.Line(path...), "")
	case b.inherited(key):
		b.setSysctl(key, value, b.at.Line(path...), "")
	default:
		release := b.observed.Kernel.Release
		if release == "" {
			release = "of this host"
		}
		hint, near := "look it up with sysctl -a on the host", yamldoc.Nearest(key, b.observed.SysctlKeys())
		if why := profile.Obsolete(key); why != "" {
			hint, near = why, ""
		}
		b.wrong(path, hint, "sysctl %s does not exist on Linux %s%s", key, release, near)
	}
}

// asPrinted spells whole numbers as the kernel prints them, where it prints
// whole numbers now: 010 is 8 and 0x10 is 16 (proc_get_long).
func asPrinted(value, now string) string {
	fields := strings.Fields(value)
	for _, f := range strings.Fields(now) {
		if _, err := strconv.ParseInt(f, 10, 64); err != nil {
			return value
		}
	}
	for i, f := range fields {
		n, err := strconv.ParseInt(f, 0, 64)
		if err != nil || strings.ContainsAny(f, "_oObB+") && !strings.HasPrefix(strings.TrimPrefix(f, "-"), "0x") {
			return value
		}
		fields[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(fields, " ")
}

// inherited reports a setting of a link that the plan makes, and gives the
// wanted host what it begins with: the default's.
func (b *builder) inherited(key string) bool {
	parts := strings.Split(key, ".")
	if len(parts) != 5 || parts[2] != "conf" {
		return false
	}
	name := strings.ReplaceAll(parts[3], "/", ".")
	_, was := b.observed.Link(name)
	_, will := b.want.Link(name)
	parts[3] = "default"
	begin, known := b.want.Sysctls[strings.Join(parts, ".")]
	if was || !will || !known {
		return false
	}
	if _, set := b.want.Sysctls[key]; !set {
		b.want.Sysctls[key] = begin
	}
	return true
}

func (b *builder) needSysctl(n need, own map[string]bool) {
	_, observed := b.observed.Sysctls[n.key]
	observed = observed || b.inherited(n.key)
	have := b.want.SysctlInts(n.key)
	switch {
	case own[n.key]:
		if len(have) == 1 && have[0] < n.least {
			b.warn("the file sets %s to %d, and %d is needed: %s", n.key, have[0], n.least, n.why)
		}
	case !observed && n.link != "":
		b.warn("%s = %d is left for a second plan, when %s has its addresses: %s", n.key, n.least, n.link, n.why)
	case !observed || len(have) != 1:
		b.wrong(n.path, "", "this kernel has no sysctl %s, which is needed: %s", n.key, n.why)
	case have[0] < n.least:
		own[n.key] = true
		b.setSysctl(n.key, strconv.FormatInt(n.least, 10), b.at.Line(n.path...), n.why)
	default:
		own[n.key] = true
	}
}

// begin gives links that are still to be made, and get addresses, the settings
// that they begin with, so that the profiles see them, and returns these.
func (b *builder) begin() []string {
	var begun []string
	for _, l := range b.want.Links {
		if _, there := b.observed.Link(l.Name); there || len(l.Addresses) == 0 {
			continue
		}
		for _, key := range profile.Keys([]netstate.Link{l}) {
			if _, set := b.want.Sysctls[key]; !set && b.inherited(key) {
				begun = append(begun, key)
			}
		}
	}
	return begun
}

// profiles lays the sets of sysctls that are named over what is there; without
// a name it sets none.
func (b *builder) profiles(own map[string]bool) {
	names := b.file.Profiles
	if b.request.Profiles != nil {
		names = b.request.Profiles
	}
	begun := b.begin()
	defer func() {
		for _, key := range begun {
			if !own[key] {
				delete(b.want.Sysctls, key) // it takes the default, whatever that becomes
			}
		}
	}()
	in := b.profileInput(own)
	for _, name := range names {
		set, known := profile.ByName(name)
		if !known {
			b.wrong([]any{"profiles"}, "", "profile %q is not known%s", name, yamldoc.Nearest(name, fabric.ProfileNames()))
			continue
		}
		result := set(in)
		for _, s := range result.Settings {
			own[s.Key] = true
			b.setSysctl(s.Key, s.Value, "profile "+name, s.Why)
		}
		for _, left := range result.Left {
			b.leave("profile %s: %s", name, left)
		}
	}
}

// profileInput is the wanted host with the speeds that the file declares, and
// what the file says of its traffic.
func (b *builder) profileInput(own map[string]bool) profile.Input {
	h := b.want.Clone()
	for i, l := range h.Links {
		if hw, ok := b.file.HardwareOf(l); ok && hw.Speed > 0 {
			h.Links[i].Speed = hw.Speed
		}
	}
	if b.file.Rate > 0 {
		h.Rate = b.file.Rate
	}
	in := profile.Input{
		Host: h, Roles: slices.Clone(b.file.Roles), Own: own, InNamespace: b.request.InNamespace,
		SocketBuffer: b.request.Fabric.Measure.SocketBuffer,
	}
	for _, l := range h.Links {
		if d, ok := b.file.Network.Device(b.declared[l.Name]); ok && d.DHCP4() {
			in.Leased = append(in.Leased, l.Name)
		}
	}
	for _, n := range b.request.Fabric.Measure.Streams {
		in.Streams = max(in.Streams, n)
	}
	for _, p := range b.request.Fabric.Paths {
		if p.From == b.request.Host || p.To == b.request.Host {
			to := p.To
			if p.To == b.request.Host {
				to = p.From
			}
			in.Paths = append(in.Paths, profile.Path{To: to, RTT: p.RTT, Rate: p.Rate})
		}
	}
	return in
}

// Sysctls are the keys that Of asks Observed for beyond those that observing
// reads always: what the file itself sets, what its source rules rest on, and
// what the profiles look at of links that the file gives addresses.
func Sysctls(file fabric.Host) []string {
	keys := slices.Collect(maps.Keys(file.Sysctl))
	for _, id := range file.SourceRules {
		names, known := file.Interfaces(id)
		if !known {
			names = []string{id}
		}
		for _, link := range names {
			for _, name := range []string{"arp_ignore", "arp_announce", "rp_filter"} {
				keys = append(keys, netstate.LinkSysctl("ipv4", link, name))
			}
		}
	}
	for _, d := range file.Network.Devices() {
		names, known := file.Interfaces(d.ID)
		if !known {
			names = []string{d.ID}
		}
		for _, link := range names {
			keys = append(keys, profile.Keys([]netstate.Link{{Name: link, Addresses: d.Addresses}})...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
