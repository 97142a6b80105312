package observe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"

	"github.com/linerate/linerate/internal/host/openvswitch"
	"github.com/linerate/linerate/internal/kernel/ethtool"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/netstate"
)

// live assembles a host; note adds to what is missing.
type live struct {
	host netstate.Host
	log  *slog.Logger
}

func (o *live) note(what string, err error) {
	if err == nil {
		return
	}
	o.log.Warn("observe host", "what", what, "err", err)
	o.host.Missing = append(o.host.Missing, fmt.Sprintf("%s: %v", what, err))
}

func observeLive(ctx context.Context, cfg Config) (netstate.Host, error) {
	o := &live{log: cfg.logger()}
	o.machine()
	if err := o.links(ctx); err != nil {
		return netstate.Host{}, fmt.Errorf("observe host: %w", err)
	}
	bonds, err := openvswitch.Bonds(ctx, openvswitch.Dir())
	o.note("bonds of Open vSwitch", err)
	addOpenVSwitch(&o.host, bonds)
	tree := os.DirFS("/")
	o.host.Cards = addCards(tree, o.host.Links)
	placeDevices(tree, o.host.Links, ownEntry)
	o.bondPorts(tree)
	o.hardware(tree)
	o.sysctls(cfg.Sysctls)
	o.counts()
	o.mptcp()
	if netns.Inside() {
		// Whoever manages the host's network leaves other namespaces alone, and
		// what a provider limits is the first one's.
		o.host.Cloud = nil
		return o.host, ctx.Err()
	}
	lives := programs()
	o.host.Owners = findOwners(tree, lives)
	ownLinks(tree, o.host.Links, lives)
	return o.host, ctx.Err()
}

func (o *live) machine() {
	var err error
	o.host.Name, err = os.Hostname()
	o.note("host name", err)
	o.host.Kernel, err = uname()
	o.note("kernel", err)
	cpu, err := procfs.ReadCPUInfo()
	o.note("processors", err)
	o.host.CPU = netstate.CPU{Cores: cpu.Threads, Model: cpu.Model}
}

func uname() (netstate.Kernel, error) {
	k := netstate.Kernel{OS: "linux", BigEndian: binary.NativeEndian.Uint16([]byte{1, 0}) != 1}
	var u syscall.Utsname
	if err := syscall.Uname(&u); err != nil {
		return k, fmt.Errorf("uname: %w", err)
	}
	k.Release, k.Arch = cString(u.Release[:]), cString(u.Machine[:])
	return k, nil
}

// cString reads a field of struct utsname, whose characters are signed on
// some architectures.
func cString[T int8 | uint8](field []T) string {
	var b strings.Builder
	for _, c := range field {
		if c == 0 {
			break
		}
		b.WriteByte(byte(c))
	}
	return b.String()
}

func (o *live) links(ctx context.Context) error {
	h, err := rtnl.Open()
	if err != nil {
		return err
	}
	defer h.Close()
	reading, err := h.Read()
	if err != nil {
		return err
	}
	o.host.Links = reading.Links
	o.host.Missing = append(o.host.Missing, reading.Missing...)
	o.host.Routes, err = h.Routes()
	o.note("routes", err)
	o.host.Rules, err = h.Rules()
	o.note("rules", err)
	drivers, err := ethtool.Open()
	if err != nil {
		o.note("drivers", err)
		return nil
	}
	defer drivers.Close()
	for i := range o.host.Links {
		if err := ctx.Err(); err != nil {
			return err
		}
		o.driver(drivers, &o.host.Links[i])
	}
	return nil
}

// driver adds what ethtool and sysfs know of a link.
func (o *live) driver(drivers *ethtool.Handle, l *netstate.Link) {
	if l.Kind == "loopback" {
		return
	}
	info := drivers.Read(l.Name, l.Kind)
	l.Speed, l.Duplex, l.Driver, l.Offloads = info.Speed, info.Duplex, info.Driver, info.Features
	if !reflect.ValueOf(info.Device).IsZero() {
		l.Device = &info.Device
	}
	if l.PermanentMAC.IsZero() {
		l.PermanentMAC = info.PermanentMAC
	}
	for _, line := range info.Unknown {
		o.log.Debug("observe link", "link", l.Name, "unknown", line)
		// A virtual link has no speed and no bus by its nature; that is no gap.
		if l.Kind == "" {
			o.host.Missing = append(o.host.Missing, l.Name+": "+line)
		}
	}
	if l.Kind != "" || l.PCI != "" {
		return
	}
	if pciAddress.MatchString(info.Bus) {
		l.PCI = info.Bus
		return
	}
	device, err := devicePath(*l)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	o.note(l.Name+": device", err)
	l.PCI = pciOf(device)
}

// errOtherNamespace is an entry of sysfs that is not the link's own.
var errOtherNamespace = errors.New("/sys shows another network namespace")

// devicePath resolves a link's device in sysfs. sysfs shows the namespace of
// whoever mounted it, so the entry is believed only when index and address
// are the link's.
func devicePath(l netstate.Link) (string, error) {
	dir := "/sys/class/net/" + l.Name
	for file, want := range map[string]string{"ifindex": strconv.Itoa(l.Index), "address": l.MAC.String()} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			return "", errOtherNamespace
		}
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(string(text)) != want {
			return "", errOtherNamespace
		}
	}
	return filepath.EvalSymlinks(dir + "/device")
}

// sysctls reads the table and the keys that were asked for. Global keys that this namespace does not show are
// read from the process's own.
func (o *live) sysctls(more []string) {
	keys := append(sysctlKeys(o.host.Links), more...)
	values, err := sysctl.Read(keys...)
	o.note("sysctls", err)
	if values == nil {
		return
	}
	var global []string
	for _, key := range keys {
		if _, seen := values[key]; !seen && sysctl.ScopeOf(key) == netstate.ScopeGlobal {
			global = append(global, key)
		}
	}
	if len(global) > 0 {
		// A new goroutine never runs on this goroutine's locked thread.
		found := make(chan map[string]netstate.Sysctl, 1)
		go func() {
			values, _ := sysctl.Read(global...)
			found <- values
		}()
		maps.Copy(values, <-found)
	}
	withoutSameMTU(values, o.host.Links, more)
	o.host.Sysctls = values
}
