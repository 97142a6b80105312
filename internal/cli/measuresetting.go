package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/unit"
)

// mtuSetting is the one setting of a sweep that changes hosts.
const mtuSetting = "mtu"

// setting is something that --sweep sweeps.
type setting struct {
	name, example string
	// variant makes the variant of a value; an error says what is wanted.
	variant func(value string) (campaign.Variant, error)
}

// settings is the one table of what --sweep knows.
var settings = [...]setting{
	{"mss", "536,1448,8948", func(v string) (campaign.Variant, error) {
		n, err := whole(v, 88, 32767, "bytes") // TCP_MIN_MSS, MAX_TCP_WINDOW
		return campaign.Variant{Lay: func(s *measure.Spec) { s.Socket.MSS = n }}, err
	}},
	{"no-delay", "off,on", func(v string) (campaign.Variant, error) {
		if v != "on" && v != "off" {
			return campaign.Variant{}, fmt.Errorf("want off or on, not %s", v)
		}
		return campaign.Variant{Lay: func(s *measure.Spec) { s.Socket.NoDelay = v == "on" }}, nil
	}},
	{"socket-buffer", "default,1Mi,8Mi", func(v string) (campaign.Variant, error) {
		var size unit.Bytes
		if v != "default" {
			var err error
			if size, err = unit.ParseBytes(v); err != nil || size < 4096 || size > 1<<30 {
				return campaign.Variant{}, fmt.Errorf("want default or a size from 4Ki to 1Gi, such as 8Mi, not %s", v)
			}
		}
		return campaign.Variant{Lay: func(s *measure.Spec) { s.Socket.SndBuf, s.Socket.RcvBuf = size, size }}, nil
	}},
	{"congestion", "cubic,bbr", func(v string) (campaign.Variant, error) {
		if strings.ContainsFunc(v, func(r rune) bool { return r != '_' && r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
			return campaign.Variant{}, fmt.Errorf("want the kernel's name of a congestion control, not %s", v)
		}
		return campaign.Variant{Lay: func(s *measure.Spec) { s.Socket.Congestion = v }}, nil
	}},
	{campaign.StreamsSetting, "1,2,4,8", func(v string) (campaign.Variant, error) {
		n, err := whole(v, 1, 1024, "streams")
		return campaign.Variant{Lay: func(s *measure.Spec) { s.Streams = n }}, err
	}},
	{mtuSetting, "1500,9000", func(v string) (campaign.Variant, error) {
		n, err := whole(v, 68, 65535, "bytes")
		return campaign.Variant{MTU: n}, err
	}},
}

func settingNames() []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.name)
	}
	return names
}

func whole(s string, least, most int, what string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("want %d to %d %s, not %s", least, most, what, s)
	}
	return n, nil
}

const mostRepeats = 50

// parseSweep reads --sweep and --repeats.
func (f *sweepFlags) parseSweep() error {
	if f.repeats < 1 || f.repeats > mostRepeats {
		return usage(fmt.Sprintf("--repeats: want 1 to %d, not %d", mostRepeats, f.repeats), "")
	}
	if f.setting == "" {
		return nil
	}
	name, values, ok := strings.Cut(f.setting, "=")
	i := slices.Index(settingNames(), name)
	if i < 0 {
		return usage("--sweep: unknown setting "+name, "one of "+strings.Join(settingNames(), ", "))
	}
	known := settings[i]
	hint := "such as --sweep " + name + "=" + known.example
	f.sweep = campaign.Sweep{Setting: name, Repeats: f.repeats}
	for _, v := range strings.Split(values, ",") {
		v = strings.TrimSpace(v)
		if !ok || v == "" {
			return usage("--sweep "+name+": want values", hint)
		}
		variant, err := known.variant(v)
		if err != nil {
			return usage("--sweep "+name+": "+err.Error(), hint)
		}
		variant.Value = v
		if slices.ContainsFunc(f.sweep.Variants, func(o campaign.Variant) bool { return o.Value == v }) {
			return usage("--sweep "+name+": "+v+" stands there twice", hint)
		}
		f.sweep.Variants = append(f.sweep.Variants, variant)
	}
	if len(f.sweep.Variants) < 2 {
		return usage("--sweep "+name+": want two values or more to compare", hint)
	}
	return nil
}
