package conffile

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/render"
)

func TestReadTakesTheFormatsFilesAlone(t *testing.T) {
	tree := fstest.MapFS{
		"etc/netplan/50-cloud-init.yaml": {Data: []byte("network: {}\n"), Mode: 0o600},
		"etc/netplan/old.yaml.bak":       {Data: []byte("no")},
		"etc/netplan/dir.yaml":           {Mode: fs.ModeDir},
		"etc/sysctl.conf":                {Data: []byte("a=1\n")},
		"etc/sysctl.d/10-x.conf":         {Data: []byte("b=2\n")},
		"etc/shadow":                     {Data: []byte("secret")},
	}
	for format, want := range map[render.Format]map[string]string{
		"netplan":  {"/etc/netplan/50-cloud-init.yaml": "network: {}\n"},
		"sysctl":   {"/etc/sysctl.conf": "a=1\n", "/etc/sysctl.d/10-x.conf": "b=2\n"},
		"networkd": {},
	} {
		got, err := Read(tree, format)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", format, diff)
		}
	}
	if _, err := Read(tree, "../etc/shadow"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a path as a format: %v, want errors.ErrUnsupported", err)
	}
}

func TestReadIsBounded(t *testing.T) {
	tree := fstest.MapFS{"etc/netplan/a.yaml": {Data: []byte(strings.Repeat("#", mostBytes+1))}}
	if _, err := Read(tree, "netplan"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v, want ErrTooLarge", err)
	}
}
