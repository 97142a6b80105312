package ethtool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// Commands of include/uapi/linux/ethtool.h.
const (
	getSettings   = 0x01 // ETHTOOL_GSET; every driver answers, also those with ksettings
	getDriver     = 0x03 // ETHTOOL_GDRVINFO
	getStrings    = 0x1b // ETHTOOL_GSTRINGS
	getAddress    = 0x20 // ETHTOOL_GPERMADDR
	getSetInfo    = 0x37 // ETHTOOL_GSSET_INFO
	getFeatures   = 0x3a // ETHTOOL_GFEATURES
	setFeatures   = 4    // ETH_SS_FEATURES
	addressLength = 32   // MAX_ADDR_LEN
)

// Handle asks in the network namespace of the thread that opened it, and may
// then be used from any thread.
type Handle struct{ socket int }

// Open opens a socket in the calling thread's network namespace.
func Open() (*Handle, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if errors.Is(err, syscall.EAFNOSUPPORT) {
		fd, err = syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	}
	if err != nil {
		return nil, fmt.Errorf("open ethtool socket: %w", err)
	}
	return &Handle{socket: fd}, nil
}

// Close closes the socket; the handle must not be used afterwards.
func (h *Handle) Close() error { return syscall.Close(h.socket) }

// Read asks everything about the named link. kind is the link's kind as
// netlink says it ("" a device): virtual kinds report made-up speeds, which
// are not believed. Nothing needs privilege. What has no answer is in
// Info.Unknown.
func (h *Handle) Read(link, kind string) Info {
	var info Info
	unknown := func(what string, err error) {
		info.Unknown = append(info.Unknown, fmt.Sprintf("%s: %v", what, err))
	}
	if reason := speedReason(kind); reason != "" {
		info.Unknown = append(info.Unknown, reason)
	} else if answer, err := h.ask(link, getSettings, settingsSize); err != nil {
		unknown("speed", err)
	} else if info.Speed, info.Duplex = decodeSettings(answer); info.Speed == 0 {
		info.Unknown = append(info.Unknown, "speed: the driver does not say")
	}
	if answer, err := h.ask(link, getDriver, driverInfoSize); err != nil {
		unknown("driver", err)
	} else {
		info.Driver, info.Bus = decodeDriver(answer)
	}
	address := make([]byte, addressHead+addressLength)
	binary.NativeEndian.PutUint32(address[4:], addressLength)
	if err := h.call(link, getAddress, address); err != nil {
		unknown("permanent address", err)
	} else {
		info.PermanentMAC = decodeAddress(address)
	}
	var err error
	if info.Features, err = h.features(link); err != nil {
		unknown("features", err)
	}
	return info
}

func (h *Handle) features(link string) (map[string]bool, error) {
	count := make([]byte, setInfoHead+4)
	binary.NativeEndian.PutUint64(count[8:], 1<<setFeatures)
	if err := h.call(link, getSetInfo, count); err != nil {
		return nil, err
	}
	n := int(binary.NativeEndian.Uint32(count[setInfoHead:]))
	if n <= 0 || n > mostFeatures {
		return nil, fmt.Errorf("the kernel names %d of them", n)
	}
	names := make([]byte, stringsHead+n*stringSize)
	binary.NativeEndian.PutUint32(names[4:], setFeatures)
	binary.NativeEndian.PutUint32(names[8:], uint32(n))
	if err := h.call(link, getStrings, names); err != nil {
		return nil, err
	}
	size := (n + featuresPerBlock - 1) / featuresPerBlock
	blocks := make([]byte, featuresHead+size*featureBlock)
	binary.NativeEndian.PutUint32(blocks[4:], uint32(size))
	if err := h.call(link, getFeatures, blocks); err != nil {
		return nil, err
	}
	return decodeFeatures(names, blocks), nil
}

func (h *Handle) ask(link string, command uint32, size int) ([]byte, error) {
	answer := make([]byte, size)
	return answer, h.call(link, command, answer)
}

func (h *Handle) call(link string, command uint32, buffer []byte) error {
	binary.NativeEndian.PutUint32(buffer, command)
	return sys.EthtoolIoctl(h.socket, link, buffer)
}
