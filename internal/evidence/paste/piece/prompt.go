package piece

import (
	"strings"
)

// Prompt is what stood before a command.
type Prompt struct {
	Host    string // "" a bare one
	Command string // "" an empty line
}

// promptShape is a shape of prompts with a host's name: the first group is the name,
// the last the command. Has stands in every line of the shape.
type promptShape struct {
	has   string
	shape Pattern
}

var prompts = []promptShape{
	// [root@db6 ~]# cmd, [root@esx1:~] cmd, ann@nas:/tmp$ cmd, admin@nas[~]$ cmd
	{"@", Compile(`^\s*\(?(?:[\w.-]+\)\s*)?\[?[\w.-]+@([\w.-]+)(?:[ :][^\]#$%>]*)?(?:\[[^\]]*\])?(?:\]\s?[#$%>]?|[#$%>])(?:\s+(.*))?$`)},
	// PS C:\Users\x> cmd
	{"PS", Compile(`^\s*(?:\[([\w.-]+)\]: )?PS(?: [A-Za-z]:\\[^>]*)?>\s*(.*)$`)},
	// mac:~ bob$ cmd (macOS before zsh)
	{"$ ", Compile(`^([A-Za-z][\w.-]*):[~/]\S* [\w.-]+\$\s(\S.*)$`)},
	// [2.7.2-RELEASE][root@fw.lan]/root: cmd (pfSense)
	{"][", Compile(`^\[[\w.-]+\]\[[\w.-]+@([\w.-]+)\][^:]*: ?(.*)$`)},
	// kn1 ~ # cmd (Gentoo, Flatcar), / # cmd (a container's)
	{" # ", Compile(`^([\w.-]*) ?(?:~|/[\w./-]*) # (\S.*)$`)},
	// RP/0/RSP0/CPU0:router# cmd (IOS-XR)
	{"RP/", Compile(`^RP/\d+/\w+/CPU\d+:([\w.-]+)#\s?(.*)$`)},
	// cluster1::> cmd, cluster1::*> cmd (ONTAP)
	{"::", Compile(`^([\w-]+)::(?:[\w -]+)?\*?>\s*(.*)$`)},
	// db6:/etc # cmd (SUSE, AIX)
	{":", Compile(`^([\w.-]+):\s?[~/][^\s#$%]*\s?[#$%]\s+(\S.*)$`)},
}

var shellPrompt = Compile(`^(?:ba|k|z)?sh-\d+$`) // sh-5.1#

var windowsPrompt = Compile(`^\s*[A-Za-z]:\\[^>]*>\s*(\S.*)$`)

var powerShellPrompt = Compile(`^\s*PS(?: [A-Za-z]:\\[^>]*)?>`)

var namedPrompt = Compile(`^\s*[<\[]?([A-Za-z][\w.-]*)(?:\([\w~/. -]+\))?(?:\[\d+\])?[\]#>$%]\s?(\S.*)$`)

// bracketPrompt is FASTPATH's: (sw1) #cmd
var bracketPrompt = Compile(`^\(([A-Za-z][\w.-]*)\) ?[#>]\s?(\S.*)$`)

var barePrompt = Compile(`^\s*(?:~(?:/\S*)? ?)?(?:[#$%❯➜λ»]|\+|>)\s?(?:~ )?([a-z/(].*)$`)

// loadTests are programs whose commands people name in prose, and show another's results.
var loadTests = Words(`iperf iperf2 iperf3 nuttcp netperf ping`)

// quotedCommand is a line of one command, quoted or in bold as issue trackers have them.
var quotedCommand = Compile("^\\s*(?:#{1,6} |[*-] |\\d+[.)] )?(?:\\*\\*)?`(?:[$#] ?)?([a-z][^`]*)`(?:\\*\\*)?:?\\s*$")

