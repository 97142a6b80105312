package feature

import (
	"testing"
	"testing/fstest"
)

func TestFilesAnswer(t *testing.T) {
	const dir = "lib/modules/6.1/"
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for _, c := range []struct {
		name string
		root fstest.MapFS
		want State
	}{
		{"listed", fstest.MapFS{"proc/filesystems": file("nodev\tsysfs\nnodev\tnfsd\n")}, Yes},
		{"another of the name's beginning", fstest.MapFS{"proc/filesystems": file("nodev\tnfsd4\n"), dir + "modules.dep": file(""), dir + "modules.builtin": file("")}, No},
		{"loaded", fstest.MapFS{"proc/filesystems": file(""), "proc/modules": file("nfsd 4096 0 - Live 0x0\n")}, Yes},
		{"on disk", fstest.MapFS{"proc/filesystems": file(""), dir + "modules.dep": file("kernel/fs/nfsd/nfsd.ko: kernel/net/sunrpc/sunrpc.ko\n")}, Yes},
		{"nobody tells", fstest.MapFS{"proc/filesystems": file("")}, Unknown},
		{"no list", fstest.MapFS{}, Unknown},
	} {
		if got := filesAnswer(c.root, "6.1", "nfsd", "nfsd"); got.State != c.want || got.Why == "" {
			t.Errorf("%s: %+v, want %v", c.name, got, c.want)
		}
	}
}
