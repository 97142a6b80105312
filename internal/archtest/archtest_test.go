package archtest

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestArchitecture(t *testing.T) {
	problems, err := check(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

const testDoc = `
| layer | packages | may import |
|---|---|---|
| 0 words | ` + "`unit`" + ` | nothing |
| 1 vocabulary | ` + "`flow`" + ` | |
| 1 vocabulary | ` + "`state`" + ` | ` + "`flow`" + ` |
| 2 effects | ` + "`run`" + ` | |
| 3 surface | ` + "`cmd/x`" + ` | |

Layers 0 to 1 are pure.

| import | only in |
|---|---|
| ` + "`os/exec`" + ` | ` + "`run/start.go`" + ` |
| ` + "`golang.org/x/sys`" + ` | nowhere |
| ` + "`net`" + ` | nowhere |
`

func good() fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return fstest.MapFS{
		"ARCHITECTURE.md": file(testDoc),
		"CONTRIBUTING.md": file("`go test ./run ./cmd/...`, `run/start.go`, `cmd/<name>/main.go`, `run/*_test.go`, `os/exec`, `/run/x`.\n"),
		"go.mod":          file("module example.org/x\n\ngo 1.25\n"),
		"unit/unit.go":    file("// Package unit is one.\npackage unit\n"),
		"flow/flow.go":    file("// Package flow is one.\npackage flow\n\nimport (\n_ \"example.org/x/unit\"\n\"time\"\n)\n\nconst T = time.Second\n"),
		"flow/words.go":   file("package flow\n\nimport (\n\"context\"\n_ \"net/netip\"\n)\n\nvar E = context.Canceled\n"),
		"unit/u_test.go":  file("// Package unit is tested.\npackage unit\n"),
		"flow/f_test.go":  file("package flow\n\nimport _ \"os\"\n"),
		"state/state.go":  file("// Package state is one.\npackage state\n\nimport _ \"example.org/x/flow\"\n"),
		"run/run.go":      file("// Package run is one.\npackage run\n\nimport _ \"example.org/x/state\"\n"),
		"run/start.go":    file("package run\n\nimport _ \"os/exec\"\n"),
		"cmd/x/main.go":   file("// Command x is one.\npackage main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }\n"),
	}
}

// TestSeesViolations: a rule that is never seen to fail may not work.
func TestSeesViolations(t *testing.T) {
	if problems, err := check(good()); err != nil || len(problems) > 0 {
		t.Fatalf("a good tree: %v, %v", problems, err)
	}
	for name, tt := range map[string]struct{ file, content, want string }{
		"upwards":            {"flow/a.go", "package flow\nimport _ \"example.org/x/run\"\n", "layer 1) imports run"},
		"sideways":           {"flow/a.go", "package flow\nimport _ \"example.org/x/state\"\n", "imports state"},
		"upwards in a test":  {"flow/a_test.go", "package flow_test\nimport _ \"example.org/x/run\"\n", "imports run"},
		"under a build tag":  {"flow/a.go", "//go:build plan9\n\npackage flow\nimport _ \"example.org/x/run\"\n", "imports run"},
		"not in the table":   {"new/a.go", "package new\n", "not in ARCHITECTURE.md"},
		"file in pure":       {"flow/a.go", "package flow\nimport _ \"os\"\n", "is pure and imports os"},
		"socket in pure":     {"flow/a.go", "package flow\nimport _ \"net\"\n", "imports net"},
		"context in pure":    {"flow/a.go", "package flow\nimport \"context\"\nfunc f(context.Context) {}\n", "takes a context"},
		"clock in pure":      {"flow/a.go", "package flow\nimport \"time\"\nvar _ = time.Now\n", "time.Now"},
		"renamed clock":      {"flow/a.go", "package flow\nimport clock \"time\"\nfunc f() { clock.Sleep(1) }\n", "time.Sleep"},
		"exec elsewhere":     {"run/other.go", "package run\nimport _ \"os/exec\"\n", "only in run/start.go"},
		"x/sys anywhere":     {"run/other.go", "package run\nimport _ \"golang.org/x/sys/unix\"\n", "x/sys/unix may be imported only in"},
		"net outside":        {"run/other.go", "package run\nimport _ \"net\"\n", "net may be imported only in"},
		"room":               {"unit/a.go", "package helpers\n", "name it by what it knows"},
		"init":               {"run/a.go", "package run\nfunc init() {}\n", "init function"},
		"exit in a library":  {"run/a.go", "package run\nimport \"os\"\nfunc f() { os.Exit(1) }\n", "os.Exit"},
		"fatal in a library": {"run/a.go", "package run\nimport \"log\"\nfunc f() { log.Fatalf(\"\") }\n", "log.Fatalf"},
		"long file":          {"run/a.go", "package run\n" + strings.Repeat("\n", 800), "801 lines, more than 800"},
		"no comment":         {"unit/unit.go", "// It is one.\npackage unit\n", "unit: no comment says what the package is"},
		"no command's":       {"cmd/x/main.go", "// Package main is one.\npackage main\n", "cmd/x: no comment"},
		"only in a test":     {"unit/unit.go", "package unit\n", "unit: no comment"},
		"long page":          {"ARCHITECTURE.md", testDoc + strings.Repeat("\n", 250-strings.Count(testDoc, "\n")), "250 lines, want fewer than 250"},
		"path gone":          {"CONTRIBUTING.md", "see `run/stop.go`\n", "CONTRIBUTING.md: `run/stop.go` is not there"},
		"package gone":       {"ARCHITECTURE.md", testDoc + "\n`flow/fast` is quick\n", "ARCHITECTURE.md: `flow/fast` is not there"},
		"in a command":       {"CONTRIBUTING.md", "`go test ./run/hard/...`\n", "`run/hard` is not there"},
		"after a picture":    {"CONTRIBUTING.md", "```\na\n```\nsee `run/stop.go`\n", "`run/stop.go` is not there"},
		"in a picture":       {"CONTRIBUTING.md", "```\na[internal/b/c] --> d\n```\n", "`internal/b/c` is not there"},
		"in an indented one": {"CONTRIBUTING.md", "so:\n\n    a  internal/b, internal/c -> d\n", "`internal/c` is not there"},
		"a root's package":   {"CONTRIBUTING.md", "`go test ./hard`\n", "`hard` is not there"},
		"before a name":      {"CONTRIBUTING.md", "`cmd/all/<name>/x.go`\n", "`cmd/all` is not there"},
		"three words":        {"run/steerpickroute.go", "package run\n\n// Steer, pick and route are words.\n", "a name of 3 words"},
		"three with lines":   {"run/read_pickroute_linux.go", "package run\n\nvar pickRoute int\n", "a name of 3 words"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := maps.Clone(good())
			tree[tt.file] = &fstest.MapFile{Data: []byte(tt.content)}
			problems, err := check(tree)
			if err != nil || !strings.Contains(strings.Join(problems, "\n"), tt.want) {
				t.Errorf("problems %q, %v; want %q among them", problems, err, tt.want)
			}
		})
	}
	for name, change := range map[string][2]string{
		"dead grant":         {"`run/start.go` |", "`run/start.go`, `run/run.go` |"},
		"dead line":          {"| `net` | nowhere |", "| `net` | nowhere |\n| `golang.org/x/dead` | `run` |"},
		"dead arrow":         {"| `run` | |", "| `run`, `flight` | |\n| 2 effects | `walk` | `run` |"},
		"arrow to nowhere":   {"| 1 vocabulary | `flow` | |", "| 1 vocabulary | `flow` | `gone` |"},
		"grant to a package": {"| `net` | nowhere |", "| `net` | `run` |"},
	} {
		t.Run("table: "+name, func(t *testing.T) {
			tree := good()
			tree["ARCHITECTURE.md"] = &fstest.MapFile{Data: []byte(strings.Replace(testDoc, change[0], change[1], 1))}
			tree["walk/walk.go"] = &fstest.MapFile{Data: []byte("// Package walk is one.\npackage walk\n")}
			problems, err := check(tree)
			if err != nil || !strings.Contains(strings.Join(problems, "\n"), ": ARCHITECTURE.md lets it") {
				t.Errorf("problems %q, %v", problems, err)
			}
		})
	}
	t.Run("package gone", func(t *testing.T) {
		tree := good()
		delete(tree, "unit/unit.go")
		delete(tree, "unit/u_test.go")
		if problems, err := check(tree); err != nil || len(problems) != 1 || !strings.Contains(problems[0], "no such package") {
			t.Errorf("%v, %v", problems, err)
		}
	})
	t.Run("bounds that are kept", func(t *testing.T) {
		tree := good()
		for _, name := range []string{"run/a.go", "run/steerpick_linux_test.go", "run/route_steer.go", "run/interoperability.go", "run/b.go", "run/c.go", "run/d.go", "run/e.go", "run/f.go"} {
			tree[name] = &fstest.MapFile{Data: []byte("package run\n// Steer, pick, route.\n" + strings.Repeat("\n", 700))}
		}
		if problems, err := check(tree); err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	})
	t.Run("large package", func(t *testing.T) {
		tree := good()
		for n := range 9 {
			tree[fmt.Sprintf("run/a%d.go", n)] = &fstest.MapFile{Data: []byte("package run\n" + strings.Repeat("\n", 700))}
		}
		if problems, err := check(tree); err != nil || len(problems) != 1 || !strings.Contains(problems[0], "run: a package of 6316 lines") {
			t.Errorf("%v, %v", problems, err)
		}
	})
	t.Run("many folders", func(t *testing.T) {
		tree := good()
		for n := range 9 { // beside flow, unit, state and run
			tree[fmt.Sprintf("more%d/below/a.go", n)] = &fstest.MapFile{Data: []byte("package below\n")}
		}
		if problems, err := check(tree); err != nil || !strings.Contains(strings.Join(problems, "\n"), "13 folders at the root") {
			t.Errorf("%v, %v", problems, err)
		}
	})
	for name, doc := range map[string]string{
		"no tables":     "# nothing\n",
		"no number":     strings.Replace(testDoc, "| 0 words", "| words", 1),
		"double":        strings.Replace(testDoc, "| 2 effects | `run`", "| 2 effects | `unit`", 1),
		"no pure layer": strings.Replace(testDoc, "are pure", "are nice", 1),
	} {
		t.Run("document: "+name, func(t *testing.T) {
			tree := good()
			tree["ARCHITECTURE.md"] = &fstest.MapFile{Data: []byte(doc)}
			if problems, err := check(tree); err == nil {
				t.Errorf("accepted, with %v", problems)
			}
		})
	}
}
