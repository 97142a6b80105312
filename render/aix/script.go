package aix

import (
	"strings"

	"github.com/linerate/linerate/render/shell"
)

// script is what changes the system, keeping what was there before.
func (w *writer) script() string {
	lines := []string{
		"#!/bin/ksh", "# The network of " + shell.OneLine(w.in.Host.Name) + " for AIX; " + downPath + " takes it back.",
		"# The adapters lose their links for some seconds: run it on the console.", "set -eu", "mkdir -p /etc/linerate", "",
		strings.TrimSpace(scriptFind), strings.TrimSpace(scriptKeep),
	}
	return strings.Join(append(lines, w.up...), "\n") + "\n"
}

// undo is what takes it back, in the opposite order.
func (w *writer) undo() string {
	lines := []string{
		"#!/bin/ksh", "# Takes back what " + upPath + " did.", "set -eu", "", strings.TrimSpace(scriptFind), strings.TrimSpace(scriptBack), "",
	}
	lines = append(lines, w.find...)
	for i := len(w.down) - 1; i >= 0; i-- {
		lines = append(lines, w.down[i])
	}
	return strings.Join(append(lines, "rm -f /etc/linerate/before /etc/linerate/made", "cfgmgr"), "\n") + "\n"
}

// scriptFind finds what the scripts have made: the system chose its name.
const scriptFind = `
channel_of() { # the EtherChannel that has these adapters
  for device in $(lsdev -Cc adapter -s pseudo -t ibm_ech -F name); do
    [ "$(lsattr -El "$device" -a adapter_names -F value)" != "$1" ] || echo "$device"
  done
}
vlan_of() { # the VLAN adapter with this tag on that adapter
  for device in $(lsdev -Cc adapter -s vlan -t eth -F name); do
    [ "$(lsattr -El "$device" -a base_adapter -F value)" != "$1" ] || [ "$(lsattr -El "$device" -a vlan_tag_id -F value)" != "$2" ] || echo "$device"
  done
}
`

// scriptKeep writes down what a value is before it is first changed.
const scriptKeep = `
keep() { # DEVICE ATTRIBUTE...
  keep_device=$1
  shift
  for attribute; do
    grep -q "^$keep_device $attribute=" /etc/linerate/before 2>/dev/null ||
      echo "$keep_device $attribute=$(lsattr -El "$keep_device" -a "$attribute" -F value)" >>/etc/linerate/before
  done
}
keepno() { # an option of no
  grep -q "^no $1=" /etc/linerate/before 2>/dev/null || echo "no $1=$(no -F -o "$1" | sed 's/.*= *//')" >>/etc/linerate/before
}
made() { # an adapter that was not there before
  echo "$1" >>/etc/linerate/made
}
`

// scriptBack sets a value as it was before.
const scriptBack = `
back() { # DEVICE ATTRIBUTE...
  back_device=$1
  shift
  for attribute; do
    line=$(grep "^$back_device $attribute=" /etc/linerate/before 2>/dev/null || true)
    [ -z "$line" ] || chdev -l "$back_device" -a "$attribute=${line#*=}" || true
  done
}
backno() { # an option of no
  line=$(grep "^no $1=" /etc/linerate/before 2>/dev/null || true)
  [ -z "$line" ] || no -p -o "$1=${line#*=}"
}
unmake() { # an adapter that the script made, with its interface
  grep -q "^$1\$" /etc/linerate/made 2>/dev/null || return 1
  ifconfig "en${1#ent}" down detach 2>/dev/null || true
  rmdev -dl "en${1#ent}" || true
  rmdev -dl "$1"
}
`
