package ethtool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
)

// Commands of include/uapi/linux/ethtool.h.
const (
	getSettings   = 0x01 // ETHTOOL_GSET; every driver answers, also those with ksettings
	getDriver     = 0x03 // ETHTOOL_GDRVINFO
	getCoalesce   = 0x0e // ETHTOOL_GCOALESCE
	getRings      = 0x10 // ETHTOOL_GRINGPARAM
	getPause      = 0x12 // ETHTOOL_GPAUSEPARAM
	getStrings    = 0x1b // ETHTOOL_GSTRINGS
	getStatistics = 0x1d // ETHTOOL_GSTATS
	getAddress    = 0x20 // ETHTOOL_GPERMADDR
	getSetInfo    = 0x37 // ETHTOOL_GSSET_INFO
	getFeatures   = 0x3a // ETHTOOL_GFEATURES
	getChannels   = 0x3c // ETHTOOL_GCHANNELS
	getLinkModes  = 0x4c // ETHTOOL_GLINKSETTINGS
	setStatistics = 1    // ETH_SS_STATS
	setFeatures   = 4    // ETH_SS_FEATURES
	addressLength = 32   // MAX_ADDR_LEN
)

// spareNames is room for names and counters that a device may get between two
// questions, with queues that somebody adds: the kernel writes as many as it
// has then, whatever it was asked for (ethtool_get_strings, ethtool_get_stats).
const spareNames = 2048

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
		info.Driver, info.Bus, info.Device.Firmware = decodeDriver(answer)
	}
	address := make([]byte, addressHead+addressLength)
	binary.NativeEndian.PutUint32(address[4:], addressLength)
	if err := h.call(link, getAddress, address); err != nil {
		unknown("permanent address", err)
	} else {
		info.PermanentMAC = decodeAddress(address)
	}
	states, err := h.features(link)
	if err != nil {
		unknown("features", err)
	} else {
		info.Features, info.Device.Fixed = decodeFeatures(states), decodeFixed(states)
	}
	h.device(link, kind, &info)
	return info
}

// device asks what not every device has: that one has none is no gap.
func (h *Handle) device(link, kind string, info *Info) {
	d := &info.Device
	note := func(what string, err error) {
		if err != nil && !errors.Is(err, syscall.EOPNOTSUPP) && !errors.Is(err, syscall.ENODEV) {
			info.Unknown = append(info.Unknown, fmt.Sprintf("%s: %v", what, err))
		}
	}
	var err error
	if kind == "" {
		var m modes
		m, err = h.modes(link)
		note("link modes", err)
		d.Autoneg, d.FastestOwn, d.FastestPartner = m.autoneg, m.own, m.partner
	}
	d.Rings, err = h.Rings(link)
	note("rings", err)
	d.Channels, err = h.Channels(link)
	note("channels", err)
	d.Coalescing, err = h.Coalescing(link)
	note("interrupt moderation", err)
	d.Pause, err = h.Pause(link)
	note("pause", err)
	d.Statistics, err = h.statistics(link, trouble)
	note("driver's counters", err)
}

// Rings reads a link's descriptor rings; nil with no error where the device
// says it has none. A driver that knows no rings is EOPNOTSUPP, which is
// errors.ErrUnsupported; so for the three below.
func (h *Handle) Rings(link string) (*netstate.Rings, error) {
	answer, err := h.ask(link, getRings, ringsSize)
	if err != nil {
		return nil, fmt.Errorf("read rings of %s: %w", link, err)
	}
	return decodeRings(answer), nil
}

// Channels reads a link's channels.
func (h *Handle) Channels(link string) (*netstate.Channels, error) {
	answer, err := h.ask(link, getChannels, channelsSize)
	if err != nil {
		return nil, fmt.Errorf("read channels of %s: %w", link, err)
	}
	return decodeChannels(answer), nil
}

// Coalescing reads a link's interrupt moderation by the names of CoalesceNames.
// Left out are zeros, but for the times and the adaptive switches.
func (h *Handle) Coalescing(link string) (map[string]int, error) {
	answer, err := h.ask(link, getCoalesce, coalesceSize)
	if err != nil {
		return nil, fmt.Errorf("read interrupt moderation of %s: %w", link, err)
	}
	return decodeCoalesce(answer), nil
}

