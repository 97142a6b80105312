package cli

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

// oldFiles reads a format's files below a directory, by their paths on the
// host.
func oldFiles(ctx context.Context, dir string, format render.Format) (map[string]string, error) {
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
		return nil, badFile("read configuration", err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	text, err := readNamed(ctx, "read configuration", name, mostConfig)
	if err != nil {
		return nil, err
	}
	s := string(text)
	return &s, nil
}

// below is a host's path under a directory; it never leads out of it.
func below(dir, file string) string {
	return filepath.Join(dir, filepath.FromSlash(path.Clean("/"+file)))
}

// writeBelow writes files with their modes below a directory: all, or none
// where one is there and force was not given.
func writeBelow(ctx context.Context, dir string, files []render.File, force bool) error {
	for _, f := range files {
		if _, err := os.Lstat(below(dir, f.Path)); err == nil && !force {
			return usage("render: "+below(dir, f.Path)+" exists", "add --force to change it, or name another directory")
		}
	}
	if err := mkDir("render -o", dir); err != nil {
		return err
	}
	for _, f := range files {
		if err := writeMode(ctx, below(dir, f.Path), f.Text, os.FileMode(f.Mode&0o777)); err != nil {
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
func (a *App) renderFrom(ctx context.Context, f renderFlags) error {
	files, err := configFiles(ctx, f.from)
	if err != nil {
		return err
	}
	format := render.Format(f.as)
	if format == "" {
		if format = guessFormat(files); format == "" {
			return usage("render: what "+f.from+" is cannot be told from its names", "say it with --from-format netplan, networkd, ifcfg or nmkeyfile")
		}
	}
	found, err := formats.Read(format, files)
	if errors.Is(err, render.ErrFormat) || errors.Is(err, render.ErrEmpty) {
		return usage(fmt.Sprintf("render: %s: %v", f.from, err), "netplan, networkd, ifcfg and nmkeyfile are read")
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
		fmt.Fprint(a.Stderr, wrapped("unread: ", u.String(), a.width()))
	}
	f.host = host
	if f.to != fabricFormat {
		return a.render(ctx, file, f, found.Unread)
	}
	if f.strict && len(found.Unread) > 0 {
		return fmt.Errorf("render: %d lines of %s have no place in a fabric, and --strict was given: nothing is written", len(found.Unread), f.from)
	}
	return a.writeFabric(ctx, f, text, found.Unread)
}

func (a *App) writeFabric(ctx context.Context, f renderFlags, text []byte, unread []render.Unread) error {
	if f.out != "" {
		if err := (output{f.out, f.force}).check("render:", aFabricFile); err != nil {
			return err
		}
		if err := writeFile(ctx, f.out, text); err != nil {
			return err
		}
	}
	switch {
	case a.json:
		return a.printJSON(renderReply{[]render.File{{Path: f.out, Mode: 0o644, Text: string(text)}}, []render.Warning{}, unread, nil})
	case f.out != "":
		_, err := fmt.Fprintln(a.Stdout, f.out)
		return err
	}
	_, err := a.Stdout.Write(text)
	return err
}

// configFiles reads a file, or the files of a directory, text by path.
func configFiles(ctx context.Context, from string) (map[string]string, error) {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("render: "+from+": no such file or directory", "")
	}
	if err != nil {
		return nil, badFile("read configuration", err)
	}
	files := map[string]string{}
	if !info.IsDir() {
		text, err := readNamed(ctx, "read configuration", from, mostConfig)
		if err != nil {
			return nil, err
		}
		files[from] = string(text)
		return files, nil
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, badFile("read configuration", err)
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
		return nil, usage("render: "+from+" holds no files", "")
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
