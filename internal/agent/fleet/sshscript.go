package fleet

// farScript is all that a far shell is ever given, word for word: what differs
// between hosts it reads from its input. It stands in single quotes on one line
// that the login shell there takes apart, which may be csh or fish: so it has no
// single quote, no backslash, no exclamation mark and no newline (a test holds
// it to that).
//
// It says what the host is and which linerate it has, then does one of
//
//	run                        the installed program
//	old                        the same, of another version
//	copy KIBIBYTES BYTES SUM PACK DIR
//	keep - - SUM - DIR
//
// The last is the program that follows, BYTES of it, from a private directory. PACK is
// how it is packed, gzip or plain; gzip only where the host said that it has that. DIR
// is a directory that an earlier agent of this run put the same program in, "-" for
// none: while that agent is there the program is, and nothing is sent. keep is copy
// where the program is there, and nothing where it is not.
//
// The directory is one that only its owner can look into, on a file system with
// room that executes programs. One of an earlier agent is looked at again: it may have
// gone, and somebody else made another of its name, to have a program of theirs run in
// the place of the checked one. The look is at the directory itself, which is entered
// first; one of ours under /tmp is nobody else's to replace. What was copied is checked before it is run. When
// the last agent that runs from it ends, however it does, the directory goes, unless
// the guard of a pending change still needs the program (internal/host/apply, Transient).
const farScript = `b=$1; LC_ALL=C; export LC_ALL; umask 077; PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin; export PATH; ` +
	`say() { echo "` + mark + `$*"; }; ` +
	`sum() { { sha256sum "$1" 2>/dev/null || sha256 -q "$1" 2>/dev/null || shasum -a 256 "$1" 2>/dev/null; } | cut -c 1-64; }; ` +
	`become() { if [ "$b" = sudo ] && [ "$(id -u)" -ne 0 ]; then sudo -n -- "$@"; else "$@"; fi; }; ` +
	`say system $(uname -sm); say user $(id -un); say connection $SSH_CONNECTION; ` +
	`p=$(command -v linerate 2>/dev/null); if [ -f "$p" ] && [ -x "$p" ]; then say program "$p"; say sum $(sum "$p"); say version $("$p" --version 2>/dev/null </dev/null); fi; ` +
	`if command -v gzip >/dev/null 2>&1; then say unpacks gzip; fi; say end; ` +
	`read what room bytes want pack t || exit 0; ` +
	`case $what in run) become "$p" agent --stdio --silence 60s; exit;; old) become "$p" agent --stdio; exit;; copy|keep) ;; *) exit 0;; esac; ` +
	`run() { say ready; become "$t/linerate" agent --stdio --silence 60s --remove-self agent.$$; }; ` +
	`gone() { rm -f "$t/user.agent.$$" "$t/user.agent.$$.start"; ls "$t"/user.* >/dev/null 2>&1 || rm -rf "$t"; }; trap : HUP INT TERM PIPE; ` +
	`private() { (cd -P "$t" 2>/dev/null && [ "$(pwd -P)" = "$t" ] && case "$(ls -ldn .)" in drwx------*" $(id -u) "*) ;; *) exit 1;; esac); }; ` +
	`if private && [ -f "$t/linerate" ] && touch "$t/user.agent.$$.start" 2>/dev/null && [ "$(sum "$t/linerate")" = "$want" ]; then run; r=$?; gone; exit $r; fi; [ "$what" = copy ] || exit 0; ` +
	`t=; for d in /tmp "$XDG_RUNTIME_DIR" /var/tmp; do [ -d "$d" ] || continue; ` +
	`a=$(df -Pk "$d" 2>/dev/null | tail -n 1 | tr -s " " | cut -d " " -f 4); if [ "$a" -lt "$room" ] 2>/dev/null; then say full "$d"; continue; fi; ` +
	`t=$(mktemp -d "$d/linerate.XXXXXXXXXX" 2>/dev/null) || { t=; say denied "$d"; continue; }; ` +
	`if echo "exit 0" >"$t/linerate" && chmod 700 "$t/linerate"; then "$t/linerate" && break; say noexec "$d"; else say full "$d"; fi 2>/dev/null; ` +
	`rm -rf "$t"; t=; done; [ -n "$t" ] || exit 0; ` +
	`unpack() { if [ "$pack" = gzip ]; then gzip -dc; else cat; fi; }; ` +
	`say send "$t"; head -c "$bytes" 2>/dev/null | unpack >"$t/linerate" 2>/dev/null || say full "$t"; ` +
	`if [ "$(sum "$t/linerate")" = "$want" ]; then run; else say bad; fi; r=$?; gone; exit $r`

// mark begins the lines that are ours: a login shell may print others first.
const mark = "linerate-far: "
