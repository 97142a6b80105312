// Package conffile reads the configuration files of a host's network, found by the
// list of their paths, for a change to be written into them. It must never write
// one: that is apply's, once a change is confirmed. Don't read a path that came
// over the wire.
package conffile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/linerate/linerate/render/format"
)

// patterns is the one table of where each format's files are, relative to /,
// as patterns of path.Match (netplan(5), systemd.network(5),
// nm-settings-keyfile(5), the initscripts' sysconfig.txt, sysctl.d(5)).
var patterns = map[format.Name][]string{
	format.Netplan: {"etc/netplan/*.yaml", "run/netplan/*.yaml", "usr/lib/netplan/*.yaml", "lib/netplan/*.yaml",
		"etc/systemd/network/*.d/90-linerate.conf", "etc/systemd/network/*.link"},
	format.Networkd: {"etc/systemd/network/*.network", "etc/systemd/network/*.netdev", "etc/systemd/network/*.link", "etc/systemd/network/*.d/*.conf"},
	format.Keyfile: {"etc/NetworkManager/system-connections/*.nmconnection",
		"etc/NetworkManager/conf.d/*.conf", "etc/NetworkManager/NetworkManager.conf"},
	format.Ifcfg: {"etc/sysconfig/network-scripts/ifcfg-*", "etc/sysconfig/network-scripts/route-*", "etc/sysconfig/network-scripts/route6-*",
		"etc/sysconfig/network-scripts/rule-*", "etc/sysconfig/network-scripts/rule6-*",
		"etc/sysconfig/network/ifcfg-*", "etc/sysconfig/network/ifroute-*",
		"etc/sysconfig/network", "etc/sysconfig/static-routes", "etc/sysconfig/network/routes", "etc/sysconfig/network/ifrule-*", "etc/sysconfig/network/config"},
	format.Ifupdown: {"etc/network/interfaces", "etc/network/interfaces.new", "etc/network/interfaces.d/*"},
	format.Teamd:    {"etc/teamd/*.conf"},
	format.FreeBSD:  {"etc/rc.conf", "etc/sysctl.conf", "boot/loader.conf"},
	format.Sysctl:   {"etc/sysctl.conf", "etc/sysctl.d/*.conf", "usr/lib/sysctl.d/*.conf", "run/sysctl.d/*.conf"},
}

// Bounds of what is read: a configuration beyond them is somebody's mistake.
const (
	mostFiles = 1000
	mostBytes = 4 << 20 // in all
)

// ErrTooLarge is the error for files beyond the bounds.
var ErrTooLarge = errors.New("more configuration than is read")

// Read returns the text of a format's files in a tree whose root is "/", by
// absolute path. No file is an empty map; a format without files of its own,
// such as "iproute2", is errors.ErrUnsupported; ones that may not be read are
// fs.ErrPermission.
func Read(tree fs.FS, of format.Name) (map[string]string, error) {
	globs, known := patterns[of]
	if !known {
		return nil, fmt.Errorf("read files of %q: %w", of, errors.ErrUnsupported)
	}
	files := map[string]string{}
	left := int64(mostBytes)
	for _, glob := range globs {
		names, err := fs.Glob(tree, glob)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", glob, err)
		}
		for _, name := range names {
			text, err := read(tree, name, left)
			if errors.Is(err, errNoFile) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read /%s: %w", name, err)
			}
			left -= int64(len(text))
			files[path.Join("/", name)] = text
			if len(files) > mostFiles {
				return nil, fmt.Errorf("read %s: %w: %d files", glob, ErrTooLarge, len(files))
			}
		}
	}
	return files, nil
}

// errNoFile is a name that holds no text: gone since, or a directory.
var errNoFile = errors.New("no regular file")

func read(tree fs.FS, name string, most int64) (string, error) {
	info, err := fs.Stat(tree, name) // before it is opened, which waits for the writer of a pipe
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", errNoFile
	}
	if err != nil {
		return "", err
	}
	f, err := tree.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = ErrTooLarge
	}
	return string(text), err
}
