package root

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// twoInterfaces are cloud servers with two interfaces in one subnet.
const twoInterfaces = `linerate: v1
hosts:
  app1:
    cloud: {provider: ibm-vpc, instance: bx2-16x64}
    network: {version: 2, ethernets: {ens5: {addresses: [10.0.1.11/24]}, ens6: {addresses: [10.0.1.12/24]}}}
  db1:
    cloud: {provider: ibm-vpc, instance: bx2-16x64}
    network: {version: 2, ethernets: {ens5: {addresses: [10.0.1.21/24]}, ens6: {addresses: [10.0.1.22/24]}}}
`

// TestErrorsOfUsers are the errors that three new users met and that did not say what
// to do, by name: what each says now, and the hint. Where a host, a firewall or a
// server is needed it is a test of its own, which is named.
func TestErrorsOfUsers(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	record, err := filepath.Abs(filepath.Join("..", "..", "..", "report", "testdata", "sample.json"))
	if err != nil {
		t.Fatal(err)
	}
	cloud := file(t, "cloud.yaml", twoInterfaces)
	typo := file(t, "typo.yaml", strings.Replace(twoInterfaces, "ibm-vpc", "ibmvpc", 1))
	instance := file(t, "instance.yaml", strings.Replace(twoInterfaces, "bx2-16x64", "bx99-foo", 1))
	blank := file(t, "blank.yaml", "linerate: v1\nhosts:\n  a:\n    reach: local:\n   network: {version: 2}\n")
	colon := file(t, "colon.yaml", "linerate: v1\nhosts:\n  a:\n    network\n      version: 2\n")
	plain := file(t, "plain.yaml", "network:\n  version: 2\n")
	failed := file(t, "failed.json", `{"schema":"linerate.record/v1","failures":[{"from":"a","to":"b","direction":"forward","streams":1,"reason":"silent","error":"connect to 10.0.0.2:5201: silent: no answer, as from a firewall that drops"}]}`)
	huge := file(t, "huge.txt", "")
	if err := os.Truncate(huge, 1<<30); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	taken := other.Addr().String()
	isRecord := []string{"this is a record", "`linerate explain " + record}
	for name, c := range map[string]struct {
		args   []string
		status int
		want   []string // of what is printed
		test   string   // that has it, in place of args
	}{
		"a login with a port, without a scheme": {args: []string{"discover", "root@h:22"}, status: console.ExitUsage, want: []string{"ssh://user@host:port"}},
		"a bare name of a host":                 {args: []string{"inspect", "db1"}, status: console.ExitUsage, want: []string{"write ssh://root@db1,", "netns:db1"}},
		"bare addresses, taken for iperf3":      {test: "internal/cmd/root/hints_linux_test.go TestBareHostsHint"},
		"a name that nobody knows, to measure":  {args: []string{"measure", "no-such-host.invalid"}, status: console.ExitUsage, want: []string{"tried as an iperf3 server", "ssh://root@no-such-host.invalid"}},
		"a name that nobody knows, by ssh":      {test: "internal/cmd/console/reach_test.go TestSSHHints"},
		"YAML: one blank too few":               {args: []string{"predict", blank}, status: console.ExitUsage, want: []string{"blank.yaml:4:", "begin in one column"}},
		"YAML: a colon forgotten":               {args: []string{"predict", colon}, status: console.ExitUsage, want: []string{"colon.yaml:", "ends with a colon"}},
		"a file that is no fabric":              {args: []string{"predict", plain}, status: console.ExitUsage, want: []string{"this is a netplan file", "hint: "}},
		"a scheme misspelt":                     {args: []string{"inspect", "shh://root@a"}, status: console.ExitUsage, want: []string{"no such way to a host", "write ssh://root@a"}},
		"a scheme without its colon":            {args: []string{"measure", "ssh://root@a", "ssh//root@b"}, status: console.ExitUsage, want: []string{"write ssh://root@b"}},
		"no such record":                        {args: []string{"explain", "none.json"}, status: console.ExitUsage, want: []string{"no such file", "check the name"}},
		"no such fabric":                        {args: []string{"plan", "none.yaml"}, status: console.ExitUsage, want: []string{"no such file", "`linerate discover ssh://root@HOST"}},
		"a record to predict":                   {args: []string{"predict", record}, status: console.ExitUsage, want: isRecord},
		"a record to plan":                      {args: []string{"plan", record}, status: console.ExitUsage, want: isRecord},
		"a record to apply":                     {args: []string{"apply", record, "--yes"}, status: console.ExitUsage, want: isRecord},
		"a record to tune":                      {args: []string{"tune", record, "--yes"}, status: console.ExitUsage, want: isRecord},
		"a record to render":                    {args: []string{"render", record, "--to", "netplan"}, status: console.ExitUsage, want: isRecord},
		"a record to measure":                   {args: []string{"measure", record}, status: console.ExitUsage, want: []string{"no fabric", "`linerate explain " + record}},
		"a fabric to report":                    {args: []string{"compare", cloud, cloud}, status: console.ExitUsage, want: []string{"this is a fabric", "`linerate measure " + cloud + " -o record.json`"}},
		"tune behind a firewall":                {args: []string{"tune", cloud, "--ports", "x", "--yes"}, status: console.ExitUsage, want: []string{"--ports"}},
		"ports behind a firewall":               {test: "internal/cmd/console/hints_test.go TestHintsOfWhatIsBarred"},
		"explain of what failed":                {args: []string{"explain", failed}, status: console.ExitDone, want: []string{"a to b: no result:", "--ports 5201-5216"}},
		"ports to pick without a bond":          {test: "internal/cmd/steer/steer_test.go TestNoBondHint"},
		"nothing to roll back here":             {args: []string{"rollback", "--journal", t.TempDir()}, status: console.ExitUsage, want: []string{"`linerate rollback FABRIC`"}},
		"an MTU that does not pass":             {test: "internal/cmd/change/hints_test.go TestRolledBackHint"},
		"two more links in a cloud":             {args: []string{"predict", cloud, "--what-if", "links=4"}, status: console.ExitDone, want: []string{"ens0", "app1"}},
		"a provider misspelt":                   {args: []string{"predict", typo}, status: console.ExitUsage, want: []string{"nearest: ibm-vpc"}},
		"an instance that there is not":         {args: []string{"predict", instance}, status: console.ExitUsage, want: []string{`unknown instance type "bx99-foo"`, "cloud.bandwidth"}},
		"an address on lo":                      {test: "internal/run/campaign/named_linux_test.go TestKernelA1LoopbackIsNoLink"},
		"a token that says 127.0.0.1":           {test: "internal/cmd/root/hints_linux_test.go TestTokenNamesItsServer"},
		"a port that is in use":                 {test: "internal/cmd/root/hints_linux_test.go TestTokenNamesItsServer"},
		"a role that is lacked":                 {test: "internal/cmd/console/hints_test.go TestRoleHint"},
		"nobody enrolled here":                  {test: "internal/cmd/root/hints_linux_test.go TestHintsOfTargets"},
		"one device of several":                 {test: "internal/run/campaign/named_linux_test.go TestKernelA2DevicePairsWhatItReaches"},
		"a directory that there is not":         {args: []string{"report", record, "-o", filepath.Join(t.TempDir(), "none", "r.html")}, status: console.ExitUsage, want: []string{"no directory", "mkdir -p"}},
		"a week":                                {args: []string{"compare", record, "--since", "week"}, status: console.ExitUsage, want: []string{"such as 30d"}},
		"a login, to measure":                   {args: []string{"measure", "ann@no-such-host.invalid"}, status: console.ExitUsage, want: []string{"log in to is ssh://ann@no-such-host.invalid,"}},
		"a huge text":                           {args: []string{"explain", huge}, status: console.ExitUsage, want: []string{"256 MiB", "head -c"}},
		"a change on paper without a value":     {args: []string{"predict", cloud, "--what-if", "mtu"}, status: console.ExitUsage, want: []string{"write mtu=VALUE"}},
		"credentials that there are not":        {args: []string{"inspect", "nats:db1", "--nats", "tls://127.0.0.1:1", "--creds", filepath.Join(t.TempDir(), "none")}, status: console.ExitUnreachable, want: []string{"no such file", "`linerate enroll TOKEN`"}},
		"a web page at a port that is in use":   {args: []string{"serve", "--listen", "127.0.0.1:0", "--state", t.TempDir() + "/s", "--store", t.TempDir() + "/h.db", "--web", taken}, status: console.ExitFailed, want: []string{"another program has the port", "--web takes another"}},
		"a server at a port that is in use":     {args: []string{"serve", "--listen", taken, "--state", t.TempDir() + "/s"}, status: console.ExitFailed, want: []string{"another program has the port", "--listen takes another"}},
		"an unknown flag":                       {args: []string{"tune", cloud, "--port", "1"}, status: console.ExitUsage, want: []string{"hint: "}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.test != "" {
				testIsThere(t, filepath.Join("..", "..", ".."), c.test)
				return
			}
			o := run(t, "", c.args...)
			said := o.stdout + o.stderr
			if o.status != c.status {
				t.Errorf("exit %d, want %d: %s", o.status, c.status, said)
			}
			for _, want := range c.want {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not said:\n%s", want, said)
				}
			}
			if o.status != console.ExitDone && !strings.Contains(o.stderr, "\nhint: ") {
				t.Errorf("no hint: %s", o.stderr)
			}
		})
	}
}

// testIsThere demands a test, as FILE NAME, in the project's directory.
func testIsThere(t *testing.T, project, what string) {
	t.Helper()
	name, function, _ := strings.Cut(what, " ")
	text, err := fs.ReadFile(os.DirFS(project), name)
	if err != nil || !strings.Contains(string(text), "func "+function+"(t *testing.T)") {
		t.Errorf("%s has no %s: %v", name, function, err)
	}
}
