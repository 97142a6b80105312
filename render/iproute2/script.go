package iproute2

import (
	"strings"

	"github.com/linerate/linerate/render/shell"
)

// script is what makes a bare host the wanted one.
func (w *writer) script() string {
	lines := []string{
		"#!/bin/sh", "# The network of " + shell.OneLine(w.in.Host.Name) + ", by ip(8), tc(8) and ethtool(8). Running it again changes nothing;",
		"# " + downPath + " rolls it back. Run it on the console: links may go down.",
		strings.TrimSpace(scriptHead), "", strings.TrimSpace(scriptUp), "", strings.TrimSpace(scriptNow), "",
	}
	return strings.Join(append(lines, w.up...), "\n") + "\n"
}

// undo is the way back, in the opposite order.
func (w *writer) rollback() string {
	lines := []string{
		"#!/bin/sh", "# Rolls back what " + upPath + " did since it was first run:",
		"# what was there before it stays.", strings.TrimSpace(scriptHead), "", strings.TrimSpace(scriptDown), "",
	}
	for i := len(w.down) - 1; i >= 0; i-- {
		lines = append(lines, w.down[i])
	}
	return strings.Join(append(lines, `rm -f "$state"`), "\n") + "\n"
}

const scriptHead = `
set -eu
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin
# What the script made, and what was there before it.
state=${LINERATE_STATE:-/run/linerate/network.state}

made() { # TARGET
  grep -qxF "made $1" "$state" 2>/dev/null
}
`

const scriptUp = `
mkdir -p "$(dirname "$state")"

add() { # TARGET COMMAND...: what is there already is not the script's
  target=$1
  shift
  if said=$("$@" 2>&1); then
    made "$target" || echo "made $target" >>"$state"
    return 0
  fi
  case $said in
  *"File exists"* | *lready*)
    made "$target" || echo "is there already and stays: $target" >&2
    ;;
  *)
    printf '%s: %s\n' "$*" "$said" >&2
    return 1
    ;;
  esac
}

keep() { # NAME VALUE: what it was before the script first changed it
  awk -v name="$1" '$1 == "was" && $2 == name { found = 1 } END { exit !found }' "$state" 2>/dev/null || echo "was $1 $2" >>"$state"
}

same() { # VALUE WANTED
  [ "$1" = "$2" ]
}

there() { # LINK
  [ -e "/sys/class/net/$1" ]
}

option() { # BOND OPTION VALUE: true where it is so already
  now=$(cat "/sys/class/net/$1/bonding/$2" 2>/dev/null) || return 1
  case $now in
  "$3" | "$3 "[0-9]*) return 0 ;;
  esac
  [ "$now" = "$(echo "$3" | tr , ' ')" ]
}

port() { # LINK BOND: a link must be down to become a port
  [ "$(basename "$(readlink "/sys/class/net/$1/master" 2>/dev/null || true)")" != "$2" ] || return 0
  keep "state:$1" "$(state_now "$1")"
  ip link set "$1" down
  ip link set "$1" master "$2"
  made "port $1" || echo "made port $1" >>"$state"
}
`

// scriptNow reads what is there.
const scriptNow = `
state_now() { # LINK
  case $(($(cat "/sys/class/net/$1/flags") & 1)) in
  1) echo up ;;
  *) echo down ;;
  esac
}

sysctl_now() { # KEY
  sysctl -n "$1" | tr -s '\t ' ' '
}

offload_now() { # LINK FEATURE
  case $2 in
  rx) long=rx-checksumming ;; tx) long=tx-checksumming ;; sg) long=scatter-gather ;; tso) long=tcp-segmentation-offload ;;
  gso) long=generic-segmentation-offload ;; gro) long=generic-receive-offload ;; lro) long=large-receive-offload ;;
  rxvlan) long=rx-vlan-offload ;; txvlan) long=tx-vlan-offload ;; ntuple) long=ntuple-filters ;; rxhash) long=receive-hashing ;;
  *) long=$2 ;;
  esac
  ethtool -k "$1" | awk -v name="$long:" '$1 == name { print $2 }'
}

ring_now() { # LINK rx|tx
  ethtool -g "$1" | awk -v name="$2:" '/^Current/ { now = 1 } now && tolower($1) == name { print $2 }'
}

channel_now() { # LINK rx|tx|combined
  ethtool -l "$1" | awk -v name="$2:" '/^Current/ { now = 1 } now && tolower($1) == name { print $2 }'
}

coalesce_now() { # LINK PARAMETER
  case $2 in
  adaptive-rx) ethtool -c "$1" | awk '/^Adaptive RX:/ { print $3 }' ;;
  adaptive-tx) ethtool -c "$1" | awk '/^Adaptive RX:/ { print $5 }' ;;
  *) ethtool -c "$1" | awk -v name="$2:" '$1 == name { print $2 }' ;;
  esac
}

limit_now() { # subflows|add_addr_accepted
  ip mptcp limits | awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i ~ "^" name) print $(i + 1) }'
}
`

const scriptDown = `
drop() { # TARGET COMMAND...: only what the script made
  made "$1" || return 0
  shift
  said=$("$@" 2>&1) || case $said in
  *"No such"* | *"annot find"* | *"annot assign"* | *"does not exist"*) ;;
  *)
    printf '%s: %s\n' "$*" "$said" >&2
    return 1
    ;;
  esac
}

was() { # NAME: what it was goes to $old; false where the script did not change it
  old=$(awk -v name="$1" '$1 == "was" && $2 == name { sub(/^was [^ ]* /, ""); print; exit }' "$state" 2>/dev/null) || return 1
  [ -n "$old" ]
}

endpoint_gone() { # ADDRESS
  number=$(ip mptcp endpoint | awk -v address="$1" '$1 == address { for (i = 1; i < NF; i++) if ($i == "id") print $(i + 1) }')
  [ -z "$number" ] || ip mptcp endpoint delete id "$number"
}
`
