package steer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/steer"
)

// vswitch is an Open vSwitch of Debian's package in user space: a datapath and ports
// that are its own simulation (--enable-dummy), in a directory of the test's. It sees
// no device of the machine's, and takes no privilege.
type vswitch struct {
	t    *testing.T
	root string // where the package is unpacked
	dir  string
}

func newVswitch(t *testing.T) *vswitch {
	t.Helper()
	dir := os.Getenv("LINERATE_LAB_CONFIG")
	if dir == "" {
		dir = "../../../.lab-config"
	}
	root, err := filepath.Abs(filepath.Join(dir, "openvswitch"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); err != nil {
		t.Skip("Open vSwitch is not there: make deps-config fetches it")
	}
	s := &vswitch{t: t, root: root, dir: t.TempDir()}
	s.run("usr/bin/ovsdb-tool", "create", s.at("conf.db"), filepath.Join(root, "usr/share/openvswitch/vswitch.ovsschema"))
	s.start("usr/sbin/ovsdb-server", "db.sock", s.at("conf.db"), "--remote=punix:"+s.at("db.sock"), "--unixctl="+s.at("db.ctl"))
	s.vsctl("--no-wait", "init")
	s.start("usr/lib/openvswitch-switch/ovs-vswitchd", "vs.ctl", "unix:"+s.at("db.sock"), "--unixctl="+s.at("vs.ctl"), "--enable-dummy=override", "--disable-system", "--disable-system-route")
	return s
}

func (s *vswitch) at(name string) string { return filepath.Join(s.dir, name) }

func (s *vswitch) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.root, program), args...)
	var libraries []string
	for _, lib := range []string{"usr/lib", "lib"} {
		found, _ := filepath.Glob(filepath.Join(s.root, lib, "*-linux-gnu*"))
		libraries = append(libraries, found...)
	}
	c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+strings.Join(libraries, ":"), "OVS_PKGDATADIR="+filepath.Join(s.root, "usr/share/openvswitch"))
	for _, name := range []string{"RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR"} {
		c.Env = append(c.Env, "OVS_"+name+"="+s.dir)
	}
	return c
}