// Pause reads a link's flow control.
func (h *Handle) Pause(link string) (*netstate.Pause, error) {
	answer, err := h.ask(link, getPause, pauseSize)
	if err != nil {
		return nil, fmt.Errorf("read pause of %s: %w", link, err)
	}
	return decodePause(answer), nil
}

// modes asks twice: the first answer says how long the masks are.
func (h *Handle) modes(link string) (modes, error) {
	head, err := h.ask(link, getLinkModes, linkSettingsSize)
	if err != nil {
		return modes{}, err
	}
	words := -int(int8(head[linkSettingsWords]))
	if words <= 0 || words > mostModeWords {
		return modes{}, fmt.Errorf("the kernel names masks of %d words", words)
	}
	answer := make([]byte, linkSettingsSize+3*words*4)
	answer[linkSettingsWords] = byte(words)
	if err := h.call(link, getLinkModes, answer); err != nil {
		return modes{}, err
	}
	return decodeModes(answer), nil
}

// names asks for a set of names: how many there are, and the answer to
// ETHTOOL_GSTRINGS.
func (h *Handle) names(link string, set uint32, most int) (int, []byte, error) {
	count := make([]byte, setInfoHead+4)
	binary.NativeEndian.PutUint64(count[8:], 1<<set)
	if err := h.call(link, getSetInfo, count); err != nil {
		return 0, nil, err
	}
	if binary.NativeEndian.Uint64(count[8:]) == 0 {
		return 0, nil, nil // the device has no such set
	}
	n := int(binary.NativeEndian.Uint32(count[setInfoHead:]))
	if n < 0 || n > most {
		return 0, nil, fmt.Errorf("the kernel names %d of them", n)
	}
	if n == 0 {
		return 0, nil, nil
	}
	names := make([]byte, stringsHead+(n+spareNames)*stringSize)
	binary.NativeEndian.PutUint32(names[4:], set)
	binary.NativeEndian.PutUint32(names[8:], uint32(n))
	if err := h.call(link, getStrings, names); err != nil {
		return 0, nil, err
	}
	return n, names[:stringsHead+n*stringSize], nil
}

func (h *Handle) features(link string) (map[string]featureState, error) {
	n, names, err := h.names(link, setFeatures, mostFeatures)
	if err == nil && n == 0 {
		err = errors.New("the kernel names none")
	}
	if err != nil {
		return nil, err
	}
	size := (n + featuresPerBlock - 1) / featuresPerBlock
	blocks := make([]byte, featuresHead+size*featureBlock)
	binary.NativeEndian.PutUint32(blocks[4:], uint32(size))
	if err := h.call(link, getFeatures, blocks); err != nil {
		return nil, err
	}
	return featureStates(names, blocks), nil
}

// Counters reads those of a link's driver's counters that say why packets wait
// or are lost (netstate.MeaningOf), zero ones left out: not nil where the driver
// has counters. A driver without any is errors.ErrUnsupported. A card may be
// asked for them, which takes milliseconds.
func (h *Handle) Counters(link string) (map[string]uint64, error) {
	found, err := h.statistics(link, telling)
	if err != nil {
		return nil, fmt.Errorf("read driver's counters of %s: %w", link, err)
	}
	if found == nil {
		found = make(map[string]uint64)
	}
	return found, nil
}

// statistics asks for the driver's own counters.
func (h *Handle) statistics(link string, wanted func(string) bool) (map[string]uint64, error) {
	n, names, err := h.names(link, setStatistics, mostStatistics)
	if err != nil || n == 0 {
		return nil, err
	}
	values := make([]byte, statisticsHead+(n+spareNames)*8)
	binary.NativeEndian.PutUint32(values[4:], uint32(n))
	if err := h.call(link, getStatistics, values); err != nil {
		return nil, err
	}
	if told := int(binary.NativeEndian.Uint32(values[4:])); told != n {
		return nil, fmt.Errorf("the driver named %d counters and then read %d", n, told)
	}
	return decodeStatistics(names, values, wanted), nil
}

func (h *Handle) ask(link string, command uint32, size int) ([]byte, error) {
	answer := make([]byte, size)
	return answer, h.call(link, command, answer)
}

func (h *Handle) call(link string, command uint32, buffer []byte) error {
	binary.NativeEndian.PutUint32(buffer, command)
	return sys.EthtoolIoctl(h.socket, link, buffer)
}
