package bondopt

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// The systems whose link aggregation has words of its own, by their name in a
// fabric file and in netstate.Kernel.OS.
const (
	Linux   = "linux"
	ESXi    = "esxi"
	Windows = "windows"
	FreeBSD = "freebsd"
	AIX     = "aix"
)

// FlowID is lagg's option that takes the card's own hash in place of lagghash.
const FlowID = "use_flowid"

// System is how a system that is not Linux says what netplan says in a bond's
// mode and transmit hash policy.
type System struct {
	// Name is its word, Title what people call it.
	Name, Title string
	// What the system calls a bond, such as "lagg".
	What string
	// Modes are its words for the mode, the one that it makes a bond with first;
	// Policies those for the hash, likewise.
	Modes, Policies []OwnWord
	// Layers: the parts of a policy, which commas join, come in any order.
	Layers bool
	// Options are the bonding driver's options, by kernel name, that it has beside
	// these two; nil is as many as its writer knows.
	Options []string
	// NoDefault: the policy's default differs from release to release.
	NoDefault bool
}

// OwnWord is one word of a system's own.
type OwnWord struct {
	Word string
	// Also are other spellings: a program's output, another of Linux's words.
	Also []string
	// Linux is the bonding driver's word that means the same, or as near as
	// there is; "" none.
	Linux string
	// In are the modes in which a policy counts, by word; nil is every mode.
	In []string
	// Static: a mode without a counterpart of Linux's that needs the switch's ports
	// to be one static channel.
	Static bool
}

// systemRows is the one table of systems.
//
// FreeBSD: ifconfig(8), lagg(4). AIX: IBM's "EtherChannel configuration
// options" and chdev. ESXi: `esxcli network vswitch standard policy failover
// set -l`, and for a distributed switch's LAG VMwareDvsLacpLoadBalanceAlgorithm.
// Windows: Set-NetLbfoTeam's TeamingMode and LoadBalancingAlgorithm,
// Set-VMSwitchTeam for SET, which is switch independent only.
func systemRows() []System {
	hash := []string{"lacp", "loadbalance"}
	channel := []string{"standard", "8023ad"}
	return []System{
		{Name: ESXi, Title: "ESXi", What: "virtual switch", Options: []string{"lacp_rate"}, Modes: []OwnWord{
			{Word: "portid", Also: []string{"srcport", "loadbalance_srcid", "LoadBalanceSrcId"}},
			{Word: "mac", Also: []string{"srcmac", "loadbalance_srcmac", "LoadBalanceSrcMac"}},
			{Word: "iphash", Also: []string{"ip", "loadbalance_ip", "LoadBalanceIP"}, Static: true},
			{Word: "explicit", Also: []string{"failover_explicit", "ExplicitFailover"}, Linux: "active-backup"},
			{Word: "loadbased", Also: []string{"loadbalance_loadbased", "LoadBalanceLoadBased"}},
			{Word: "lacp", Linux: "802.3ad"},
		}, Policies: lacpWords()},
		{Name: Windows, Title: "Windows", What: "team", NoDefault: true, Options: []string{"lacp_rate"}, Modes: []OwnWord{
			{Word: "SwitchIndependent"}, {Word: "Static", Static: true}, {Word: "Lacp", Linux: "802.3ad"}, {Word: "SET", Also: []string{"SwitchEmbedded"}},
		}, Policies: []OwnWord{
			{Word: "Dynamic"}, {Word: "HyperVPort"},
			{Word: "TransportPorts", Also: []string{"AddressHash"}, In: []string{"SwitchIndependent", "Static", "Lacp"}},
			{Word: "IPAddresses", In: []string{"SwitchIndependent", "Static", "Lacp"}},
			{Word: "MacAddresses", In: []string{"SwitchIndependent", "Static", "Lacp"}},
		}},
		{Name: FreeBSD, Title: "FreeBSD", What: "lagg", Layers: true, Modes: []OwnWord{
			{Word: "failover", Linux: "active-backup"}, {Word: "lacp", Linux: "802.3ad"}, {Word: "loadbalance", Linux: "balance-xor"},
			{Word: "roundrobin", Linux: "balance-rr"}, {Word: "broadcast", Linux: "broadcast"},
		}, Policies: []OwnWord{
			{Word: "l2,l3,l4", In: hash},
			{Word: "l2", Linux: "layer2", In: hash}, {Word: "l2,l3", Linux: "layer2+3", In: hash}, {Word: "l3,l4", Linux: "layer3+4", In: hash},
			{Word: "l2,l4", In: hash}, {Word: "l3", In: hash}, {Word: "l4", In: hash}, {Word: FlowID, In: hash},
		}},
		{Name: AIX, Title: "AIX", What: "EtherChannel", Modes: []OwnWord{
			{Word: "standard", Linux: "balance-xor"}, {Word: "8023ad", Linux: "802.3ad"},
			{Word: "round_robin", Linux: "balance-rr"}, {Word: "netif_backup", Linux: "active-backup"},
		}, Policies: []OwnWord{
			{Word: "default", Also: []string{"layer2"}, Linux: "layer2+3"}, {Word: "src_dst_port", Linux: "layer3+4", In: channel},
			{Word: "src_port", In: channel}, {Word: "dst_port", In: channel},
		}},
	}
}

