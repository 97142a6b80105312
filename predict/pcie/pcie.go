// Package pcie is what a slot of PCI Express moves of a network card's frames: the
// generations, what packets and descriptors take, and what is uncertain of both. Pure
// arithmetic; which cards carry what traffic is package predict's.
package pcie

import (
	"slices"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/unit"
)

// Level says which end of what is uncertain a computation takes.
type Level uint8

// The levels.
const (
	Middle Level = iota
	Lowest
	Highest
)

// generation is what a generation of PCI Express makes of a lane.
type generation struct {
	// transfers are one lane's, in GT/s.
	transfers float64
	// lane is one lane's rate after line coding.
	lane unit.BitRate
	// framing is what the link puts around a packet: start, sequence number,
	// LCRC, end.
	framing int
	// flit: acknowledgements and credits have a place of their own in every
	// flit and take nothing from packets.
	flit bool
}

// generations: GT/s x 8/10 for 1 and 2, x 128/130 for 3 to 5 (PCI Express
// Base Specification 5.0, section 4.2); for 6 and 7 a flit of 256 bytes carries
// 236 of packets, which have neither LCRC nor sequence number of their own
// (6.0, section 4.2.3). Generation 0 is unknown.
var generations = [...]generation{
	1: {transfers: 2.5, lane: 2.5e9 * 8 / 10, framing: 8}, 2: {transfers: 5, lane: 5e9 * 8 / 10, framing: 8},
	3: {transfers: 8, lane: 8e9 * 128 / 130, framing: 8}, 4: {transfers: 16, lane: 16e9 * 128 / 130, framing: 8}, 5: {transfers: 32, lane: 32e9 * 128 / 130, framing: 8},
	6: {transfers: 64, lane: 64e9 * 236 / 256, flit: true}, 7: {transfers: 128, lane: 128e9 * 236 / 256, flit: true},
}

// Generation returns the generation whose lanes make so many GT/s; 0 where none
// does.
func Generation(transfers float64) int {
	return max(slices.IndexFunc(generations[:], func(g generation) bool { return g.transfers == transfers && transfers > 0 }), 0)
}

// SlotOf returns the GT/s and lanes whose rate after line coding comes within
// a hundredth of that one, as drivers print it; zeros where none does.
func SlotOf(rate unit.BitRate) (transfers float64, lanes int) {
	for lanes = 1; lanes <= 16; lanes *= 2 {
		for _, g := range generations[1:] {
			if share := g.lane * unit.BitRate(lanes) / rate; share > 0.99 && share < 1.01 {
				return g.transfers, lanes
			}
		}
	}
	return 0, 0
}

// Headers of transaction-layer packets, without framing: four words for a
// write or read request with a 64-bit address, three for a completion (PCI
// Express Base Specification 5.0, section 2.2; with framing 24 and 20 bytes:
// Intel AN 829, table 1).
const (
	requestHeader    = 16
	completionHeader = 12
)

// What acknowledgements and credit updates leave of generations 1 to 5. The
// specification suggests an update every 203 bytes at generation 3 x8, which
// leaves 0.92 (Neugebauer et al., SIGCOMM 2018, section 3: 57.88 of 62.96
// Gb/s). Devices send fewer: with 0.95 the model is 0.6 % below the 13.90
// Gb/s of frames published for an X520 at generation 2 x4, and 1.4 % below
// the 13.9 Gb/s of payload published for two ports of an X540.
const (
	linkLayerShare = 0.95
	linkLayerLow   = 0.92
	linkLayerHigh  = 0.98
)

// Payload sizes where MaxPayload is unknown: 256 is what most root ports
// offer; firmware that plays safe leaves 128, and newer hosts agree on 512.
const (
	UsualMaxPayload    = 256
	SmallestMaxPayload = 128
	LargestMaxPayload  = 512
)

// What a card and its driver exchange beside frames, per frame or so many of
// them: descriptors of 16 bytes, fetched 40 and written back 8 at a time when
// sending, fetched 8 (a cache line's worth and more) and written back one at a
// time when receiving; a doorbell of 4 bytes for each packet handed over or 32
// free buffers; an interrupt for 32 frames. From the Intel 82599 datasheet
// (sections 1.9, 7.1.6, 7.2.3) as modelled for Neugebauer et al. (pcie-bench,
// model/niantic.py).
const (
	descriptor    = 16
	fetchToSend   = 40
	writeBackSent = 8
	fetchFree     = 8
	freeDoorbell  = 32
	interruptsPer = 32
	word          = 4
	// readRequest is MaxReadRequestSize, 512 after reset (7.5.3.4).
	readRequest = 512
	// burst is what TSO hands the card and GRO the stack at once (GSO_MAX_SIZE
	// of include/linux/netdevice.h).
	burst = 65536
	// ackFrame is a TCP segment without payload, with timestamps.
	ackFrame = framing.EthernetHeader + framing.Ipv4Header + framing.TcpHeader + framing.TcpTimestamps
)

