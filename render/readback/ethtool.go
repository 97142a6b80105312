package readback

import (
	"strconv"

	"github.com/linerate/linerate/render/node"
)

// Ethtool reads a call of ethtool(8) on a link: its letter (-K, -G, -L, -C, -s) and
// the words behind the link's name. False for one that says something else, of which
// nothing is kept.
func (f *Host) Ethtool(id, letter string, words []string) bool {
	if len(words)%2 != 0 || len(words) == 0 {
		return false
	}
	var settle []func()
	for i := 0; i < len(words); i += 2 {
		name, value := words[i], words[i+1]
		n, err := strconv.Atoi(value)
		number := err == nil
		switch {
		case (letter == "-K" || letter == "--offload" || letter == "--features") && (value == "on" || value == "off"):
			settle = append(settle, func() { f.Offload(id, name, value == "on") })
		case (letter == "-G" || letter == "--set-ring") && (name == "rx" || name == "tx") && number:
			settle = append(settle, func() { node.Put(f.Setting("links", id, "rings"), name, node.PlainInt(n)) })
		case (letter == "-L" || letter == "--set-channels") && number:
			settle = append(settle, func() { node.Put(f.Setting("links", id, "channels"), name, node.PlainInt(n)) })
		case (letter == "-C" || letter == "--coalesce") && (number || value == "on" || value == "off"):
			settle = append(settle, func() { node.Put(f.Setting("links", id, "coalesce"), name, node.Plain(value)) })
		case (letter == "-s" || letter == "--change") && name == "wol" && (value == "g" || value == "d"):
			settle = append(settle, func() { node.Put(f.Device(id), "wakeonlan", node.Plain(strconv.FormatBool(value == "g"))) })
		default:
			return false
		}
	}
	for _, set := range settle {
		set()
	}
	return true
}
