package snippet

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNFSMounts(t *testing.T) {
	m := NFSMounts{Export: "/srv/data", Point: "/mnt/data", Servers: []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")}}
	for _, c := range []struct {
		version NFSVersion
		options string
	}{
		{NFS42, "vers=4.2,proto=tcp,max_connect=2"}, {NFS41, "vers=4.1,proto=tcp,max_connect=2"},
		{NFS40, "vers=4.0,proto=tcp"}, {NFS3, "vers=3,proto=tcp,mountproto=tcp"},
	} {
		m.Version = c.version
		want := "mkdir -p /mnt/data/lane0\nmount -t nfs -o " + c.options + " 10.0.0.2:/srv/data/lane0 /mnt/data/lane0\n" +
			"mkdir -p /mnt/data/lane1\nmount -t nfs -o " + c.options + " 10.0.0.3:/srv/data/lane1 /mnt/data/lane1"
		if diff := cmp.Diff(want, strings.Join(m.Commands(), "\n")); diff != "" {
			t.Errorf("NFS %s (-want +got):\n%s", c.version, diff)
		}
		if diff := cmp.Diff("10.0.0.3:/srv/data/lane1 /mnt/data/lane1 nfs "+c.options+",_netdev 0 0", m.Fstab()[1]); diff != "" {
			t.Errorf("NFS %s, fstab (-want +got):\n%s", c.version, diff)
		}
	}
	if diff := cmp.Diff([]string{"mkdir -p /srv/data/lane0 /srv/data/lane1"}, m.Prepare()); diff != "" {
		t.Error(diff)
	}
}

func TestNFSMountsOddNames(t *testing.T) {
	m := NFSMounts{Export: "/srv/my data", Point: "/mnt/it's", Servers: []netip.Addr{netip.MustParseAddr("fd00::2")}}
	want := []string{`mkdir -p '/mnt/it'\''s/lane0'`, `mount -t nfs -o vers=4.2,proto=tcp6,max_connect=1 '[fd00::2]:/srv/my data/lane0' '/mnt/it'\''s/lane0'`}
	if diff := cmp.Diff(want, m.Commands()); diff != "" {
		t.Error(diff)
	}
	if want := `[fd00::2]:/srv/my\040data/lane0 /mnt/it's/lane0 nfs vers=4.2,proto=tcp6,max_connect=1,_netdev 0 0`; m.Fstab()[0] != want {
		t.Errorf("fstab %q, want %q", m.Fstab()[0], want)
	}
}

// TestMountsShareNoDirectory: two mounts never see the same files.
func TestMountsShareNoDirectory(t *testing.T) {
	m := NFSMounts{Export: "/", Point: "/mnt"}
	for i := range byte(20) {
		m.Servers = append(m.Servers, netip.AddrFrom4([4]byte{10, 0, 0, i}))
	}
	subdirs, dirs := map[string]bool{}, map[string]bool{}
	for _, one := range m.Mounts() {
		if subdirs[one.Subdir] || dirs[one.Dir] {
			t.Errorf("%+v is there twice", one)
		}
		subdirs[one.Subdir], dirs[one.Dir] = true, true
		if !strings.Contains(one.Options, "max_connect=16") {
			t.Errorf("options %s: the kernel takes at most 16", one.Options)
		}
	}
}

func TestNFSVersionWords(t *testing.T) {
	for v := range nfsVersionWords {
		var back NFSVersion
		if err := back.UnmarshalText([]byte(NFSVersion(v).String())); err != nil || int(back) != v {
			t.Errorf("NFS version %d came back as %s, %v", v, back, err)
		}
	}
	var v NFSVersion
	if err := v.UnmarshalText([]byte("4")); err == nil {
		t.Error("NFS version 4 was accepted, and could be 4.0 to 4.2")
	}
}

func TestDatastores(t *testing.T) {
	m := NFSMounts{Export: "/srv/vm", Point: "/mnt/vm", Servers: []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")}}
	want := "esxcli storage nfs add -H 10.0.0.2 -s /srv/vm/lane0 -v vm-lane0\nesxcli storage nfs add -H 10.0.0.3 -s /srv/vm/lane1 -v vm-lane1"
	if diff := cmp.Diff(want, strings.Join(m.Datastores(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