// PromptOf is the prompt of a line. One without a host, or of a name alone, counts
// where a command that is known stands behind it: a comment of a file begins alike.
func PromptOf(line string) (Prompt, bool) {
	if m := quotedCommand.FindStringSubmatch(line); m != nil && knownCommand(m[1]) && !titles(m[1]) && !loadTests[Program(m[1])] {
		return Prompt{Command: m[1]}, true
	}
	if !strings.ContainsAny(line, "#$%>]+") && (plain(line) || !strings.ContainsAny(line, "❯➜λ»")) {
		return Prompt{}, false
	}
	for _, p := range prompts {
		if !strings.Contains(line, p.has) {
			continue
		}
		if m := p.shape.FindStringSubmatch(line); m != nil {
			return Prompt{Host: HostName(m[1]), Command: strings.TrimSpace(m[len(m)-1])}, true
		}
	}
	if strings.Contains(line, `\`) {
		if m := windowsPrompt.FindStringSubmatch(line); m != nil {
			return Prompt{Command: m[1]}, true
		}
	}
	for _, shape := range []Pattern{namedPrompt, bracketPrompt} {
		if m := shape.FindStringSubmatch(line); m != nil && knownCommand(m[2]) {
			return Prompt{Host: HostName(m[1]), Command: m[2]}, true
		}
	}
	if m := barePrompt.FindStringSubmatch(line); m != nil && (knownCommand(m[1]) && !titles(m[1]) || forLoop.MatchString(m[1])) {
		return Prompt{Command: m[1]}, true
	}
	return Prompt{}, false
}

// HostName is a host's name without its domain; "" for what names no host.
func HostName(s string) string {
	s, _, _ = strings.Cut(s, ".")
	if strings.EqualFold(s, "localhost") || shellPrompt.MatchString(s) {
		return ""
	}
	return s
}

// commands are the programs whose output somebody pastes.
var commands = Words(`ip iperf iperf3 iperf2 nuttcp netperf qperf cat zcat head tail grep egrep awk sed less more ethtool lspci dmidecode dmesg
	journalctl sysctl ss netstat nstat tc mpstat sar top htop vmstat mount findmnt nfsstat mountstats multipath iscsiadm nvme teamdctl teamnl ovs-vsctl
	ovs-appctl ovs-ofctl nmcli networkctl netplan ifconfig route arp brctl bridge uname hostname lsattr entstat lsdev esxcli esxcfg-nics esxcfg-vswitch
	esxcfg-vmknic esxtop vsish vim-cmd show sh display get-netlbfoteam get-netadapter get-smbmultichannelconnection get-netlbfoteamnic
	get-netadapterstatistics get-vmswitchteam get-vmswitch get-netadapterrss get-netlbfoteammember get-netadapteradvancedproperty get-nettcpsetting
	get-iscsisession get-iscsiconnection get-smbconnection get-netipaddress ipconfig netsh mpclaim vmkping nv dis ping traceroute tracepath mtr dd scp rsync fio curl wget nload bmon iftop ifstat
	hostnamectl pveversion mptcpize env printenv pidstat vnstat iostat bwm-ng netserver ntttcp nccl-tests sendrecv_perf ibstat rdma cp rclone pv free lsb_release
	showmount nvme-cli smartctl lsscsi multipathd ib_send_lat ib_read_lat ib_write_lat getconf perf atop collectl raw_ethernet_bw
	dstat kubectl talosctl docker virsh qm pvesh smbstatus smbclient smbd tcpdump lldpctl lldpcli ib_write_bw ib_read_bw ib_send_bw ibdev2netdev
	all_reduce_perf nvidia-smi numactl taskset lscpu nproc ls find diff echo sudo time watch vtysh birdc zpool midclt configctl pfctl systemctl
	aws az gcloud ibmcloud ipadm dladm ceph lnetctl lctl iptables nft iptables-save conntrack clagctl ec2-metadata vppctl
	oc nmstatectl modinfo modprobe lsmod wicked wg drbdadm goben
	arping lsusb usbconfig iw iwconfig pciconf gstat crontab ps get-nettcpsetting get-netipinterface find-netroute get-counter get-smbclientconfiguration pct`)

func Words(s string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// knownCommand reports a line that begins with a program of the list.
func knownCommand(line string) bool { return commands[Program(line)] }

// ofSentences are words that sentences have and commands have not.
var ofSentences = Words(`is are was were the a an with when between of not and only from my our but to drops has have works slow how why very both than in on`)

// titles reports a heading or a quoted sentence that begins with a program's name: two
// words that only sentences have, no option and none of a shell's signs.
func titles(command string) bool {
	if strings.ContainsAny(command, "/|=;$<>&`{}") || strings.Contains(command, " -") {
		return false
	}
	n, words := 0, strings.Fields(strings.ToLower(command))
	for _, w := range words {
		if ofSentences[strings.TrimRight(w, ",.?!:")] {
			n++
		}
	}
	return len(words) >= 4 && n >= 2
}

