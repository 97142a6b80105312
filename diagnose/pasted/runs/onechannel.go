package runs

import (
	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// oneChannelSaid: SMB that has one connection because multichannel is off, by an output or
// by what is said, where there are several links.
func oneChannelSaid(v *scene.View) {
	for _, h := range v.Case.Hosts {
		off, ok := channelsOff(h)
		sure, what := 0.62, "off"
		if !ok {
			if off, ok = h.Get("said", "no_multichannel"); !ok {
				continue
			}
			sure, what = 0.54, off.Text
		}
		_, links, several := v.SaidBy("two_homed")
		if _, bundle := v.Case.Topics["bundle"]; !several && !bundle && len(v.Bonds) == 0 || !v.Complains() || v.HasFinding(record.SingleLink) {
			continue
		}
		evidence := []record.Evidence{scene.Saw("SMB multichannel", what, off.Source)}
		if sure < 0.6 {
			evidence[0].What = "said of SMB"
		}
		if several {
			evidence = append(evidence, scene.Saw("said", links.Text, links.Source))
		}
		f := v.Add(record.SingleLink, sure, h, "SMB over one connection",
			"SMB multichannel is off, so that a session is one TCP connection: it takes one link, whatever bond, team or other ports there are.",
			"Turn it on at both ends: Samba `server multi channel support = yes` (with an address of its own on each port, `interfaces` naming all of them), Synology and QNAP in their SMB settings, Windows `Set-SmbClientConfiguration -EnableMultiChannel $true` and the same of the server, Linux' client `multichannel,max_channels=4`. No bond under it: each port its own address and subnet. Then `Get-SmbMultichannelConnection` shows a row for each.", evidence...)
		f.Ask = []scene.Missing{
			{Command: "Get-SmbMultichannelConnection; Get-SmbClientNetworkInterface (Linux: /proc/fs/cifs/DebugData)", Host: "the client", Why: "while it copies: how many connections there are, over which links, and whether they have RSS"},
			{Command: "testparm -s | grep -iE 'multi channel|interfaces'; ip -br addr", Host: "the server", Why: "whether it offers all its ports, each with an address"}}
		return
	}
}

// channelsOff is where an output says that multichannel is off.
func channelsOff(h *piece.Host) (piece.Value, bool) {
	if x, ok := h.Get("host", "smb_multichannel"); ok && x.Text == "false" {
		return x, true
	}
	x, ok := h.Get("config smb", "server_multi_channel_support")
	return x, ok && (x.Text == "no" || x.Text == "false" || x.Text == "0")
}
