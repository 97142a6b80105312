package act

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/internal/kernel/rtnl"
)

func bondOptionOf(l link, option string) (bondopt.Option, error) {
	o, known := bondopt.Find(option)
	switch {
	case l.kind != "bond":
		return o, fmt.Errorf("link %s is a %q and no bond: %w", l.name, l.kind, errors.ErrUnsupported)
	case !known:
		return o, fmt.Errorf("bond option %q: %w", option, errors.ErrUnsupported)
	}
	return o, nil
}

// lacks is the error of an option that this kernel does not have.
func lacks(option string) error {
	return fmt.Errorf("this kernel does not report bond option %s: %w", option, fs.ErrNotExist)
}

func setBondOption(l link, option, value string) error {
	o, err := bondOptionOf(l, option)
	if err != nil {
		return err
	}
	if _, known := l.info[o.Attr]; !known && !o.Quiet() {
		// An older kernel takes the attribute and ignores it without a word.
		return setBySysfs(l, o, value)
	}
	payload, err := encode(l, o, value)
	if err != nil {
		return err
	}
	attr := nlattr.Encode(o.Attr, payload)
	if o.Listed() {
		attr = nest(o.Attr, payload)
	}
	err = l.change(nest(syscall.IFLA_LINKINFO,
		nlattr.Encode(nl.IFLA_INFO_KIND, []byte("bond")), nest(nl.IFLA_INFO_DATA, attr)))
	if err != nil || !o.Listed() || o.Since == "" || len(payload) == 0 {
		return err
	}
	// A list that some kernels lack, and ignore.
	now, err := findLink(l.name)
	if err == nil && now.info[o.Attr] == nil {
		err = lacks(option)
	}
	return err
}

// encode is the attribute's value; of a list, the nested attributes.
func encode(l link, o bondopt.Option, value string) ([]byte, error) {
	switch o.Kind {
	case bondopt.Port:
		return encodePort(l, o.Name, value)
	case bondopt.IPv4List, bondopt.IPv6List:
		return encodeTargets(o, value)
	case bondopt.MAC:
		m, err := flow.ParseMAC(value)
		return m[:], err
	}
	return o.Encode(value)
}

func readBondOption(l link, option string) (string, error) {
	o, err := bondOptionOf(l, option)
	if err != nil {
		return "", err
	}
	b, known := l.info[o.Attr]
	switch {
	case o.Kind == bondopt.Port:
		return decodePort(b)
	case !known && o.Hidden:
		// Told in 802.3ad only, where it is effective.
		return "", &modeError{option}
	case !known && !o.Quiet():
		return readBySysfs(l, o)
	}
	if text := rtnl.OptionText(o, b); text != "" {
		return text, nil
	}
	return noValue, nil
}

// modeError is an option that the kernel keeps and does not tell in the bond's
// present mode. It is fs.ErrNotExist.
type modeError struct{ option string }

func (e *modeError) Error() string {
	return fmt.Sprintf("bond option %s is told in mode 802.3ad only, to who has CAP_NET_ADMIN", e.option)
}

func (*modeError) Is(target error) bool { return target == fs.ErrNotExist }