// lacpWords are the lists of fields that a distributed switch's LAG hashes, the
// one that a LAG is made with first.
func lacpWords() []OwnWord {
	var all []OwnWord
	for word := range strings.FieldsSeq(`srcDestIpTcpUdpPortVlan srcMac destMac srcDestMac destIpVlan srcIpVlan srcDestIpVlan destTcpUdpPort
		srcTcpUdpPort srcDestTcpUdpPort destIpTcpUdpPort srcIpTcpUdpPort srcDestIpTcpUdpPort destIpTcpUdpPortVlan
		srcIpTcpUdpPortVlan destIp srcIp srcDestIp vlan srcPortId`) {
		all = append(all, OwnWord{Word: word, In: []string{"lacp"}})
	}
	return all
}

// Systems returns the systems that are not Linux.
func Systems() []System { return systemRows() }

// SystemNames are the words that a fabric file's `system` takes.
func SystemNames() []string {
	names := []string{Linux}
	for _, s := range systemRows() {
		names = append(names, s.Name)
	}
	return names
}

// SystemOf returns a system by its name; false for Linux and for none known.
func SystemOf(name string) (System, bool) {
	all := systemRows()
	i := slices.IndexFunc(all, func(s System) bool { return s.Name == name })
	if i < 0 {
		return System{}, false
	}
	return all[i], true
}

// SystemTitle is what people call a system; its name for one that is not known.
func SystemTitle(name string) string {
	if s, ok := SystemOf(name); ok {
		return s.Title
	}
	return name
}

// Foreign reports a host's system that is not Linux; "", not said, is Linux.
func Foreign(system string) bool { return system != "" && system != Linux }

// Has reports whether the system has an option beside mode and policy, by kernel
// name.
func (s System) Has(option string) bool {
	return s.Options == nil || slices.Contains(s.Options, option)
}

// Mode returns the system's word for a mode, written as it or as Linux does,
// letters of either case; false for a mode that it does not have.
func (s System) Mode(text string) (OwnWord, bool) { return findWord(s.Modes, text) }

// Policy is Mode of a transmit hash policy.
func (s System) Policy(text string) (OwnWord, bool) {
	if w, ok := findWord(s.Policies, text); ok || !s.Layers {
		return w, ok
	}
	layers := strings.Split(text, ",")
	slices.Sort(layers)
	return findWord(s.Policies, strings.Join(layers, ","))
}

// Words returns a rule in the system's own spelling, with what the system makes a
// bond with where it says nothing; false for a word that the system does not have.
func (s System) Words(own netstate.OwnRule) (mode, policy string, ok bool) {
	m, p, known, has := s.Modes[0], s.Policies[0], true, true
	if own.Mode != "" {
		m, known = s.Mode(own.Mode)
	}
	if own.Policy != "" {
		p, has = s.Policy(own.Policy)
	}
	return m.Word, p.Word, known && has
}