// slotBytes is what one frame costs a slot in each direction: up is from the
// card to memory, down from memory to the card.
type slotBytes struct{ up, down float64 }

func (b slotBytes) plus(c slotBytes) slotBytes { return slotBytes{b.up + c.up, b.down + c.down} }

func (b slotBytes) times(n float64) slotBytes { return slotBytes{b.up * n, b.down * n} }

// Slot is a card's slot at one level of what is uncertain.
type Slot struct {
	// MaxPayload is the largest packet's payload, in bytes; Rate is packets with their
	// headers, in each direction, Raw what the lanes have of it after line coding.
	MaxPayload int
	Rate, Raw  unit.BitRate
	// Flit: the link layer takes nothing of it, as from generation 6 on.
	Flit    bool
	framing int
}

// At is a card's slot; false where generation or lanes are unknown.
func At(c netstate.Card, at Level) (Slot, bool) {
	if c.Generation < 1 || c.Generation >= len(generations) || c.Lanes < 1 {
		return Slot{}, false
	}
	g := generations[c.Generation]
	raw := g.lane * unit.BitRate(c.Lanes)
	s := Slot{MaxPayload: c.MaxPayload, Rate: raw, Raw: raw, Flit: g.flit, framing: g.framing}
	share, payload := linkLayerShare, UsualMaxPayload
	switch at {
	case Lowest:
		share, payload = linkLayerLow, SmallestMaxPayload
	case Highest:
		share, payload = linkLayerHigh, LargestMaxPayload
	}
	if !g.flit {
		s.Rate *= unit.BitRate(share)
	}
	if c.Scale > 0 {
		s.Rate /= unit.BitRate(c.Scale)
	}
	if s.MaxPayload <= 0 {
		s.MaxPayload = payload
	}
	return s, true
}

// packets is how many packets of at most size carry n bytes.
func packets(n, size int) float64 { return float64((n + size - 1) / size) }

func (s Slot) write(n int) float64 {
	return float64(n) + packets(n, s.MaxPayload)*float64(requestHeader+s.framing)
}

func (s Slot) request(n int) float64 {
	return packets(n, readRequest) * float64(requestHeader+s.framing)
}

// completion answers a read: root complexes join what they read up to
// MaxPayload (Neugebauer et al., section 3, and their measurements); one that
// answers in pieces of the 64-byte boundary (RCB) sends a quarter less.
func (s Slot) completion(n int) float64 {
	return float64(n) + packets(n, s.MaxPayload)*float64(completionHeader+s.framing)
}

// receive is what a frame that arrives costs.
func (s Slot) receive(frame int) slotBytes {
	return slotBytes{
		up:   s.write(frame) + s.write(descriptor) + s.request(fetchFree*descriptor)/fetchFree + s.write(word)/interruptsPer,
		down: s.completion(fetchFree*descriptor)/fetchFree + s.write(word)/freeDoorbell,
	}
}

// send is what a frame that leaves costs. With segmentation in the card, n of
// them are one packet for driver and descriptors.
func (s Slot) send(frame int, n float64) slotBytes {
	return slotBytes{
		up:   s.request(frame) + (s.request(fetchToSend*descriptor)/fetchToSend+s.write(writeBackSent*descriptor)/writeBackSent+s.write(word)/interruptsPer)/n,
		down: s.completion(frame) + (s.completion(fetchToSend*descriptor)/fetchToSend+s.write(word))/n,
	}
}

// Traffic is what a slot is asked to move.
type Traffic struct {
	Frame    int // bytes from the Ethernet header on
	Transmit bool
	// TCP: the card cuts up what it sends, and acknowledgements come back, one
	// for a burst.
	TCP bool
	// Duplex: as much goes the other way at the same time.
	Duplex bool
}

// PerFrame is how many bytes each frame of the traffic takes from the direction of the
// slot that its data goes. In duplex the other way's requests and descriptors
// go there too; its data does not.
func (s Slot) PerFrame(t Traffic) float64 {
	n := 1.0
	var ackOut, ackIn slotBytes
	if t.TCP {
		n = max(1, float64(burst/t.Frame))
		ackOut, ackIn = s.send(ackFrame, 1).times(1/n), s.receive(ackFrame).times(1/n)
	}
	in, out := s.receive(t.Frame).plus(ackOut), s.send(t.Frame, n).plus(ackIn)
	var all slotBytes
	if t.Duplex || !t.Transmit {
		all = all.plus(in)
	}
	if t.Duplex || t.Transmit {
		all = all.plus(out)
	}
	if t.Transmit {
		return all.down
	}
	return all.up
}

// RateOf is the rate of frames from the Ethernet header on.
func (s Slot) RateOf(t Traffic) unit.BitRate {
	if t.Frame <= 0 {
		return 0
	}
	return s.Rate * unit.BitRate(float64(t.Frame)/s.PerFrame(t))
}
