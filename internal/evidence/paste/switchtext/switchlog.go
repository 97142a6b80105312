package switchtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// SwitchLog reads the messages of a switch's log (%FACILITY-SEVERITY-NAME: text) that
// tell of channels, their members and addresses that move: IOS, IOS-XE and NX-OS, EOS.
var SwitchLog = piece.Reader{
	Kind: "a switch's log",
	Starts: func(line string) bool {
		return strings.Contains(line, "-") && logMessage.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		if !logKnown.MatchString(lines[0].Text) {
			return 0
		}
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if !logMessage.MatchString(text) {
				return false
			}
			s.logged(text, l)
			return true
		})
	}),
}

// logMessage is the name of a message; people leave the % out.
var logMessage = piece.Compile(`(?:^|[\s:])%?[A-Z][A-Z0-9_]{1,24}-(?:SP-|SW\d?-|STBY-)?[0-7]-[A-Z][A-Z0-9_]+:? `)

// logKnown are the messages that say something of a channel.
var logKnown = piece.Compile(`LACP|BUNDL|ETH_PORT_CHANNEL|CHNL_MISCFG|ERR_DISABLE|MACFLAP|MAC_MOVE|ETHPORT-|LAG-\d|channel`)

// logPort is a port or channel in a message's text.
const logPort = `([A-Z][A-Za-z-]*\d+(?:/\d+){0,3}(?::\d+)?|port-channel ?\d+)`

// logShapes are the texts that count, with the fact that they are of the port named.
var logShapes = []struct {
	shape piece.Pattern
	key   string
}{
	{piece.Compile(logPort + `(?:\(0x[0-9a-f]+\))? of port-channel \S+ not receiving any LACP`), "log_silent"},
	{piece.Compile(logPort + ` suspended: LACP currently not enabled on the remote port`), "log_silent"},
	{piece.Compile(logPort + ` (?:will be |is |has been )?suspended.{0,40}(?:no|not receiving|without) LACP`), "log_silent"},
	{piece.Compile(logPort + ` is not compatible with (?:.{1,60}?\band )?will be suspended \((.+)\)`), "log_unlike"},
	{piece.Compile(logPort + ` is not compatible with (?:aggregators in channel|Po)\S* ?\d* ?.{0,60}\((.+)\)`), "log_unlike"},
	{piece.Compile(logPort + ` suspended: (incompatible (?:partner|remote) .+)`), "log_unlike"},
	{piece.Compile(`etherchannel misconfiguration (?:of|on) ` + logPort), "log_misconfigured"},
	{piece.Compile(`channel-misconfig(?: \(STP\))? error detected on ` + logPort), "log_misconfigured"},
}

// logMove are texts of an address that is learnt on two ports by turns.
var logMove = []piece.Pattern{
	piece.Compile(`[Hh]ost ([0-9a-fA-F.:]+) in vlan (\d+) is flapping between port ` + logPort + ` and port ` + logPort),
	piece.Compile(`(?i)mac ([0-9a-f.:]+) (?:in|on) vlan (\d+) (?:has )?moved (?:from|between) ` + logPort + ` (?:to|and) ` + logPort),
	piece.Compile(`(?i)(?:mac|host) (?:address )?([0-9a-f.:]+) (?:in|on) vlan (\d+) .{0,40}(?:between|from) ` + logPort + ` (?:and|to) ` + logPort),
}

// mostMoves is how many of such messages are kept: a loop writes thousands.
const mostMoves = 64

// logged notes what one message says.
func (s *sink) logged(text string, l piece.Line) {
	vendor := map[bool]string{true: "nxos"}[strings.Contains(text, "ETH_PORT_CHANNEL-") || strings.Contains(text, "ETHPORT-") || strings.Contains(text, "L2FM-") || strings.Contains(text, "FWM-")]
	for _, shape := range logMove {
		if m := shape.FindStringSubmatch(text); m != nil {
			s.ofSwitch(vendor, l)
			a, b := s.portName(m[3]), s.portName(m[4])
			if b < a {
				a, b = b, a
			}
			if len(s.Host.Facts["moved "+a+" "+b]) < mostMoves {
				s.Set("moved "+a+" "+b, m[1], m[2], l)
			}
			return
		}
	}
	for _, shape := range logShapes {
		if m := shape.shape.FindStringSubmatch(text); m != nil {
			s.ofSwitch(vendor, l)
			s.Set(s.portSubject(m[1]), shape.key, m[len(m)-1], l)
			return
		}
	}
}
