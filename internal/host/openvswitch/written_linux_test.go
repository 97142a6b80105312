package openvswitch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/host/openvswitch"
	"github.com/linerate/linerate/internal/host/openvswitch/testswitch"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
)

// debian is Debian's Open vSwitch in user space, with ports of its own simulation, in a
// directory of the test's: it sees no device of the machine's, and takes no privilege.
type debian struct {
	testswitch.Programs
	t *testing.T
}

func (d *debian) run(c *exec.Cmd) string {
	d.t.Helper()
	return testswitch.Run(d.t, c)
}

func (d *debian) start(socket, program string, args ...string) {
	d.t.Helper()
	c := d.Command(program, args...)
	testswitch.Serve(d.t, c, socket, c.Start)
}

// parsers is where the unpacked programs are; a test without them says what brings them.
func parsers(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("LINERATE_LAB_CONFIG")
	if dir == "" {
		dir = "../../../.lab-config"
	}
	dir, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the programs are not there: make deps-config fetches them")
	}
	return dir
}

func newDebian(t *testing.T) *debian {
	t.Helper()
	d := &debian{testswitch.Programs{Root: parsers(t, "openvswitch"), Dir: t.TempDir()}, t}
	at := func(name string) string { return filepath.Join(d.Dir, name) }
	d.run(d.Command("usr/bin/ovsdb-tool", "create", at("conf.db"), filepath.Join(d.Root, "usr/share/openvswitch/vswitch.ovsschema")))
	d.start(at("db.sock"), "usr/sbin/ovsdb-server", at("conf.db"), "--remote=punix:"+at("db.sock"), "--unixctl="+at("db.ctl"))
	d.run(d.Command("usr/bin/ovs-vsctl", "--no-wait", "init"))
	d.start(at("vs.ctl"), "usr/lib/openvswitch-switch/ovs-vswitchd", "unix:"+at("db.sock"), "--unixctl="+at("vs.ctl"), "--enable-dummy=override", "--disable-system", "--disable-system-route")
	return d
}

// wanted is a host whose bonds are Open vSwitch's, of each mode.
const wanted = `linerate: v1
hosts:
  h:
    network:
      version: 2
      ethernets: {eno1: {}, eno2: {}, eno3: {}, eno4: {}, eno5: {}, eno6: {}}
      bonds:
        bslb: {interfaces: [eno1, eno2], openvswitch: {other-config: {bond-hash-basis: "7"}}, parameters: {mode: balance-slb}}
        btcp: {interfaces: [eno3, eno4], openvswitch: {lacp: active}, parameters: {mode: balance-tcp}}
        bab: {interfaces: [eno5, eno6], openvswitch: {lacp: passive}, parameters: {mode: active-backup}}
      bridges:
        vmbr0: {interfaces: [bslb, btcp], openvswitch: {}}
        vmbr1: {interfaces: [bab], openvswitch: {}}
`

// files are what is written of the wanted host in a format.
func files(t *testing.T, format render.Format) []render.File {
	t.Helper()
	f, err := fabric.Parse("f.yaml", []byte(wanted))
	if err != nil {
		t.Fatal(err)
	}
	state, err := f.State("h")
	if err != nil {
		t.Fatal(err)
	}
	host, _ := f.Host("h")
	out, err := formats.Write(format, render.Input{Host: host, State: state})
	if err != nil || len(out.Warnings) > 0 {
		t.Fatalf("%v %v", err, out.Warnings)
	}
	return out.Files
}

