package othertext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// ClusterStorage reads how a cluster mounts or moves its data: mountOptions of a
// StorageClass or PersistentVolume (a mount of the host that nobody names), the migration
// of Proxmox's datacenter.cfg ("config datacenter"), and the SMB client's own account of
// its channels, /proc/fs/cifs/DebugData ("smb client").
var ClusterStorage = piece.Reader{
	Kind:     "storage of a cluster",
	Commands: []string{"cat", "kubectl"},
	Starts: func(line string) bool {
		return classKind.MatchString(line) || strings.HasPrefix(line, "apiVersion: storage.k8s.io/") || migrationSetting.MatchString(line) || strings.HasPrefix(line, cifsHead)
	},
	Owns: func(s piece.Segment, line string) bool {
		return strings.Contains(s.Command+s.Path, "/fs/cifs/DebugData") && cifsAny.MatchString(line)
	},
	Read: reading(readClusterStorage),
}

const cifsHead = "Display Internal CIFS Data Structures"

var classKind = piece.Compile(`^kind: (?:StorageClass|PersistentVolume)\s*$`)

var migrationSetting = piece.Compile(`^migration: (\S+)$`)

var yamlPair = piece.Compile(`^(\s*)(?:- )?([A-Za-z][\w./-]*): ?(.*)$`)

var yamlItem = piece.Compile(`^\s*- ([^:\s]+)$`)

func readClusterStorage(s *sink, lines []piece.Line) int {
	switch first := lines[0].Text; {
	case migrationSetting.MatchString(first):
		return s.migration(lines[:1])
	case classKind.MatchString(first) || strings.HasPrefix(first, "apiVersion:"):
		return s.storageClass(lines)
	}
	return s.cifsChannels(lines)
}

// migration notes how Proxmox sends a guest's memory: "secure" is through SSH, and so it
// is where only the network is set.
func (s *sink) migration(lines []piece.Line) int {
	kind := "secure"
	for _, w := range strings.Split(migrationSetting.FindStringSubmatch(lines[0].Text)[1], ",") {
		key, value, pair := strings.Cut(w, "=")
		switch {
		case !pair || key == "type":
			kind = strings.TrimPrefix(w, "type=")
		case key == "network":
			s.Set("config datacenter", "migration_network", value, lines[0])
		}
	}
	s.Set("config datacenter", "migration", kind, lines[0])
	s.Set("host", "system", "proxmox", lines[0])
	return 1
}

// storageClass reads one document to its end.
func (s *sink) storageClass(lines []piece.Line) (read int) {
	kind, name, driver, above, server, share := "", "", "", "", "", ""
	options := make(map[string]string)
	at := lines[0].Source()
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		pair, item := yamlPair.FindStringSubmatch(l.Text), yamlItem.FindStringSubmatch(l.Text)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
			continue
		case item != nil && above == "mountOptions":
			key, value, _ := strings.Cut(item[1], "=")
			options[key] = value
			at.To = l.Number
		case item != nil:
		case pair != nil:
			value := strings.Trim(pair[3], `"'`)
			if value == "" {
				above = pair[2]
			}
			switch pair[2] {
			case "kind":
				if pair[1] == "" {
					kind = value
				}
			case "name":
				if above == "metadata" {
					name = value
				}
			case "provisioner", "driver":
				driver = value
			case "nfs":
				driver = "nfs"
			case "server":
				server = value
			case "share", "path":
				share = value
			}
		}
		if pair == nil && item == nil {
			break
		}
		read = i + 1
	}
	if kind != "StorageClass" && kind != "PersistentVolume" || !strings.Contains(driver, "nfs") {
		return 0
	}
	m := piece.Mount{Device: server + ":" + share, Path: kind + " " + name, Kind: "nfs", Options: options, Source: at}
	for _, key := range []string{"nfsvers", "vers"} {
		if strings.HasPrefix(options[key], "4") {
			m.Kind = "nfs4"
		}
	}
	s.Host.Mounts = append(s.Host.Mounts, m)
	return read
}

var cifsAny = piece.Compile(`^\s*(?:\d+\)\s|Display Internal|-{5,}|CIFS Version|Features:|CIFSMaxBufSize|Active VFS|Servers:|ClientGUID:|Number of credits|RDMA|TCP status|Local Users|In Send|Sessions:|Server interfaces:|Extra Channels:|Channel:|Speed:|Capabilities:|IPv[46]:|Weight |Shares:|User:|Security type|Server capabilities|MIDs|Primary channel|Share Capabilities|Share Flags|tid:|PathComponentMax|Smb|\[CONNECTED\]|\[RECONNECTING\]|--$|Path|Address:|Path:|SMBDirect|Compression|DISCONNECTED|Protocol|Max|Min|Debug|Conn|PID|In Flight|Last)`)

var cifsCount = piece.Compile(`^\s*(Server interfaces|Extra Channels): (\d+)`)

// cifsChannels counts over all sessions, as the newest kernels and those before print it:
// extra channels stand there only where there are some (fs/smb/client/cifs_debug.c).
func (s *sink) cifsChannels(lines []piece.Line) (read int) {
	interfaces, extra, rss, servers := 0, 0, 0, 0
	at := lines[0]
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if !cifsAny.MatchString(l.Text) {
			break
		}
		if m := cifsCount.FindStringSubmatch(l.Text); m != nil {
			if at = l; m[1] == "Extra Channels" {
				extra += max(piece.Atoi(m[2]), 0)
			} else {
				interfaces += max(piece.Atoi(m[2]), 0)
			}
		}
		if strings.Contains(text, "Hostname:") {
			servers++
		}
		if strings.HasPrefix(text, "Capabilities:") && strings.Contains(text, "rss") {
			rss++
		}
		read = i + 1
	}
	if servers != 1 || interfaces == 0 {
		return read // of several servers nobody knows which is meant
	}
	s.Set("smb client", "server_interfaces", strconv.Itoa(interfaces), at)
	s.Set("smb client", "extra_channels", strconv.Itoa(extra), at)
	s.Set("smb client", "rss_interfaces", strconv.Itoa(rss), at)
	return read
}