// Program is the name of the program that a command line runs: behind sudo, time,
// a path and variables.
func Program(line string) string {
	for _, w := range strings.Fields(strings.ToLower(line)) {
		w = strings.Trim(w, "(;`")
		if w == "sudo" || w == "time" || w == "watch" || w == "do" || strings.Contains(w, "=") && !strings.HasPrefix(w, "-") {
			continue
		}
		if at := strings.LastIndexByte(w, '/'); at >= 0 {
			w = w[at+1:]
		}
		return strings.TrimSuffix(w, ".exe")
	}
	return ""
}

var tailHeading = Compile(`^==> (\S+) <==$`)

var hashHeading = Compile(`^#\s*((?:/[\w.@+-]+){2,})\s*:?$`)

var pathHeading = Compile(`^\s*((?:/[\w.@+-]+){2,}|ifcfg-[\w.-]+|[\w.-]+\.(?:netdev|network|link|nmconnection|ya?ml|conf))\s*:?$`)

var ansibleHost = Compile(`^([\w.-]+) \| (?:CHANGED|SUCCESS|FAILED)[^>]*>>`)

var hostHeading = Compile(`^[\s#*=_-]*(?i:on |host |node |from |output (?:of|from) |switch )?(?:the )?["'*]?([A-Za-z][\w.-]*)["'*]?(?: side| host| node| box)?(?: \([^)]*\))?[\s*_]*:[\s*_=-]*$`)

var ruledHeading = Compile(`^[=*#_-]{3,}\s*([A-Za-z][\w.-]*)\s*[=*#_-]{2,}$`)

// linkLike are names that links have, above what is said of one.
var linkLike = Compile(`^(?:bond|eth|en[ops]|ens|vmbr|br|team|lagg|igb|ixl?|em|bge|re|mlxen|cxl|vtnet|vmnic|wlan|veth|tap|vlan|mgmt-)[a-z]*[\d-][\w.-]*$`)

var notHostsNames = Words(`port ports chassis interface vlan vlans actor partner bond team system description local remote setup runner aggregator member members statistics counters code quote output result results config configuration edit update here this bond info note details example now also then and with
		without before after log logs dmesg interfaces network netplan thanks question problem setup hardware regards hi hello machine spec status
		metadata ethernets bonds vlans bridges tunnels parameters addresses routes nameservers runner ports links bond options match ipv4 ipv6
		settings install environment oid capabilities lacp lag lags trunk trunks bonding`)

// mayHead reports a line whose end or beginning is a heading's.
func mayHead(line string) bool {
	s := strings.TrimSpace(line)
	return s != "" && (strings.IndexByte(":*=_-#<>", s[len(s)-1]) >= 0 || strings.IndexByte("/#=*_-", s[0]) >= 0 || strings.HasPrefix(s, "ifcfg-") || strings.IndexByte(s, '|') > 0 ||
		strings.IndexByte(s, ' ') < 0 && strings.IndexByte(s, '.') > 0)
}

// headingOf says what a line that stands above an output names.
func headingOf(line string) (host, file string) {
	if len(line) > 120 || !mayHead(line) {
		return "", ""
	}
	for _, shape := range []Pattern{tailHeading, hashHeading, pathHeading} {
		if m := shape.FindStringSubmatch(line); m != nil {
			return "", m[1]
		}
	}
	for _, shape := range []Pattern{ansibleHost, ruledHeading, hostHeading} {
		if m := shape.FindStringSubmatch(line); m != nil && !notHostsNames[strings.ToLower(m[1])] && !knownCommand(m[1]) && !linkLike.MatchString(m[1]) {
			return HostName(m[1]), ""
		}
	}
	return "", ""
}