// has checks that the switch has the bonds that the fabric wants.
func (d *debian) has() {
	d.t.Helper()
	bonds, err := openvswitch.Bonds(d.t.Context(), d.Dir)
	if err != nil {
		d.t.Fatal(err)
	}
	got := map[string]netstate.OVSBond{}
	for _, b := range bonds { // what is set, not what the simulated ports do
		got[b.Bridge+" "+b.Name] = netstate.OVSBond{Mode: b.State.Mode, LACP: b.State.LACP, Ports: b.State.Ports, Basis: b.State.Basis}
	}
	want := map[string]netstate.OVSBond{
		"vmbr0 bslb": {Mode: netstate.OVSBalanceSLB, LACP: netstate.OVSLACPOff, Ports: []string{"eno1", "eno2"}, Basis: 7},
		"vmbr0 btcp": {Mode: netstate.OVSBalanceTCP, LACP: netstate.OVSLACPActive, Ports: []string{"eno3", "eno4"}},
		"vmbr1 bab":  {Mode: netstate.OVSActiveBackup, LACP: netstate.OVSLACPPassive, Ports: []string{"eno5", "eno6"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		d.t.Errorf("the switch has (-wanted +set):\n%s\n%s", diff, d.run(d.Command("usr/bin/ovs-vsctl", "list", "port")))
	}
}

// TestNetplanSetsIt: netplan's generator takes the file, and the commands of the units
// that it makes of it set the bonds at Open vSwitch.
func TestNetplanSetsIt(t *testing.T) {
	d := newDebian(t)
	root := t.TempDir()
	for _, f := range files(t, render.FormatNetplan) {
		at := filepath.Join(root, f.Path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("a mount namespace takes root")
	}
	// The generator writes no unit of a switch whose /usr/bin/ovs-vsctl is not there.
	lay := `mount -t overlay overlay -o "lowerdir=$0/usr/bin:/usr/bin" /usr/bin && exec "$@"`
	if out, err := exec.Command("unshare", "-m", "sh", "-c", lay, d.Root, filepath.Join(parsers(t, "netplan"), "generate"), "--root-dir", root).CombinedOutput(); err != nil {
		t.Fatalf("netplan generate: %v\n%s", err, out)
	}
	units, _ := filepath.Glob(filepath.Join(root, "run/systemd/system/netplan-ovs-*.service"))
	text := map[string]string{}
	for _, u := range units {
		b, err := os.ReadFile(u)
		if err != nil {
			t.Fatal(err)
		}
		text[strings.TrimSuffix(filepath.Base(u), ".service")] = string(b)
	}
	run := map[string]bool{}
	var start func(unit string)
	start = func(unit string) {
		if run[unit] || text[unit] == "" {
			return
		}
		run[unit] = true
		for line := range strings.Lines(text[unit]) {
			if first, ok := strings.CutPrefix(strings.TrimSpace(line), "After="); ok {
				start(strings.TrimSuffix(first, ".service"))
			}
		}
		for line := range strings.Lines(text[unit]) {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line), "ExecStart=/usr/bin/ovs-vsctl "); ok {
				d.run(d.Command("usr/bin/ovs-vsctl", strings.Fields(command)...))
			}
		}
	}
	for unit := range text {
		start(unit)
	}
	if len(text) < 5 {
		t.Fatalf("%d units of netplan's: %v", len(text), text)
	}
	d.has()
}

// TestIfupdownSetsIt: ifupdown reads the file, and Debian's own script of
// openvswitch-switch sets the bonds by what ifupdown hands it.
func TestIfupdownSetsIt(t *testing.T) {
	d := newDebian(t)
	ifquery := filepath.Join(parsers(t, "ifupdown"), "ifupdown/sbin/ifquery")
	file := filepath.Join(d.Dir, "interfaces")
	if err := os.WriteFile(file, []byte(files(t, render.FormatIfupdown)[0].Text), 0o600); err != nil {
		t.Fatal(err)
	}
	// The script brings links up, which are the switch's simulation here, and asks for a
	// service: neither is the machine's. Ports of a bridge are ifup's, by their class.
	bin := filepath.Join(d.Dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ip", "service", "systemctl", "ifup"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"vmbr0", "vmbr1", "bslb", "btcp", "bab"} { // bridges first, as the class says
		out, err := exec.Command(ifquery, "-i", file, name).CombinedOutput()
		if err != nil {
			t.Fatalf("ifquery %s: %v\n%s", name, err, out)
		}
		c := d.Command("/bin/sh", filepath.Join(d.Root, "usr/share/openvswitch/scripts/ifupdown.sh"))
		c.Env = append(c.Env, "MODE=start", "IFACE="+name)
		for line := range strings.Lines(string(out)) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
				c.Env = append(c.Env, "IF_"+strings.ToUpper(strings.ReplaceAll(key, "-", "_"))+"="+value)
			}
		}
		d.run(c)
	}
	d.has()
}
