package workload_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/advise/workload"
)

// TestOver is what each program opens: alone, with its option, over two pairs of
// addresses.
func TestOver(t *testing.T) {
	for _, c := range []struct {
		use         string
		pairs       int
		connections int
		used        int
	}{
		{"nfs", 1, 1, 1}, {"nfs", 2, 1, 1}, {"nfs:nconnect=8", 1, 8, 1}, {"nfs:nconnect=8", 2, 8, 1},
		{"nfs:vers=3", 2, 1, 1}, {"nfs:vers=3,nconnect=4", 1, 4, 1},
		{"nfs:vers=3,mounts=2", 2, 2, 2}, {"nfs:vers=4.0,mounts=2", 2, 2, 2}, {"nfs:vers=3,mounts=2,nconnect=4", 2, 8, 2},
		// NFS 4.1 and later put a second mount on the first one's connection.
		{"nfs:mounts=2", 2, 1, 1}, {"nfs:mounts=2,max_connect=2", 2, 2, 2}, {"nfs:mounts=3,max_connect=2", 3, 2, 2}, {"nfs:max_connect=2", 2, 1, 1},
		{"smb", 1, 4, 1}, {"smb", 2, 8, 2}, {"smb:connections=1", 2, 2, 2}, {"smb", 10, 32, 10},
		{"cifs", 1, 1, 1}, {"cifs", 2, 1, 1}, {"cifs:max_channels=4", 2, 4, 2}, {"cifs:max_channels=4", 1, 4, 1},
		{"iscsi", 1, 1, 1}, {"iscsi", 2, 2, 2}, {"iscsi:sessions=2", 2, 4, 2},
		{"nvme", 1, 12, 1}, {"nvme", 2, 24, 2}, {"nvme:queues=4", 2, 8, 2},
		{"ceph", 2, 1, 1}, {"ceph:pairs=12", 1, 12, 1},
		{"drbd", 2, 1, 1}, {"drbd:load-balance-paths=yes", 2, 2, 2}, {"drbd:resources=3", 2, 3, 1},
		{"qemu", 1, 1, 1}, {"libvirt:channels=4", 1, 4, 1}, {"proxmox", 1, 1, 1}, {"pve:guests=2", 1, 2, 1},
		{"ssh", 2, 1, 1}, {"scp", 1, 1, 1}, {"rsync:processes=4", 1, 4, 1}, {"zfs", 1, 1, 1},
		{"rclone", 1, 16, 1}, {"rclone:multi-thread-streams=1", 1, 4, 1}, {"rclone:--transfers=8,multi-thread-streams=1", 1, 8, 1},
		{"wdt", 1, 8, 1}, {"mscp", 1, 5, 1}, {"mscp:n=3", 1, 3, 1}, // floor(2 ln 12) + 1
		{"aria2", 1, 1, 1}, {"aria2c:x=8", 1, 8, 1}, {"curl", 1, 1, 1}, {"distcp", 1, 20, 1},
		{"pg_basebackup", 2, 1, 1}, {"iperf3:P=8", 2, 8, 1}, {"iperf3:-P=8", 1, 8, 1}, {"IPERF3", 1, 1, 1},
	} {
		u, err := workload.Parse(c.use)
		if err != nil {
			t.Errorf("%s: %v", c.use, err)
			continue
		}
		if u, err = u.Settled(12); err != nil {
			t.Errorf("%s: %v", c.use, err)
		}
		o, err := u.Over(c.pairs)
		if err != nil || o.Connections != c.connections || o.Pairs != c.used {
			t.Errorf("%s over %d pairs: %d connections to %d (%v), want %d to %d", c.use, c.pairs, o.Connections, o.Pairs, err, c.connections, c.used)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		use   string
		pairs int
		want  error
	}{
		{"nfs:nconnect=17", 1, workload.ErrParam}, {"nfs:nconnect=0", 1, workload.ErrParam}, {"nfs:nconnect", 1, workload.ErrParam}, {"nfs:nconnect=", 1, workload.ErrParam},
		{"nfs:nconnect=2,nconnect=3", 1, workload.ErrParam}, {"nfs:vers=5", 1, workload.ErrParam}, {"drbd:load-balance-paths=maybe", 1, workload.ErrParam},
		{"nfs:vers=3,max_connect=2", 2, workload.ErrParam}, {"nfs:mounts=2,max_connect=2,nconnect=2", 2, workload.ErrParam},
		{"nfs:mounts=2", 1, workload.ErrAddresses}, {"nvme", 1, workload.ErrCores}, {"mscp", 1, workload.ErrCores},
	} {
		u, err := workload.Parse(c.use)
		if err == nil {
			if u, err = u.Settled(0); err == nil {
				_, err = u.Over(c.pairs)
			}
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s over %d: %v, want %v", c.use, c.pairs, err, c.want)
		}
	}
	for text, program := range map[string]string{"nfss": "", "": "", ":": "", "nfs:ncconect=2": "nfs", "pg_basebackup:n=2": "pg_basebackup"} {
		_, err := workload.Parse(text)
		var unknown *workload.UnknownError
		if !errors.As(err, &unknown) || unknown.Program != program || program != "pg_basebackup" && len(unknown.Known) == 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRows: what every row must have, so that whoever reads it can say all.
func TestRows(t *testing.T) {
	word := regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	seen := map[string]bool{}
	for _, p := range workload.Programs() {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			if !word.MatchString(name) || seen[name] {
				t.Errorf("%q: no word, or a second time", name)
			}
			seen[name] = true
		}
		if p.What == "" || p.Opens == "" || p.Port() == 0 || p.Source > workload.Reserved {
			t.Errorf("%s: incomplete: %+v", p.Name, p)
		}
		knob, ok := p.Knob()
		if ok != (p.More != "") {
			t.Errorf("%s: %t that a parameter counts connections, more: %q", p.Name, ok, p.More)
		}
		if ok && knob.Default == 0 && knob.PerCores == nil {
			t.Errorf("%s: %s has no default", p.Name, knob.Key)
		}
		for _, q := range p.Params {
			if q.Doc == "" || !strings.Contains(q.Written, "{n}") || (q.Words == nil) == (q.Most == 0) || q.Default > q.Most || strings.Contains(q.Write(1), "{") {
				t.Errorf("%s: parameter %+v", p.Name, q)
			}
		}
		for _, text := range append([]string{p.What, p.Opens, p.Beside, p.More, p.Spread, p.ChosenBy}, p.Needs...) {
			if text != strings.TrimSpace(text) || strings.Count(text, "`")%2 != 0 {
				t.Errorf("%s: %q", p.Name, text)
			}
		}
	}
	if got := workload.Names(); !slices.Contains(got, "nfs") || len(got) != len(workload.Programs()) {
		t.Errorf("names %v", got)
	}
}

func TestUseString(t *testing.T) {
	for _, text := range []string{"nfs", "nfs:nconnect=8", "nfs:mounts=2,vers=3", "drbd:load-balance-paths=yes"} {
		u, err := workload.Parse(text)
		if err != nil || u.String() != text {
			t.Errorf("%q: %q, %v", text, u, err)
		}
	}
	u, _ := workload.Parse("nfs:nconnect=8")
	if more := u.With("nconnect", 16); more.String() != "nfs:nconnect=16" || u.String() != "nfs:nconnect=8" {
		t.Errorf("%s and %s: With changed what it was called on", more, u)
	}
}

// TestWidened: which program can use every address, and how.
func TestWidened(t *testing.T) {
	for use, want := range map[string]string{
		"nfs": "nfs:mounts=2,max_connect=2", "nfs:vers=3,nconnect=4": "nfs:nconnect=4,mounts=2,vers=3", "nfs:nconnect=4": "",
		"drbd": "drbd:load-balance-paths=yes", "iscsi": "", "ssh": "", "ceph": "", "cifs": "",
	} {
		u, err := workload.Parse(use)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if w, ok := u.Widened(2); ok {
			got = w.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", use, got, want)
		}
	}
}

func TestRecognised(t *testing.T) {
	for port, want := range map[uint16]string{2049: "nfs", 3260: "iscsi", 4420: "nvme", 6800: "ceph", 7568: "ceph", 3300: "ceph", 7789: "drbd", 445: "cifs", 22: "", 5201: "", 49152: "", 0: ""} {
		p, ok := workload.OfKernel(port)
		if p.Name != want || ok != (want != "") {
			t.Errorf("port %d: %q, want %q", port, p.Name, want)
		}
	}
	for _, c := range []struct {
		process string
		ports   []uint16
		want    string
	}{
		{"rsync", []uint16{40000, 22}, "rsync"}, {"ssh", nil, "ssh"}, {"sshd", []uint16{22}, "ssh"}, {"rclone", nil, "rclone"}, {"ceph-osd", nil, "ceph"},
		{"qemu-system-x86", []uint16{50000, 49153}, "qemu"}, {"kvm", []uint16{41000, 60001}, "proxmox"},
		// A virtual machine's own network, and names that only begin alike.
		{"qemu-system-x86", []uint16{40000, 5900}, ""}, {"rsyncd-exporter", nil, ""}, {"", []uint16{2049}, ""}, {"nginx", []uint16{443}, ""},
	} {
		p, _ := workload.OfProcess(c.process, c.ports...)
		if p.Name != c.want {
			t.Errorf("%s %v: %q, want %q", c.process, c.ports, p.Name, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"nfs:nconnect=8", "nvme:queues=4,", "x:=,=", "iperf3:--P=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := workload.Parse(text)
		if err != nil {
			return
		}
		again, err := workload.Parse(u.String())
		if err != nil || again.String() != u.String() {
			t.Fatalf("%q reads %q, which reads %q: %v", text, u, again, err)
		}
		if u, err = u.Settled(8); err != nil {
			t.Fatal(err)
		}
		if o, err := u.Over(3); err == nil && (o.Connections < 1 || o.Pairs < 1 || o.Pairs > 3) {
			t.Fatalf("%q opens %+v", text, o)
		}
	})
}
