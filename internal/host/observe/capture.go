package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// Names in an archive. hostFile is the netstate.Host as it was read, which is
// all that is judged: where it is there, nothing else of the archive is read.
// The rest of the tree is evidence for whoever looks at the archive by hand.
const (
	hostFile  = "linerate/host.json"
	aboutFile = "linerate/about.json"
)

// Bounds of an archive that is made.
const (
	// MostCapture is the largest archive, compressed.
	MostCapture         = 8 << 20
	mostCapturedFiles   = 30_000
	mostCapturedBytes   = 1 << 20 // of one file
	mostCaptureProblems = 100
)

// CaptureConfig says how to capture.
type CaptureConfig struct {
	Config
	// Name is what the host is called in the archive; "" is its own name.
	Name string
	// Anonymous maps addresses, hardware addresses and the host's name, and
	// leaves out the files that hold them.
	Anonymous bool
	// Version is the program's.
	Version string
}

// About is linerate/about.json of an archive.
type About struct {
	Schema    string `json:"schema"` // "linerate.capture/v1"
	Linerate  string `json:"linerate"`
	Anonymous bool   `json:"anonymous"`
	// Missing says what could not be read for the archive and why.
	Missing []string `json:"missing,omitempty"`
}

// CaptureSchema is About.Schema.
const CaptureSchema = "linerate.capture/v1"

// Archive is a captured host as a tar.gz.
type Archive struct {
	Content []byte
	Files   int
	About   About
}

// secrets are files that the patterns would take and that hold keys, or seeds
// of hashes that others must not guess.
var secrets = []string{"tcp_fastopen_key", "stable_secret", "netdev_rss_key", "fib_multipath_hash_seed"}

// secretKeys are the same as sysctls.
var secretKeys = []string{"net.ipv4.fib_multipath_hash_seed"}

// anonymousPatterns are the files without addresses or names.
var anonymousPatterns = []string{
	"proc/cpuinfo", "proc/interrupts", "proc/meminfo", "proc/net/netstat", "proc/net/snmp", "proc/net/softnet_stat",
	"proc/sys/net/core/*", "proc/sys/net/ipv4/*", "proc/sys/net/ipv6/*", "proc/sys/net/mptcp/*", "proc/sys/net/netfilter/*",
}

// Capture reads a host and packs it, in the calling thread's network
// namespace. No key, no password, no wireless network and no configuration
// file's text is in the archive. What may not be read is in About.Missing. An
// archive larger than MostCapture is made without the tree, and says so.
func Capture(ctx context.Context, cfg CaptureConfig) (Archive, error) {
	host, err := Observe(ctx, cfg.Config)
	if err != nil {
		return Archive{}, err
	}
	if cfg.Name != "" {
		host.Name = cfg.Name
	}
	for _, key := range secretKeys {
		delete(host.Sysctls, key)
	}
	c := capture{ctx: ctx, tree: os.DirFS("/"), about: About{Schema: CaptureSchema, Linerate: cfg.Version, Anonymous: cfg.Anonymous}}
	patterns := capturePatternsOf(host)
	if cfg.Anonymous {
		if host, err = Anonymous(host); err != nil {
			return Archive{}, err
		}
		patterns = anonymousPatterns
	}
	whole, err := c.pack(host, patterns, !cfg.Anonymous)
	if err != nil || len(whole.Content) <= MostCapture {
		return whole, err
	}
	c.about.Missing = []string{fmt.Sprintf("files of /proc and /sys: the archive would be %d MiB, want at most %d", len(whole.Content)>>20, MostCapture>>20)}
	return c.pack(host, nil, false)
}

// capturePatternsOf are the patterns with those of the host's own cards and
// interrupts.
func capturePatternsOf(h netstate.Host) []string {
	all := slices.Concat(capturePatterns, linkSysctlPatterns(), linkTraces)
	for _, l := range h.Links {
		if pciAddress.MatchString(l.PCI) {
			for _, p := range cardPatterns {
				all = append(all, fmt.Sprintf(p, l.PCI))
			}
		}
		if l.Device == nil {
			continue
		}
		for _, irq := range l.Device.IRQs {
			for _, p := range irqPatterns {
				all = append(all, fmt.Sprintf(p, irq.Number))
			}
		}
	}
	return all
}

