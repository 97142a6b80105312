package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// member is a file of an archive that a test makes.
type member struct{ name, text string }

// below puts members below a directory.
func below(dir string, all []member) []member {
	out := make([]member, 0, len(all))
	for _, m := range all {
		out = append(out, member{dir + "/" + m.name, m.text})
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tarOf(t testing.TB, all []member) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, m := range all {
		must(t, w.WriteHeader(&tar.Header{Name: m.name, Size: int64(len(m.text)), Mode: 0o600, Typeflag: tar.TypeReg}))
		_, err := io.WriteString(w, m.text)
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

func zipOf(t testing.TB, all []member) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range all {
		f, err := w.Create(m.name)
		must(t, err)
		_, err = io.WriteString(f, m.text)
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

func through(t testing.TB, text []byte, open func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := open(&out)
	must(t, err)
	_, err = w.Write(text)
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

func gzipOf(t testing.TB, text []byte) []byte {
	return through(t, text, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

func xzOf(t testing.TB, text []byte) []byte {
	return through(t, text, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })
}

func zstdOf(t testing.TB, text []byte) []byte {
	return through(t, text, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
}

// containers are the ways to pack members, each by the ending of its name.
var containers = map[string]func(testing.TB, []member) []byte{
	".tar":     tarOf,
	".tgz":     func(t testing.TB, all []member) []byte { return gzipOf(t, tarOf(t, all)) },
	".tar.xz":  func(t testing.TB, all []member) []byte { return xzOf(t, tarOf(t, all)) },
	".tar.zst": func(t testing.TB, all []member) []byte { return zstdOf(t, tarOf(t, all)) },
	".zip":     zipOf,
	"-in.zip": func(t testing.TB, all []member) []byte {
		return zipOf(t, []member{{"report.tar.xz", string(xzOf(t, tarOf(t, all)))}})
	},
	"-in.tgz": func(t testing.TB, all []member) []byte {
		return gzipOf(t, tarOf(t, []member{{"a/report.zip", string(zipOf(t, all))}}))
	},
}

// file writes a file of a test and returns its path.
func file(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, text, 0o600))
	return path
}

// directory writes members below a directory and returns its path.
func directory(t testing.TB, name string, all []member) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for _, m := range all {
		path := filepath.Join(dir, filepath.FromSlash(m.name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(m.text), 0o600))
	}
	return dir
}

// noPartner is a bond whose switch does not speak LACP: 6.1.176, two links.
var noPartner = strings.TrimLeft(`
Ethernet Channel Bonding Driver: v5.14.0-427.el9.x86_64

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer3+4 (1)
MII Status: up
MII Polling Interval (ms): 100

802.3ad info
LACP active: on
LACP rate: fast
System priority: 65535
System MAC address: 52:54:00:aa:00:01
Active Aggregator Info:
	Aggregator ID: 1
	Number of ports: 1
	Actor Key: 15
	Partner Key: 1
	Partner Mac Address: 00:00:00:00:00:00

Slave Interface: eno1
MII Status: up
Speed: 10000 Mbps
Duplex: full
Link Failure Count: 0
Permanent HW addr: 52:54:00:aa:00:01
Aggregator ID: 1

Slave Interface: eno2
MII Status: up
Speed: 10000 Mbps
Duplex: full
Link Failure Count: 0
Permanent HW addr: 52:54:00:aa:00:02
Aggregator ID: 2
`, "\n")

// onLayer2 is a bond that spreads by MAC addresses, with its partner.
var onLayer2 = strings.NewReplacer("layer3+4 (1)", "layer2 (0)", "Partner Mac Address: 00:00:00:00:00:00", "Partner Mac Address: 00:23:04:ee:be:01",
	"Number of ports: 1", "Number of ports: 2", "Aggregator ID: 2", "Aggregator ID: 1").Replace(noPartner)

const ipLink = `1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0 minmtu 0 maxmtu 0
2: eno1: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9710
3: eno2: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9710
4: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
`

const settings = "Settings for eno1:\n\tSpeed: 10000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n"

// newSos is a report of sos 4 on RHEL 9, with what must not be read: other namespaces,
// a container's configuration, a dump of registers.
var newSos = []member{
	{"version.txt", "sos report: 4.7.1\n"},
	{"etc/hosts", "127.0.0.1 localhost\n"},
	{"proc/4711/net/bonding/bond0", noPartner},
	{"proc/4711/status", "Name:\tsos\n"},
	{"sos_commands/host/hostname", "nas.example.com\n"},
	{"sos_commands/kernel/dmesg", "[    3.1] bond0: (slave eno1): Enslaving as a backup interface with an up link\n[    9.0] systemd[1]: Started a thing\n"},
	{"sos_commands/kernel/sysctl_-a", "kernel.osrelease = 5.14.0-427.el9.x86_64\nnet.ipv4.tcp_rmem = 4096\t131072\t6291456\n"},
	{"sos_commands/kernel/uname_-a", "Linux nas.example.com 5.14.0-427.el9.x86_64 #1 SMP PREEMPT_DYNAMIC Thu Apr 4 22:31:43 UTC 2024 x86_64 x86_64 x86_64 GNU/Linux\n"},
	{"sos_commands/logs/journalctl_--no-pager", "May 06 10:00:00 nas kernel: eno9: Link is Down\n"},
	{"sos_commands/networking/ethtool_-d_eno1", strings.Repeat("0x00000: CTRL (Device control register) 0x081C0241\n", 50)},
	{"sos_commands/networking/ethtool_eno1", settings},
	{"sos_commands/networking/ip_-s_-d_link", ipLink},
	{"sos_commands/networking/ip_netns_exec_red_ip_-d_address_show", "2: eno1@if3: <UP> mtu 9000 qdisc noqueue state UP\n"},
	{"sos_commands/networking/namespaces/red/ip_netns_exec_red_ip_-d_address_show", "2: eno1@if3: <UP> mtu 9000 qdisc noqueue state UP\n"},
	{"var/lib/containers/x/etc/network/interfaces", "auto eth0\niface eth0 inet static\n\tmtu 9000\n"},
}

// oldSos is one of sos 3 on RHEL 7: no links in /proc, other names of commands.
var oldSos = []member{
	{"proc/net/bonding/bond0", onLayer2},
	{"sos_commands/general/hostname", "db1\n"},
	{"sos_commands/kernel/uname_-a", "Linux db1 3.10.0-1160.el7.x86_64 #1 SMP Tue Aug 18 14:50:17 EDT 2020 x86_64 x86_64 x86_64 GNU/Linux\n"},
	{"sos_commands/networking/ethtool_eno1", settings},
	{"sos_commands/networking/ip_address", strings.ReplaceAll(ipLink, "promiscuity 0 ", "")},
	{"sos_commands/networking/ethtool_-S_eno1", "NIC statistics:\n     rx_packets: 100\n     tx_packets: 100\n"},
}

// waiting is a sender whose receiver's window is the limit.
const waiting = `State Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB 0 4194304 192.0.2.10:47102 192.0.2.20:2049 users:(("rsync",pid=9,fd=4)) uid:0 ino:1 sk:1 <->
	 skmem:(r0,rb131072,t0,tb4194304,f0,w0,o0,bl0,d0) ts sack cubic wscale:7,7 rto:240 rtt:40.1/0.3 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:4096 bytes_sent:9000000000 bytes_acked:8990000000 segs_out:6200000 send 1183Mbps pacing_rate 2366Mbps delivery_rate 26.1Mbps busy:300000ms rwnd_limited:294000ms(98.0%) snd_wnd:131072 minrtt:39.9
`

const manyStreams = `root@db1:~# iperf3 -c 192.0.2.20 -P 4
Connecting to host 192.0.2.20, port 5201
[  5] local 192.0.2.10 port 47102 connected to 192.0.2.20 port 5201
[  7] local 192.0.2.10 port 47104 connected to 192.0.2.20 port 5201
[  9] local 192.0.2.10 port 47106 connected to 192.0.2.20 port 5201
[ 11] local 192.0.2.10 port 47108 connected to 192.0.2.20 port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  2.74 GBytes  2.35 Gbits/sec    0             sender
[  7]   0.00-10.00  sec  2.74 GBytes  2.35 Gbits/sec    0             sender
[  9]   0.00-10.00  sec  2.74 GBytes  2.35 Gbits/sec    0             sender
[ 11]   0.00-10.00  sec  2.74 GBytes  2.35 Gbits/sec    0             sender
[SUM]   0.00-10.00  sec  11.0 GBytes  9.41 Gbits/sec    0             sender
[SUM]   0.00-10.04  sec  11.0 GBytes  9.40 Gbits/sec                  receiver
`
