package formats

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
)

// placed are files as a host has them, and where the user has each.
type placed struct {
	files map[string]string // text by the path on the host
	from  map[string]string // the user's path by the path on the host
}

// place lays a user's files where the format's program looks for them, so that a
// copy, a mounted image or a checkout is read like the host itself. Of two that come
// to lie at one place the later one by name is taken, as those programs do, and the
// other is unread.
func (f format) place(files map[string]string) (p placed, unread []render.Unread) {
	p = placed{map[string]string{}, map[string]string{}}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		at := f.hostPath(file)
		if file == StandardInput || len(files) == 1 && f.below(file) == "" && !f.is(path.Base(path.Clean("/"+file)), files[file]) {
			at = f.standard
		}
		if other, taken := p.from[at]; taken {
			unread = append(unread, render.Unread{Path: other, Line: 1, Key: path.Base(other), Why: "a program reads one file of this name: " + file + " is taken"})
		}
		p.files[at], p.from[at] = files[file], file
	}
	return p, unread
}

// hostPath is where a user's file lies on the host: below the outermost of the format's
// directories that its path names, else in the first of them, or where its drop-ins lie.
// Drop-ins keep their directory.
func (f format) hostPath(file string) string {
	if at := f.below(file); at != "" {
		return at
	}
	clean := cleaned(file)
	if len(f.dirs) == 0 {
		return clean
	}
	if parent := path.Base(path.Dir(clean)); strings.HasSuffix(parent, ".d") && f.dropIns != "" {
		return f.dropIns + parent + "/" + path.Base(clean)
	}
	if base := path.Base(clean); f.dropIns != "" && !f.is(base, "") {
		return f.dropIns + base // one of another program's that the format's files go with
	}
	return f.dirs[0] + path.Base(clean)
}

// below is a path from the outermost of the format's directories on that it names; ""
// where it names none.
func (f format) below(file string) string {
	clean, best := cleaned(file), -1
	for _, dir := range append([]string{tablesDir}, f.dirs...) {
		if at := strings.LastIndex(clean, dir); at >= 0 && (best < 0 || at < best) {
			best = at
		}
	}
	if best < 0 {
		return ""
	}
	return clean[best:]
}

func cleaned(file string) string { return path.Clean("/" + strings.ReplaceAll(file, `\`, "/")) }

// Readable lists the formats that Read takes, in the order of help texts.
func Readable() []render.Format {
	var all []render.Format
	for _, f := range list() {
		if f.read != nil {
			all = append(all, f.name)
		}
	}
	return all
}

// StandardInput is the path of a text that has none.
const StandardInput = "standard input"

// Guess is the format that is read and that most files belong to; "" none does.
func Guess(files map[string]string) render.Format {
	return guess(files, func(f format) bool { return f.read != nil })
}

// WrittenOnly is the format that most files belong to of those that are not read; ""
// none does.
func WrittenOnly(files map[string]string) render.Format {
	return guess(files, func(f format) bool { return f.read == nil && f.is != nil })
}

func guess(files map[string]string, ofThese func(format) bool) render.Format {
	best, most := render.Format(""), 0
	for _, f := range list() {
		if !ofThese(f) {
			continue
		}
		count := 0
		for file, text := range files {
			if f.is(path.Base(path.Clean("/"+file)), text) {
				count++
			}
		}
		if count > most {
			best, most = f.name, count
		}
	}
	return best
}

var isYAML = ending(".yaml", ".yml")

// ending reports names with one of the endings.
func ending(ends ...string) func(base, _ string) bool {
	return func(base, _ string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(base, end) })
	}
}

// beginning reports names with one of the beginnings.
func beginning(starts ...string) func(base, _ string) bool {
	return func(base, _ string) bool {
		return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(base, start) })
	}
}

// tablesDir has the names of routing tables, which files of several formats use.
const tablesDir = "/etc/iproute2/"

// unplace gives what was found the user's own paths.
func (p placed) unplace(found *render.Found) {
	for i, u := range found.Unread {
		if own, ok := p.from[u.Path]; ok {
			found.Unread[i].Path = own
		}
	}
	for i, w := range found.Warnings { // which begin with their place
		file, rest, ok := strings.Cut(w.Why, ":")
		if own, moved := p.from[file]; ok && moved {
			found.Warnings[i].Why = own + ":" + rest
		}
	}
}

// unplaceProblems gives problems the user's own paths.
func (p placed) unplaceProblems(problems yamldoc.Problems) yamldoc.Problems {
	problems = slices.Clone(problems)
	for i, problem := range problems {
		if own, ok := p.from[problem.File]; ok {
			problems[i].File = own
		}
	}
	return problems
}