// Settle returns a bond's own rule complete, and the bonding driver's mode that
// means the same. What, and a hint, is said where its parts do not go together.
func (s System) Settle(said netstate.OwnRule) (own netstate.OwnRule, mode netstate.BondMode, what, hint string) {
	m := s.Modes[0]
	if said.Mode != "" {
		m, _ = s.Mode(said.Mode)
	}
	own = netstate.OwnRule{Mode: m.Word, Policy: said.Policy}
	policy, known := s.Policy(said.Policy)
	switch {
	case known && !policy.Counts(own.Mode):
		what, hint = "transmit-hash-policy "+own.Policy+" is not for mode "+own.Mode, "it is for "+strings.Join(policy.In, ", ")
	case known:
	case s.NoDefault:
		what, hint = "transmit-hash-policy is not there, and releases of "+s.Title+" have different ones", "one of: "+strings.Join(OwnWords(s.Policies), ", ")
	case s.Policies[0].Counts(own.Mode):
		own.Policy = s.Policies[0].Word
	}
	return own, m.LinuxMode(), what, hint
}

// WordsOf are the words that all systems together have for an option, by kernel
// name, in order; nil for an option that none has its own words for.
func WordsOf(option string) []string {
	var words []string
	for _, s := range systemRows() {
		switch option {
		case Mode:
			words = append(words, OwnWords(s.Modes)...)
		case HashPolicy:
			words = append(words, OwnWords(s.Policies)...)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// OwnOption is a bond's mode or policy in its system's own words; false on Linux,
// and for another option.
func OwnOption(b netstate.Bond, option string) (string, bool) {
	switch {
	case b.Own == nil:
		return "", false
	case option == Mode:
		return b.Own.Mode, true
	}
	return b.Own.Policy, option == HashPolicy
}

// systemsMeant are words for what people call a system.
var systemsMeant = map[string]string{
	"truenas-core": FreeBSD, "truenas": FreeBSD, "freenas": FreeBSD, "pfsense": FreeBSD, "opnsense": FreeBSD,
	"truenas-scale": Linux, "proxmox": Linux, "vmware": ESXi, "vsphere": ESXi, "esx": ESXi, "hyper-v": Windows,
}

// SystemMeant is the word of SystemNames for what people call a system, such as
// truenas-core; "" none.
func SystemMeant(name string) string { return systemsMeant[strings.ToLower(name)] }

// findWord looks for a system's own word first: Linux's may mean another.
func findWord(all []OwnWord, text string) (OwnWord, bool) {
	same := func(w string) bool { return strings.EqualFold(w, text) }
	for _, w := range all {
		if same(w.Word) || slices.ContainsFunc(w.Also, same) {
			return w, true
		}
	}
	for _, w := range all {
		if w.Linux != "" && same(w.Linux) {
			return w, true
		}
	}
	return OwnWord{}, false
}

// LinuxMode is the bonding driver's mode that means the same; ModeUnread where
// none does.
func (w OwnWord) LinuxMode() netstate.BondMode {
	m := netstate.ModeUnread
	if w.Linux == "" || m.UnmarshalText([]byte(w.Linux)) != nil {
		return netstate.ModeUnread
	}
	return m
}

// Counts reports whether a policy counts in a mode, by the mode's word.
func (w OwnWord) Counts(mode string) bool { return w.In == nil || slices.Contains(w.In, mode) }

// OwnWords lists words in their order.
func OwnWords(all []OwnWord) []string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = w.Word
	}
	return out
}

// ByPorts is a bond's own rule changed, as far as its system can, to one that takes
// ports; nil for nil.
func ByPorts(system string, own *netstate.OwnRule) *netstate.OwnRule {
	if own == nil {
		return nil
	}
	to := map[string]string{ESXi: "srcDestIpTcpUdpPort", Windows: "TransportPorts", FreeBSD: "l3,l4", AIX: "src_dst_port"}[system]
	s, _ := SystemOf(system)
	if p, ok := s.Policy(to); ok && p.Counts(own.Mode) {
		return &netstate.OwnRule{Mode: own.Mode, Policy: to}
	}
	return own
}
