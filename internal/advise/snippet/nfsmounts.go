package snippet

import (
	"fmt"
	"net/netip"
	"path"
	"strings"

	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/plaintext"
)

// NFSVersion is an NFS version as the mount option vers has it. Zero is 4.2.
type NFSVersion uint8

// The versions that differ in how mounts share connections.
const (
	NFS42 NFSVersion = iota
	NFS41
	NFS40
	NFS3
)

// nfsVersionWords is the one table of version words, indexed by version.
var nfsVersionWords = [...]string{"4.2", "4.1", "4.0", "3"}

// String is the word of the mount option.
func (v NFSVersion) String() string { return wordOf(nfsVersionWords[:], int(v)) }

// MarshalText writes the word of the mount option.
func (v NFSVersion) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the word of the mount option.
func (v *NFSVersion) UnmarshalText(b []byte) error {
	i, err := indexOf("NFS version", nfsVersionWords[:], string(b))
	*v = NFSVersion(i)
	return err
}

// NFSMounts mounts one export once for each server address, each time another
// sub-directory of it: two mounts never write one file.
type NFSMounts struct {
	// Export is the path that the server exports.
	Export string
	// Point is the directory under which the mount points lie.
	Point   string
	Servers []netip.Addr
	Version NFSVersion
}

// NFSMount is one mount.
type NFSMount struct {
	// Source and Dir are mount(8)'s arguments, Subdir the directory of the
	// export that must exist before.
	Source, Dir, Subdir string
	Options             string
}

// Mounts lists the mounts in the order of the servers.
func (m NFSMounts) Mounts() []NFSMount {
	var out []NFSMount
	for i, s := range m.Servers {
		lane := fmt.Sprintf("lane%d", i)
		sub := path.Join(m.Export, lane)
		out = append(out, NFSMount{Source: mountHost(s) + ":" + sub, Dir: path.Join(m.Point, lane), Subdir: sub, Options: m.options(s)})
	}
	return out
}

// options are the mount options for one server address. From NFS 4.1 on, the
// client sees that two addresses are one server and puts both mounts on the
// first one's connection unless max_connect allows it more (Linux 5.15); it
// then sends the requests of either mount over all of them in turn. Versions
// 4.0 and 3 have a connection for each server address.
func (m NFSMounts) options(server netip.Addr) string {
	proto := "tcp"
	if is6(server) {
		proto = "tcp6"
	}
	words := []string{"vers=" + m.Version.String(), "proto=" + proto}
	switch m.Version {
	case NFS42, NFS41:
		words = append(words, fmt.Sprintf("max_connect=%d", min(max(len(m.Servers), 1), workload.MostNFS)))
	case NFS3:
		words = append(words, "mountproto="+proto)
	}
	return strings.Join(words, ",")
}

// Prepare is the command that makes the sub-directories on the server.
func (m NFSMounts) Prepare() []string {
	line := "mkdir -p"
	for _, one := range m.Mounts() {
		line += " " + plaintext.ShellWord(one.Subdir)
	}
	return []string{line}
}

// Commands are the client's commands.
func (m NFSMounts) Commands() []string {
	var lines []string
	for _, one := range m.Mounts() {
		lines = append(lines, "mkdir -p "+plaintext.ShellWord(one.Dir),
			fmt.Sprintf("mount -t nfs -o %s %s %s", one.Options, plaintext.ShellWord(one.Source), plaintext.ShellWord(one.Dir)))
	}
	return lines
}

// Fstab are the client's lines of /etc/fstab.
func (m NFSMounts) Fstab() []string {
	var lines []string
	for _, one := range m.Mounts() {
		lines = append(lines, fmt.Sprintf("%s %s nfs %s,_netdev 0 0", fstabWord(one.Source), fstabWord(one.Dir), one.Options))
	}
	return lines
}

// Check are commands that count the connections to each server address.
func (m NFSMounts) Check() []string {
	words := make([]string, len(m.Servers))
	for i, s := range m.Servers {
		words[i] = s.String()
	}
	return []string{
		"linerate steer addresses --check " + strings.Join(words, ","),
		"ss -tn state established dport = :2049",
	}
}

// fstabWord escapes what ends a field of fstab(5).
func fstabWord(s string) string {
	return strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`).Replace(s)
}

// Datastores are the esxcli commands of an ESXi host: a datastore of NFS 3 for each
// server address, which has a connection of its own. Their names begin with the
// mount point's.
func (m NFSMounts) Datastores() []string {
	var lines []string
	for _, n := range m.Mounts() {
		host, share, _ := strings.Cut(n.Source, ":/")
		lines = append(lines, fmt.Sprintf("esxcli storage nfs add -H %s -s %s -v %s",
			plaintext.ShellWord(host), plaintext.ShellWord("/"+share), plaintext.ShellWord(path.Base(m.Point)+"-"+path.Base(n.Dir))))
	}
	return lines
}
