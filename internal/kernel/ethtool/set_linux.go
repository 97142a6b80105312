package ethtool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Commands that change something, of include/uapi/linux/ethtool.h. Each needs
// CAP_NET_ADMIN.
const (
	putCoalesce = 0x0f // ETHTOOL_SCOALESCE
	putRings    = 0x11 // ETHTOOL_SRINGPARAM
	putFeatures = 0x3b // ETHTOOL_SFEATURES
	putChannels = 0x3d // ETHTOOL_SCHANNELS

	putFeatureBlock = 8 // struct ethtool_set_features_block: valid, requested
)

// ErrFixed is an offload that cannot be changed, or part of which is on and part
// off, so that a single word could not put it back.
var ErrFixed = errors.New("cannot be changed")

// Feature reports whether an offload of the table is on, and whether it can be
// changed to a word and back: ErrFixed says why not. A name outside the table,
// or that the kernel lacks, is fs.ErrNotExist.
func (h *Handle) Feature(link, name string) (on bool, err error) {
	states, err := h.features(link)
	if err != nil {
		return false, fmt.Errorf("read features of %s: %w", link, err)
	}
	return groupState(states, name)
}

func groupState(states map[string]featureState, name string) (on bool, err error) {
	var known, loose, mixed bool
	for _, k := range KernelFeatures(name) {
		state, there := states[k]
		known = known || there
		if !there || state.fixed {
			continue
		}
		mixed = mixed || loose && state.on != on
		loose, on = true, state.on || on
	}
	switch {
	case !known:
		return false, fmt.Errorf("offload %q: %w", name, fs.ErrNotExist)
	case !loose:
		return decodeFeatures(states)[name], fmt.Errorf("offload %s %w: the device or the kernel decides it", name, ErrFixed)
	case mixed:
		return on, fmt.Errorf("offload %s %w: part of it is on and part is off", name, ErrFixed)
	}
	return on, nil
}

// SetFeature turns an offload of the table on or off, all of its kernel
// features that can be changed in one message. What the device then makes of it
// is to be read: another offload may need it.
func (h *Handle) SetFeature(link, name string, on bool) error {
	states, err := h.features(link)
	if err != nil {
		return fmt.Errorf("read features of %s: %w", link, err)
	}
	if _, err := groupState(states, name); err != nil {
		return err
	}
	n, names, err := h.names(link, setFeatures, mostFeatures)
	if err != nil {
		return fmt.Errorf("read features of %s: %w", link, err)
	}
	return h.call(link, putFeatures, encodeFeatures(n, names, states, KernelFeatures(name), on))
}

// encodeFeatures is struct ethtool_sfeatures.
func encodeFeatures(n int, names []byte, states map[string]featureState, wanted []string, on bool) []byte {
	size := (n + featuresPerBlock - 1) / featuresPerBlock
	b := make([]byte, featuresHead+size*putFeatureBlock)
	binary.NativeEndian.PutUint32(b[4:], uint32(size))
	for i := range n {
		k := text(names[stringsHead+i*stringSize:][:stringSize])
		if state, there := states[k]; !there || state.fixed || !slices.Contains(wanted, k) {
			continue
		}
		block := b[featuresHead+i/featuresPerBlock*putFeatureBlock:]
		bit := uint32(1) << (i % featuresPerBlock)
		binary.NativeEndian.PutUint32(block, binary.NativeEndian.Uint32(block)|bit)
		if on {
			binary.NativeEndian.PutUint32(block[4:], binary.NativeEndian.Uint32(block[4:])|bit)
		}
	}
	return b
}

// Words of the structures by what a step names them.
var (
	ringWords    = map[string]int{"rx": 5, "tx": 8}
	channelWords = map[string]int{"rx": 5, "tx": 6, "combined": 8}
)

// SetRing sets the descriptor ring "rx" or "tx" and leaves the others as they
// are. A driver without rings is errors.ErrUnsupported, a size it does not take
// EINVAL. Most drivers restart the port.
func (h *Handle) SetRing(link, which string, size int) error {
	return h.setWord(link, getRings, putRings, ringsSize, ringWords[which], size)
}

// SetChannels sets a number of queues: "rx", "tx" or "combined". Errors are as
// SetRing's.
func (h *Handle) SetChannels(link, which string, count int) error {
	return h.setWord(link, getChannels, putChannels, channelsSize, channelWords[which], count)
}

// SetCoalesce sets one setting of interrupt moderation by the name that `ethtool
// -C` takes. Errors are as SetRing's; one that the driver does not know is
// errors.ErrUnsupported too.
func (h *Handle) SetCoalesce(link, name string, value int) error {
	return h.setWord(link, getCoalesce, putCoalesce, coalesceSize, slices.Index(coalesceNames[:], name)+1, value)
}

func (h *Handle) setWord(link string, get, put uint32, size, at, value int) error {
	if at <= 0 || value < 0 {
		return fmt.Errorf("set device of %s: %w", link, fs.ErrInvalid)
	}
	b, err := h.ask(link, get, size)
	if err != nil {
		return fmt.Errorf("read device of %s: %w", link, err)
	}
	binary.NativeEndian.PutUint32(b[4*at:], uint32(value))
	return h.call(link, put, b)
}