func (s *vswitch) run(program string, args ...string) string {
	s.t.Helper()
	out, err := s.command(program, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// start runs a server until the test ends; it serves once its socket is there.
func (s *vswitch) start(program, socket string, args ...string) {
	s.t.Helper()
	c := s.command(program, args...)
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for range 200 {
		if conn, err := net.Dial("unix", s.at(socket)); err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("%s does not serve:\n%s", program, errs.String())
}

func (s *vswitch) vsctl(args ...string) {
	s.t.Helper()
	s.run("usr/bin/ovs-vsctl", append([]string{"--db=unix:" + s.at("db.sock"), "--timeout=20"}, args...)...)
}

func (s *vswitch) appctl(args ...string) string {
	s.t.Helper()
	return strings.TrimSpace(s.run("usr/bin/ovs-appctl", append([]string{"-t", s.at("vs.ctl")}, args...)...))
}

// asker asks as ovs-appctl does, over one connection.
func (s *vswitch) asker() func(method string, args ...string) string {
	s.t.Helper()
	conn, err := net.Dial("unix", s.at("vs.ctl"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	send, receive := json.NewEncoder(conn), json.NewDecoder(conn)
	return func(method string, args ...string) string {
		s.t.Helper()
		if err := send.Encode(map[string]any{"id": 1, "method": method, "params": args}); err != nil {
			s.t.Fatal(err)
		}
		var reply struct {
			Result string `json:"result"`
			Error  any    `json:"error"`
		}
		if err := receive.Decode(&reply); err != nil || reply.Error != nil {
			s.t.Fatalf("%s %v: %v %v", method, args, err, reply.Error)
		}
		return strings.TrimSpace(reply.Result)
	}
}

// shown is what `linerate steer show --json` says with these flags.
func shown(t *testing.T, args ...string) steer.Shown {
	t.Helper()
	var out bytes.Buffer
	con := &console.Console{Stdout: &out, Stderr: &bytes.Buffer{}, Stdin: strings.NewReader(""), Getenv: func(string) string { return "" }, JSON: true}
	c := newShow(con)
	c.SetArgs(args)
	if err := c.Execute(); err != nil {
		t.Fatalf("steer show %v: %v", args, err)
	}
	var s steer.Shown
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOVSHash: the buckets of 1,000 drawn senders are those of `ovs-appctl bond/hash`.
func TestOVSHash(t *testing.T) {
	s := newVswitch(t)
	ask := s.asker()
	flows := 1000
	if testing.Short() {
		flows = 100
	}
	const seed = 30
	draw := rand.New(rand.NewPCG(seed, 4))
	csv := "proto,src,dst,sport,dport,smac,dmac,vlan\n"
	type sender struct {
		mac  string
		vlan int
	}
	var senders []sender
	for i := range flows {
		var mac []string
		for range 6 {
			mac = append(mac, fmt.Sprintf("%02x", draw.IntN(256)))
		}
		mac[0] = fmt.Sprintf("%02x", draw.IntN(256)&^1)
		one := sender{mac: strings.Join(mac, ":")}
		if i%2 == 1 {
			one.vlan = 1 + draw.IntN(4094)
		}
		senders = append(senders, one)
		csv += fmt.Sprintf("tcp,10.0.0.1,10.0.0.2,%d,5201,%s,,%d\n", 1024+i, one.mac, one.vlan)
	}
	file := filepath.Join(t.TempDir(), "flows.csv")
	if err := os.WriteFile(file, []byte(csv), 0o600); err != nil {
		t.Fatal(err)
	}
	got := shown(t, "--system", "ovs", "--policy", "balance-slb", "--links", "2", "--flows", file)
	if len(got.Flows) != flows {
		t.Fatalf("%d flows", len(got.Flows))
	}
	wrong := 0
	for i, f := range got.Flows {
		want := ask("bond/hash", senders[i].mac, strconv.Itoa(senders[i].vlan))
		if f.Hash == nil || strconv.Itoa(int(*f.Hash)) != want || f.Known || f.Link != nil {
			if wrong++; wrong < 5 {
				t.Errorf("%+v: %+v, ovs-appctl says %s", senders[i], f, want)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d buckets are wrong", wrong, flows)
	}
	if own, asked := s.appctl("bond/hash", senders[1].mac, strconv.Itoa(senders[1].vlan)), ask("bond/hash", senders[1].mac, strconv.Itoa(senders[1].vlan)); own != asked {
		t.Errorf("ovs-appctl says %s, and its socket %s", own, asked)
	}
}

// TestOVSMembers: a guest sends, and the members that bond/show gives its addresses are
// those that the frames leave by. A basis, and a bucket without load, are as they are.
func TestOVSMembers(t *testing.T) {
	s := newVswitch(t)
	s.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=dummy", "--", "add-bond", "br0", "bond0", "p1", "p2",
		"--", "set", "port", "bond0", "bond_mode=balance-slb", "other_config:bond-rebalance-interval=60000", "other_config:bond-hash-basis=7",
		"--", "set", "interface", "p1", "type=dummy", "--", "set", "interface", "p2", "type=dummy",
		"--", "add-port", "br0", "g1", "--", "set", "interface", "g1", "type=dummy")
	ports := map[string]string{} // names by number of the datapath
	for _, m := range regexp.MustCompile(`(?m)^\s+(\S+) \d+/(\d+): \(dummy\)`).FindAllStringSubmatch(s.appctl("dpif/show"), -1) {
		ports[m[2]] = m[1]
	}
	if len(ports) != 3 {
		t.Fatalf("ports %v of\n%s", ports, s.appctl("dpif/show"))
	}
	ask := s.asker()
	const peer = "00:16:3e:ff:00:01"
	left := map[string]string{}
	for i := range 12 {
		mac := fmt.Sprintf("00:16:3e:00:01:%02x", i)
		for range 3 { // one packet is a load of nothing
			ask("netdev-dummy/receive", "g1", "in_port(1),eth(src="+mac+",dst="+peer+"),eth_type(0x0800),ipv4(src=10.0.0.1,dst=10.0.0.2,proto=17,tos=0,ttl=64,frag=no),udp(src=1,dst=2)", "--len", "1400")
		}
		trace := ask("ofproto/trace", "br0", "in_port=g1,dl_src="+mac+",dl_dst="+peer)
		_, actions, _ := strings.Cut(trace, "Datapath actions: ")
		for _, port := range strings.FieldsFunc(actions, func(r rune) bool { return r < '0' || r > '9' }) {
			if name := ports[port]; name == "p1" || name == "p2" {
				left[mac] = name
			}
		}
		if left[mac] == "" {
			t.Fatalf("no member in\n%s", trace)
		}
	}
	var text string
	for range 100 { // its statistics come once in a while
		if text = ask("bond/show", "bond0"); strings.Count(text, " kB load") == len(left) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	file := filepath.Join(t.TempDir(), "show.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for mac, member := range left {
		got := shown(t, "--bond-show", file, "--smac", mac)
		f := got.Flows[0]
		if f.Hash == nil || !f.Known || f.Link == nil || []string{"p1", "p2"}[*f.Link] != member || strconv.Itoa(int(*f.Hash)) != ask("bond/hash", mac, "0", "7") {
			t.Errorf("%s leaves by %s: %+v\n%s", mac, member, f, text)
		}
	}
	if f := shown(t, "--bond-show", file, "--smac", "00:16:3e:00:02:99").Flows[0]; f.Known && !strings.Contains(text, fmt.Sprintf("hash %d:", *f.Hash)) || f.Hash == nil {
		t.Errorf("a bucket without load: %+v", f)
	}
	if f := shown(t, "--bond-show", file, "--src", "10.0.0.1", "--dst", "10.0.0.2", "--sport", "1").Flows[0]; f.Known || f.Hash != nil || !strings.Contains(f.Why, "MAC address") {
		t.Errorf("no MAC address: %+v", f)
	}
}

// TestOVSByFlow: nothing is known of balance-tcp, and it is said how to see it.
func TestOVSByFlow(t *testing.T) {
	f := shown(t, "--system", "ovs", "--policy", "balance-tcp", "--links", "2", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--sport", "40000").Flows[0]
	if f.Known || f.Hash != nil || f.Link != nil || !strings.Contains(f.Why, "dpctl/dump-flows") {
		t.Errorf("%+v", f)
	}
}