type capture struct {
	ctx   context.Context
	tree  fs.FS
	about About
	seen  map[string]bool
}

func (c *capture) pack(host netstate.Host, patterns []string, traces bool) (Archive, error) {
	p := newPacker()
	c.seen = make(map[string]bool)
	for _, pattern := range patterns {
		if err := c.take(p, pattern, false); err != nil {
			return Archive{}, err
		}
	}
	if traces {
		for _, pattern := range ownerTraces() {
			if err := c.take(p, pattern, true); err != nil {
				return Archive{}, err
			}
		}
	}
	for name, document := range map[string]any{hostFile: host, aboutFile: c.about} {
		text, err := json.MarshalIndent(document, "", " ")
		if err == nil {
			err = p.add(name, append(text, '\n'))
		}
		if err != nil {
			return Archive{}, fmt.Errorf("capture: %w", err)
		}
	}
	content, err := p.close()
	return Archive{Content: content, Files: p.files, About: c.about}, err
}

// take packs the files of a pattern; empty ones where only their being there
// is to be kept.
func (c *capture) take(p *packer, pattern string, empty bool) error {
	names, err := fs.Glob(c.tree, ownNet(pattern))
	if err != nil {
		return fmt.Errorf("capture %s: %w", pattern, err)
	}
	for _, name := range names {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		as := theirNet(name)
		if c.seen[as] || slices.Contains(secrets, path.Base(name)) {
			continue
		}
		c.seen[as] = true
		if len(c.seen) > mostCapturedFiles {
			c.missing(fmt.Sprintf("files of /proc and /sys: more than %d; the rest is left out", mostCapturedFiles))
			return nil
		}
		var content []byte
		if !empty {
			var ok bool
			if content, ok = c.read(name); !ok {
				continue
			}
		}
		if err := p.add(as, content); err != nil {
			return err
		}
	}
	return nil
}

// missing notes a problem once, and not without end.
func (c *capture) missing(line string) {
	if !slices.Contains(c.about.Missing, line) && len(c.about.Missing) < mostCaptureProblems {
		c.about.Missing = append(c.about.Missing, line)
	}
}

// read is a regular file's content as it is kept; only that something may not
// be read is worth a word: a link that is down has no speed to read.
func (c *capture) read(name string) ([]byte, bool) {
	info, err := fs.Stat(c.tree, name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, false
	}
	var content []byte
	if err == nil {
		content, err = fs.ReadFile(c.tree, name)
	}
	if errors.Is(err, fs.ErrPermission) && !writeOnly(info) {
		c.missing("/" + name + ": permission denied")
	}
	if err != nil || len(content) > mostCapturedBytes {
		return nil, false
	}
	return kept(name, content), true
}

// writeOnly reports a tunable that nobody reads, such as route/flush.
func writeOnly(info fs.FileInfo) bool { return info != nil && info.Mode().Perm()&0o444 == 0 }

// ownLines are the lines that are kept of what managers write of a link: the
// rest may be leases, names of networks and whatever comes.
var ownLines = regexp.MustCompile(`(?m)^(managed|ADMIN_STATE|NETWORK_FILE)=.*$`)

// kept is the part of a file that an archive holds.
func kept(name string, content []byte) []byte {
	switch {
	case strings.HasPrefix(name, "run/NetworkManager/devices/"), strings.HasPrefix(name, "run/systemd/netif/links/"):
		return append(bytes.Join(ownLines.FindAll(content, -1), []byte("\n")), '\n')
	case strings.HasPrefix(name, pciDevices) && path.Base(name) == "config":
		// Beyond the legacy space there may be a serial number.
		return content[:min(len(content), pciLegacySize)]
	}
	return content
}
