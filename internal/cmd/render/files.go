package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/conffile"
	"github.com/linerate/linerate/internal/userfile"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
)

// mostConfig is more than any configuration file has.
const mostConfig = 4 << 20

// OldFiles reads a format's files below a directory, by their paths on the host,
// and those of sysctl.d, which many formats write beside theirs.
func OldFiles(dir string, format render.Format) (map[string]string, error) {
	old := map[string]string{}
	if dir == "" {
		return old, nil
	}
	for _, f := range []render.Format{format, render.FormatSysctl} {
		files, err := conffile.Read(userfile.Tree(dir), f)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return nil, fmt.Errorf("read what %s has: %w", dir, err)
		}
		maps.Copy(old, files)
	}
	return old, nil
}

// ownPlace reports a directory of this host's own configuration, whose links its
// administrator made: NixOS and stow have nothing else there. It has no links itself.
func ownPlace(dir string) bool {
	return slices.ContainsFunc([]string{"/etc/", "/run/systemd/", "/run/netplan/", "/run/NetworkManager/", "/usr/lib/"}, func(own string) bool {
		return strings.HasPrefix(filepath.ToSlash(dir)+"/", own)
	})
}

// readConfig is the text of a regular file below a directory, which may be somebody
// else's; nil for what is none, and for a link that leads nowhere. A link that leads out
// of the directory to a file is an error, but in a directory of the host's own.
func readConfig(ctx context.Context, dir, name string) (*string, error) {
	file, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var root, below string
	if err == nil {
		root, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		below, err = filepath.Rel(root, file)
	}
	if err != nil {
		return nil, console.BadFile("read configuration", err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, console.BadFile("read configuration", err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	if !filepath.IsLocal(below) {
		if !ownPlace(root) {
			return nil, console.BadUsage("render: "+name+" is a link that leads out of "+dir, "name the file that it leads to")
		}
		text, err := console.ReadNamed(ctx, "read configuration", file, mostConfig)
		s := string(text)
		return &s, err
	}
	f, err := userfile.Tree(root).Open(filepath.ToSlash(below))
	if err != nil {
		return nil, console.BadFile("read configuration", err)
	}
	defer f.Close()
	text, err := userfile.ReadStream(ctx, name, f, mostConfig)
	if err != nil {
		return nil, console.BadFile("read configuration", err)
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
	files, err := configFiles(ctx, con.Stdin, f.from, render.Format(f.as))
	if err != nil {
		return err
	}
	said := strings.Join(f.from, " ")
	format := render.Format(f.as)
	if format == "" {
		if format = formats.Guess(files); format == "" {
			if other := formats.WrittenOnly(files); other != "" {
				return console.BadUsage("render: "+said+" is of the format "+string(other)+", which is written and not read", readFormats()+" are read")
			}
			return console.BadUsage("render: what "+said+" is cannot be told from its names and texts", "say it with --from-format "+readFormats())
		}
	}
	found, err := formats.Read(format, files)
	if errors.Is(err, render.ErrFormat) || errors.Is(err, render.ErrEmpty) {
		printUnread(con, found.Unread)
		return console.BadUsage(fmt.Sprintf("render: %s: %v", said, err), readFormats()+" are read")
	}
	if err != nil {
		return err
	}
	host := f.host
	if host == "" {
		host = "host"
	}
	text := found.FabricFile(host)
	file, err := fabric.Parse(said, text)
	if err != nil {
		return err
	}
	printUnread(con, found.Unread)
	f.host = host
	PrintWarnings(con, found.Warnings)
	if f.to != fabricFormat {
		return renderFile(ctx, con, file, f, &found)
	}
	if f.strict && len(found.Unread) > 0 {
		return fmt.Errorf("render: %d lines of %s have no place in a fabric, and --strict was given: nothing is written", len(found.Unread), said)
	}
	return writeFabric(ctx, con, f, text, found.Unread)
}

// readFormats are the formats that are read, for hints.
func readFormats() string {
	var names []string
	for _, f := range formats.Readable() {
		names = append(names, string(f))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func printUnread(con *console.Console, unread []render.Unread) {
	for _, u := range unread {
		fmt.Fprint(con.Stderr, console.Wrapped("unread: ", u.String(), con.Width()))
	}
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
		return document.Print(con, reply{[]render.File{{Path: f.out, Mode: 0o644, Text: string(text)}}, []render.Warning{}, unread, nil})
	case f.out != "":
		_, err := fmt.Fprintln(con.Stdout, f.out)
		return err
	}
	_, err := con.Stdout.Write(text)
	return err
}

// standardInput is the path that means it.
const standardInput = "-"

// configFiles reads files, the files of directories, and what a host's root
// directory has of every format, text by path.
func configFiles(ctx context.Context, stdin io.Reader, from []string, as render.Format) (map[string]string, error) {
	files := map[string]string{}
	for _, name := range from {
		if name == standardInput {
			if as == "" {
				return nil, console.BadUsage("render: what standard input holds cannot be told", "say it with --from-format "+readFormats())
			}
			text, err := io.ReadAll(io.LimitReader(stdin, mostConfig+1))
			if err != nil {
				return nil, fmt.Errorf("read standard input: %w", err)
			}
			if len(text) > mostConfig {
				return nil, console.BadUsage("render: standard input has more than 4 MiB", "name the host's network files only")
			}
			files[formats.StandardInput] = string(text)
			continue
		}
		if err := addFiles(ctx, name, files); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, console.BadUsage("render: "+strings.Join(from, " ")+" holds no files", "name a file, a directory of them, or a host's root directory")
	}
	addTables(ctx, from, files)
	return files, nil
}

// addFiles reads one path that the user named: a file, a host's root directory, or a
// directory of files.
func addFiles(ctx context.Context, from string, files map[string]string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return console.BadUsage("render: "+from+": no such file or directory", "name a file, a directory of them, or a host's root directory")
	}
	if err != nil {
		return console.BadFile("read configuration", err)
	}
	if !info.IsDir() {
		text, err := console.ReadNamed(ctx, "read configuration", from, mostConfig)
		if err != nil {
			return err
		}
		files[from] = string(text)
		return nil
	}
	for _, format := range formats.Readable() {
		root, err := conffile.Read(userfile.Tree(from), format)
		if errors.Is(err, errors.ErrUnsupported) {
			continue // its files have no place of their own
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", from, err)
		}
		for file, text := range root {
			files[filepath.Join(from, filepath.FromSlash(file))] = text
		}
	}
	if len(files) > 0 {
		return nil
	}
	names, err := filesIn(from)
	if err != nil {
		return console.BadFile("read configuration", err)
	}
	for _, name := range names {
		text, err := readConfig(ctx, from, name)
		if err != nil {
			return err
		}
		if text != nil {
			files[name] = *text
		}
	}
	return nil
}

// filesIn are the files of a directory and of the directories of drop-ins in it.
func filesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		names = append(names, name)
		if e.IsDir() && strings.HasSuffix(e.Name(), ".d") {
			below, err := filepath.Glob(filepath.Join(name, "*"))
			if err != nil {
				return nil, err
			}
			names = append(names, below...)
		}
	}
	return names, nil
}

// addTables reads the names of routing tables of the host whose files were named, if
// they lie below an etc of its own.
func addTables(ctx context.Context, from []string, files map[string]string) {
	for _, name := range from {
		whole, err := filepath.Abs(name)
		if err != nil {
			continue
		}
		root, _, below := strings.Cut(filepath.ToSlash(whole)+"/", "/etc/")
		if !below {
			root = filepath.ToSlash(whole)
		}
		for _, pattern := range []string{"etc/iproute2/rt_tables", "etc/iproute2/rt_tables.d/*.conf"} {
			found, _ := filepath.Glob(filepath.Join(filepath.FromSlash(root+"/"), filepath.FromSlash(pattern)))
			for _, table := range found {
				if text, err := readConfig(ctx, filepath.FromSlash(root+"/"), table); err == nil && text != nil {
					files[table] = *text
				}
			}
		}
	}
}
