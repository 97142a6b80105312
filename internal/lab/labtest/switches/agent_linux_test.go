package switches

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/evidence/switchcount"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/switchwatch/snmp"
)

func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("left out without root: a namespace of its own")
	}
	if testing.Short() {
		t.Skip("left out by -short: starts servers in namespaces")
	}
}

// program is a server's path; the test is skipped where it is not installed.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"/usr/sbin", "/usr/bin", "/sbin"} {
		if path := filepath.Join(dir, name); exists(path) {
			return path
		}
	}
	t.Skipf("there is no %s here: make deps-snmp installs it", name)
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// in starts a command in a namespace and ends it with the test.
func in(t *testing.T, ns netns.Namespace, c *exec.Cmd) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	floor.Must(t, ns.DoWithSysfs(c.Start))
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return &out
}

const community = "t0p-s3cret"

// agent is snmpd in a namespace, on all of its addresses.
func agent(t *testing.T, space floor.Space, more ...string) {
	t.Helper()
	path, dir := program(t, "snmpd"), t.TempDir()
	floor.Must(t, space.Builder.Up("lo"))
	lines := append([]string{
		"rocommunity " + community, "agentaddress udp:161", "sysName leaf",
		"createUser watcher SHA-256 auth-passw0rd AES priv-passw0rd", "rouser watcher priv",
	}, more...)
	floor.Must(t, os.WriteFile(filepath.Join(dir, "snmpd.conf"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	c := exec.Command(path, "-f", "-C", "-c", filepath.Join(dir, "snmpd.conf"), "-Lo", "-m", "", "-M", "", "-I", "-smux")
	c.Env = append(os.Environ(), "SNMP_PERSISTENT_DIR="+dir)
	out := in(t, space.NS, c)
	deadline := time.Now().Add(20 * time.Second)
	for {
		client, err := dial(space.NS, snmp.Access{Community: community})
		if err == nil {
			_, err = client.Describe(t.Context())
			_ = client.Close()
		}
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("snmpd does not answer: %v\n%s", err, out)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func dial(ns netns.Namespace, a snmp.Access) (client *snmp.Client, err error) {
	err = ns.Do(func() error {
		client, err = snmp.Dial(context(), "127.0.0.1", 161, a)
		return err
	})
	return client, err
}

// kernelCounters are `ip -s link`'s of a namespace's link.
func kernelCounters(t *testing.T, ns netns.Namespace, link string) (rx, tx uint64) {
	t.Helper()
	out, err := exec.Command("ip", "-n", ns.Name, "-j", "-s", "link", "show", link).Output()
	floor.Must(t, err)
	var links []struct {
		Stats struct{ Rx, Tx struct{ Bytes uint64 } } `json:"stats64"`
	}
	floor.Must(t, json.Unmarshal(out, &links))
	return links[0].Stats.Rx.Bytes, links[0].Stats.Tx.Bytes
}

// send puts datagrams on the link of an address.
func send(t *testing.T, ns netns.Namespace, to string, count, size int) {
	t.Helper()
	floor.Must(t, ns.Do(func() error {
		conn, err := net.Dial("udp", to+":9")
		if err != nil {
			return err
		}
		defer conn.Close()
		for sent := 0; sent < count; {
			if _, err := conn.Write(make([]byte, size)); err == nil { // else the refusal of one before: nobody listens
				sent++
			}
		}
		return nil
	}))
}

// read waits out the agent's cache: what it says is current then.
func read(t *testing.T, c *snmp.Client) switchcount.Reading {
	t.Helper()
	time.Sleep(cached)
	r, err := c.Read(t.Context())
	floor.Must(t, err)
	return r
}

// cached is longer than net-snmp keeps what it read of the kernel (nsCacheTimeout: 3 s),
// and tells it again.
const cached = 6500 * time.Millisecond

func netInterface(name string) (int, error) {
	l, err := net.InterfaceByName(name)
	if err != nil {
		return 0, err
	}
	return l.Index, nil
}

// hardwareAddress is a link's, as twelve digits.
func hardwareAddress(name string) (string, error) {
	l, err := net.InterfaceByName(name)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(l.HardwareAddr), nil
}
