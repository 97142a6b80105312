package steer

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// trunked is two hosts, the second with a bond of two links, at two switches with a trunk of
// four links: bonding's own hash everywhere.
const trunked = `linerate: v1
hosts:
  a: {network: {ethernets: {eth0: {addresses: [10.0.0.1/24]}}}, hardware: {links: {eth0: {speed: 40G}}}}
  b:
    network:
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.0.0.2/24], parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4}}}
    hardware: {links: {eth0: {speed: 25G}, eth1: {speed: 25G}}}
switches:
  left:
    system: linux
    hash: TRUNK
    ports:
      p0: {host: a, link: eth0}
      t0: {switch: right, port: t0, speed: 10G}
      t1: {switch: right, port: t1, speed: 10G}
      t2: {switch: right, port: t2, speed: 10G}
      t3: {switch: right, port: t3, speed: 10G}
    channels: {bond0: {members: [t0, t1, t2, t3], mode: lacp}}
  right:
    system: linux
    hash: layer3+4
    ports:
      q0: {host: b, link: eth0}
      q1: {host: b, link: eth1}
    channels: {po1: {members: [q0, q1], mode: lacp}}
paths:
  - {between: [a, b]}
`

func picked(t *testing.T, file string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fabric.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	con := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
	c := New(con)
	c.SetArgs(append([]string{"pick", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--fabric", path}, args...))
	con.JSON = true
	if err := c.Execute(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return out.String()
}

// TestPickOverSwitches: ports that are even on the trunk between two switches, on the links
// to the receiver and on the way back; a hash that nobody can compute is said.
func TestPickOverSwitches(t *testing.T) {
	type document struct {
		Streams    int     `json:"streams"`
		Even       bool    `json:"even"`
		Between    [][]int `json:"between_per_link"`
		FarPerLink []int   `json:"far_per_link"`
		Why        string  `json:"why"`
		Ports      []int   `json:"ports"`
	}
	var got document
	read := func(hash string, args ...string) {
		t.Helper()
		got = document{}
		if err := json.Unmarshal([]byte(picked(t, strings.ReplaceAll(trunked, "TRUNK", hash), args...)), &got); err != nil {
			t.Fatal(err)
		}
	}
	read("layer3+4")
	if !got.Even || got.Streams != 4 || len(got.Between) != 1 || len(got.Between[0]) != 4 || len(got.FarPerLink) != 2 {
		t.Errorf("layer3+4: %+v", got)
	}
	for _, n := range got.Between[0] {
		if n != 1 {
			t.Errorf("layer3+4: %v on the trunk", got.Between[0])
		}
	}
	for _, n := range got.FarPerLink {
		if n != 2 {
			t.Errorf("layer3+4: %v to b", got.FarPerLink)
		}
	}
	read("layer2+3")
	if got.Even || !strings.Contains(got.Why, "between switches") || !strings.Contains(got.Why, "left t0") {
		t.Errorf("layer2+3: %+v", got)
	}
	read("src-dst-ip-port", "--streams", "2")
	if got.Even || !strings.Contains(got.Why, "not computable") || got.FarPerLink[0] != 1 {
		t.Errorf("a hash whose function nobody knows: %+v", got)
	}
}
