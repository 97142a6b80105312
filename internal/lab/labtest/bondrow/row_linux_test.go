package bondrow

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab/guest"
)

const (
	// option is one that the lab's kernels have, and that no bond of the
	// scenarios sets.
	option = "arp_missed_max"
	// row takes its place: the kernel's facts, and names that no format has.
	row = `{Name: "arp_missed_max", Attr: 30, Size: 1, Min: 1, Max: 255, Default: "2", Modes: arp, Since: "5.17", Source: "BOND_OPT_MISSED_MAX",
			Doc: "a row of the test", Proc: "ARP Missed Max",
			In: in{Netplan: {Name: "row-of-netplan"}, Networkd: {Name: "RowOfNetworkd"}, Keyfile: {}, Nmstate: {Name: "row-of-nmstate"}}}`
)

// table is where the rows are, from here.
var (
	project = filepath.Join("..", "..", "..", "..")
	table   = filepath.Join(project, "internal", "bondopt", "table.go")
)

const fabricFile = `linerate: v1
hosts:
  here:
    reach: "local:"
    network:
      version: 2
      ethernets: {d0: {}, d1: {}}
      bonds:
        bond9:
          interfaces: [d0, d1]
          parameters: {mode: active-backup, mii-monitor-interval: 100, row-of-netplan: 7}
    names: {d0: em0, d1: em1, bond9: lagg0}
    profiles: []
`

// TestOneRow: an option is read, planned, set, written, and documented by what
// its row says, and no other source names it.
func TestOneRow(t *testing.T) {
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := rowOf(t, text, option)
	without := string(text[:begin]) + string(text[end:])
	others(t, without)
	dir := t.TempDir()
	with := filepath.Join(dir, "table.go")
	write(t, with, string(text[:begin])+row+string(text[end:]))
	program, manual := build(t, dir, with, "linerate"), build(t, dir, with, "manual")
	file := filepath.Join(dir, "f.yaml")
	write(t, file, fabricFile)

	t.Run("schema", func(t *testing.T) {
		says(t, run(t, dir, program, "schema", "fabric"), `"row-of-netplan": {`, `"arp_missed_max": {`, "a row of the test (Linux 5.17)")
	})
	t.Run("docs", func(t *testing.T) {
		pages := filepath.Join(dir, "reference")
		run(t, project, manual, "reference", pages)
		says(t, read(t, filepath.Join(pages, "bondoptions.md")), "a row of the test", "`RowOfNetworkd`", "`row-of-nmstate`")
		says(t, read(t, filepath.Join(pages, "fabric.md")), "| `row-of-netplan` | integer | a row of the test (Linux 5.17) |", "netplan's row-of-netplan: a row of the test")
	})
	t.Run("render", func(t *testing.T) {
		for format, line := range map[string]string{
			"netplan": "row-of-netplan: 7", "networkd": "RowOfNetworkd=7", "ifcfg": "arp_missed_max=7", "nmkeyfile": "arp_missed_max=7",
			"nmstate": "row-of-nmstate: 7", "iproute2": "type bond arp_missed_max 7",
		} {
			says(t, run(t, dir, program, "render", file, "--to", format), line)
		}
		for _, format := range []string{"freebsd", "truenas"} {
			says(t, run(t, dir, program, "render", file, "--to", format), "row-of-netplan")
		}
		out := filepath.Join(dir, "out")
		run(t, dir, program, "render", file, "--to", "nmkeyfile", "-o", out)
		says(t, run(t, dir, program, "render", "--from", filepath.Join(out, "etc", "NetworkManager", "system-connections"), "--to", "fabric"), "row-of-netplan: 7")
	})
	t.Run("capture", func(t *testing.T) {
		root := filepath.Join(dir, "root")
		for name, text := range map[string]string{"proc/net/bonding/bond9": "Bonding Mode: fault-tolerance (active-backup)\nARP Missed Max: 9\n", "sys/class/net/bond9/ifindex": "2\n", "sys/class/net/bond9/bonding/mode": "active-backup 1\n"} {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, path, text)
		}
		says(t, run(t, dir, program, "inspect", "--root", root, "--json"), `"arp_missed_max": "9"`)
	})
	t.Run("kernel", func(t *testing.T) {
		if err := guest.Installed(); err != nil {
			t.Skip(err)
		}
		script := filepath.Join(dir, "script")
		write(t, script, `set -e
ip link add d0 type dummy
ip link add d1 type dummy
ip link add bond9 type bond mode active-backup miimon 100
ip link set d0 master bond9
ip link set d1 master bond9
ip link set bond9 up
"$0" plan f.yaml
"$0" apply f.yaml --yes --accept partner,traffic,reach,mtu --persist none --deadline 20s --no-confirm
echo "kernel: $(cat /sys/class/net/bond9/bonding/arp_missed_max)"
"$0" inspect local: --json
`)
		says(t, run(t, dir, program, "lab", "exec", "two-links", "alpha", "--back-end", "uml", "--", "sh", "-c", ". ./script", program),
			"bond9 arp_missed_max: 2 -> 7", "kernel: 7", `"arp_missed_max": "7"`)
	})
}

// rowOf is where the option's row stands in the table's text.
func rowOf(t *testing.T, text []byte, name string) (begin, end int) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "table.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if composite, ok := n.(*ast.CompositeLit); ok && len(composite.Elts) > 0 {
			first, _ := composite.Elts[0].(*ast.KeyValueExpr)
			if first != nil {
				if value, ok := first.Value.(*ast.BasicLit); ok && value.Value == strconv.Quote(name) {
					begin, end = files.Position(composite.Pos()).Offset, files.Position(composite.End()).Offset
				}
			}
		}
		return true
	})
	if end == 0 {
		t.Fatalf("the table has no row of %s", name)
	}
	return begin, end
}

// others: without its row the option is nowhere in the program's sources.
func others(t *testing.T, table string) {
	t.Helper()
	if strings.Contains(table, option) {
		t.Errorf("the table names %s outside of its row", option)
	}
	err := filepath.WalkDir(project, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != project:
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, filepath.Join("bondopt", "table.go")):
			return nil
		}
		if text := read(t, path); strings.Contains(text, option) {
			t.Errorf("%s names %s", path, option)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// build makes a program of the project with another table.
func build(t *testing.T, dir, table string, name string) string {
	t.Helper()
	place, err := filepath.Abs(filepath.Join(project, "internal", "bondopt", "table.go"))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{place: table}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	program := filepath.Join(dir, name)
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./cmd/"+name)
	cmd.Dir = project
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return program
}

// run returns all that a command says.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func says(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%.3000s", want, text)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
