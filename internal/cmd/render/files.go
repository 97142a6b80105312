package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/userfile"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
)

// renderPlaces are where each format's files are on a host: what stands there
// is changed in place.
var renderPlaces = map[render.Format][]string{
	render.FormatNetplan:  {"/etc/netplan/*.yaml", "/etc/systemd/network/*", "/etc/systemd/network/*/*", "/etc/sysctl.d/*.conf"},
	render.FormatNetworkd: {"/etc/systemd/network/*", "/etc/systemd/network/*/*", "/etc/sysctl.d/*.conf"},
	render.FormatIfcfg:    {"/etc/sysconfig/network-scripts/*", "/etc/sysctl.d/*.conf"},
	render.FormatKeyfile:  {"/etc/NetworkManager/system-connections/*.nmconnection", "/etc/sysctl.d/*.conf"},
	render.FormatSysctl:   {"/etc/sysctl.d/*.conf"},
	render.FormatFreeBSD:  {"/etc/rc.conf", "/etc/sysctl.conf", "/boot/loader.conf"},
}

// mostConfig is more than any configuration file has.
const mostConfig = 4 << 20

// OldFiles reads a format's files below a directory, by their paths on the
// host.
func OldFiles(ctx context.Context, dir string, format render.Format) (map[string]string, error) {
	if dir == "" {
		return nil, nil
	}
	old := map[string]string{}
	for _, pattern := range renderPlaces[format] {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", dir, err)
		}
		for _, name := range found {
			text, err := readConfig(ctx, name)
			if err != nil {
				return nil, err
			}
			if text != nil {
				relative, _ := filepath.Rel(dir, name)
				old["/"+filepath.ToSlash(relative)] = *text
			}
		}
	}
	return old, nil
}

// readConfig is a regular file's text; nil for what is none.
func readConfig(ctx context.Context, name string) (*string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, console.BadFile("read configuration", err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	text, err := console.ReadNamed(ctx, "read configuration", name, mostConfig)
	if err != nil {
		return nil, err
	}
	s := string(text)
	return &s, nil
}

// Below is a host's path under a directory; it never leads out of it.
func Below(dir, file string) string {
	return filepath.Join(dir, filepath.FromSlash(path.Clean("/"+file)))
}

// WriteBelow writes files with their modes below a directory: all, or none
// where one is there and force was not given.
func WriteBelow(ctx context.Context, dir string, files []render.File, force bool) error {
	for _, f := range files {
		if _, err := os.Lstat(Below(dir, f.Path)); err == nil && !force {
			return console.BadUsage("render: "+Below(dir, f.Path)+" exists", "add --force to change it, or name another directory")
		}
	}
	if err := console.MkDir("render -o", dir); err != nil {
		return err
	}
	for _, f := range files {
		if err := writeMode(ctx, Below(dir, f.Path), f.Text, os.FileMode(f.Mode&0o777)); err != nil {
			return err
		}
	}
	return nil
}

// writeMode writes a file below a directory, with the directories on the way.
// One that is there keeps its mode.
func writeMode(ctx context.Context, name, text string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil { // less the umask
		return fmt.Errorf("write %s: %w", name, err)
	}
	return userfile.WriteMode(ctx, name, []byte(text), mode)
}

// renderFrom reads a format's files and writes another's, or a fabric.
func renderFrom(ctx context.Context, con *console.Console, f opts) error {
	files, err := configFiles(ctx, f.from)
	if err != nil {
		return err
	}
	format := render.Format(f.as)
	if format == "" {
		if format = guessFormat(files); format == "" {
			return console.BadUsage("render: what "+f.from+" is cannot be told from its names", "say it with --from-format netplan, networkd, ifcfg or nmkeyfile")
		}
	}
	found, err := formats.Read(format, files)
	if errors.Is(err, render.ErrFormat) || errors.Is(err, render.ErrEmpty) {
		return console.BadUsage(fmt.Sprintf("render: %s: %v", f.from, err), "netplan, networkd, ifcfg and nmkeyfile are read")
	}
	if err != nil {
		return err
	}
	host := f.host
	if host == "" {
		host = "host"
	}
	text := found.FabricFile(host)
	file, err := fabric.Parse(f.from, text)
	if err != nil {
		return err
	}
	for _, u := range found.Unread {
		fmt.Fprint(con.Stderr, console.Wrapped("unread: ", u.String(), con.Width()))
	}
	f.host = host
	if f.to != fabricFormat {
		return renderFile(ctx, con, file, f, found.Unread)
	}
	if f.strict && len(found.Unread) > 0 {
		return fmt.Errorf("render: %d lines of %s have no place in a fabric, and --strict was given: nothing is written", len(found.Unread), f.from)
	}
	return writeFabric(ctx, con, f, text, found.Unread)
}

func writeFabric(ctx context.Context, con *console.Console, f opts, text []byte, unread []render.Unread) error {
	if f.out != "" {
		if err := (console.Output{Path: f.out, Force: f.force}).Check("render:", console.FabricFile); err != nil {
			return err
		}
		if err := console.WriteFile(ctx, f.out, text); err != nil {
			return err
		}
	}
	switch {
	case con.JSON:
		return con.PrintJSON(reply{[]render.File{{Path: f.out, Mode: 0o644, Text: string(text)}}, []render.Warning{}, unread, nil})
	case f.out != "":
		_, err := fmt.Fprintln(con.Stdout, f.out)
		return err
	}
	_, err := con.Stdout.Write(text)
	return err
}

// configFiles reads a file, or the files of a directory, text by path.
func configFiles(ctx context.Context, from string) (map[string]string, error) {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, console.BadUsage("render: "+from+": no such file or directory", "")
	}
	if err != nil {
		return nil, console.BadFile("read configuration", err)
	}
	files := map[string]string{}
	if !info.IsDir() {
		text, err := console.ReadNamed(ctx, "read configuration", from, mostConfig)
		if err != nil {
			return nil, err
		}
		files[from] = string(text)
		return files, nil
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, console.BadFile("read configuration", err)
	}
	for _, e := range entries {
		name := filepath.Join(from, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		text, err := readConfig(ctx, name)
		if err != nil {
			return nil, err
		}
		if text != nil {
			files[name] = *text
		}
	}
	if len(files) == 0 {
		return nil, console.BadUsage("render: "+from+" holds no files", "")
	}
	return files, nil
}

// guessFormat is the format that most files' names belong to; "" none does.
func guessFormat(files map[string]string) render.Format {
	count := map[render.Format]int{}
	for name := range files {
		base := filepath.Base(name)
		switch ext := filepath.Ext(base); {
		case ext == ".nmconnection":
			count[render.FormatKeyfile]++
		case slices.Contains([]string{".network", ".netdev", ".link"}, ext):
			count[render.FormatNetworkd]++
		case ext == ".yaml" || ext == ".yml":
			count[render.FormatNetplan]++
		case strings.HasPrefix(base, "ifcfg-"):
			count[render.FormatIfcfg]++
		}
	}
	best := render.Format("")
	for _, f := range []render.Format{render.FormatNetplan, render.FormatNetworkd, render.FormatIfcfg, render.FormatKeyfile} {
		if count[f] > count[best] {
			best = f
		}
	}
	return best
}
