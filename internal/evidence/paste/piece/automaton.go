package piece

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
)

// automaton says whether an expression matches a line of ASCII, in a few instructions a
// byte where the expression itself takes a hundred: its states are all the places where
// the expression may be at once, made when a line first comes to them (Aho, Sethi and
// Ullman, Compilers, section 3.7). For little text it is not worth making.
type automaton struct {
	expression string
	read       atomic.Int64 // bytes that were read without it

	mu       sync.Mutex
	prog     *syntax.Prog // nil: not made, or given up
	anchored bool
	class    [0x80]uint8 // bytes that the expression does not tell apart are one class
	like     []rune      // a byte of each class
	states   []state
	known    map[string]int32 // states by what they are
	next     []int32          // of each state: for each class, and for the line's end
	since    int64            // bytes since the states were made anew
	pending  []uint32
	seen     []bool
}

// state is where an expression may be before a byte.
type state struct {
	at     []uint32
	before rune // the byte before, or one that ^, $ and \b tell nothing else of
}

// What may follow a state beside another, which is counted from one.
const (
	unasked = int32(-iota)
	matched
	failed
	unsure
)

const (
	worthwhile = 2 << 10 // bytes
	mostStates = 400
	perState   = 50 // bytes that a state is worth making for

	nothing = -1 // before a line's first byte, and behind its last
)

// answer reports a match in a line; not sure where only the expression can tell.
func (a *automaton) answer(s string) (match, sure bool) {
	if a.read.Load() < worthwhile {
		a.read.Add(int64(len(s)))
		return false, false
	}
	if !a.mu.TryLock() { // another line's turn
		return false, false
	}
	defer a.mu.Unlock()
	if a.like == nil {
		a.make()
	}
	if a.prog == nil {
		return false, false
	}
	a.since += int64(len(s))
	width, now := len(a.like)+1, 0
	for i := 0; i <= len(s); i++ {
		class, c := width-1, rune(nothing)
		if i < len(s) {
			if s[i] >= 0x80 {
				return false, false
			}
			class = int(a.class[s[i]])
			c = rune(s[i])
		}
		to := a.next[now*width+class]
		if to == unasked {
			if to = a.step(now, c); to == unsure {
				return false, false
			}
			a.next[now*width+class] = to
		}
		if to < 0 {
			return to == matched, true
		}
		now = int(to) - 1
	}
	return false, false // not come to: a line's end matches or fails
}

// make finds the expression's classes of bytes and its first state.
func (a *automaton) make() {
	a.like = []rune{}
	re, err := syntax.Parse(a.expression, syntax.Perl)
	if err != nil {
		return
	}
	if a.prog, err = syntax.Compile(re.Simplify()); err != nil {
		a.prog = nil
		return
	}
	a.anchored = a.prog.StartCond()&syntax.EmptyBeginText != 0
	var begins [0x82]bool // where another class may begin
	part := func(from, to rune) {
		begins[min(from, 0x80)], begins[min(to, 0x80)+1] = true, true
	}
	part('\n', '\n')
	part('0', '9')
	part('_', '_')
	part('A', 'Z')
	part('a', 'z')
	for i := range a.prog.Inst {
		in := &a.prog.Inst[i]
		for k := 0; k < len(in.Rune); k += 2 {
			from, to := in.Rune[k], in.Rune[min(k+1, len(in.Rune)-1)]
			part(from, to)
			for _, by := range []rune{'a' - 'A', 'A' - 'a'} { // where case does not count
				if from+by >= 0 && syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
					part(from+by, to+by)
				}
			}
		}
	}
	for c := range a.class {
		if c == 0 || begins[c] {
			a.like = append(a.like, rune(c))
		}
		a.class[c] = uint8(len(a.like) - 1)
	}
	a.seen = make([]bool, len(a.prog.Inst))
	a.begin()
}

// begin leaves the first state alone.
func (a *automaton) begin() {
	a.states, a.known, a.next, a.since = nil, make(map[string]int32), nil, 0
	a.number([]uint32{uint32(a.prog.Start)}, nothing)
}

// number is the state's, one more than its place; unsure where there are too many.
func (a *automaton) number(at []uint32, before rune) int32 {
	key := make([]byte, 0, 4*len(at)+4)
	for _, pc := range at {
		key = binary.NativeEndian.AppendUint32(key, pc)
	}
	key = binary.NativeEndian.AppendUint32(key, uint32(before))
	if n, ok := a.known[string(key)]; ok {
		return n
	}
	if len(a.states) == mostStates {
		if a.since < mostStates*perState {
			a.prog, a.states, a.known, a.next = nil, nil, nil, nil
		} else {
			a.begin()
		}
		return unsure
	}
	a.states = append(a.states, state{slices.Clone(at), before})
	a.next = append(a.next, make([]int32, len(a.like)+1)...)
	a.known[string(key)] = int32(len(a.states))
	return int32(len(a.states))
}

// step is what follows a state at a byte, or at the line's end.
func (a *automaton) step(now int, c rune) int32 {
	from := a.states[now]
	holds := syntax.EmptyOpContext(from.before, c)
	clear(a.seen)
	a.pending = append(a.pending[:0], from.at...)
	var to []uint32
	for len(a.pending) > 0 {
		pc := a.pending[len(a.pending)-1]
		a.pending = a.pending[:len(a.pending)-1]
		if a.seen[pc] {
			continue
		}
		a.seen[pc] = true
		switch in := &a.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return matched
		case syntax.InstAlt, syntax.InstAltMatch:
			a.pending = append(a.pending, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			a.pending = append(a.pending, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^holds == 0 {
				a.pending = append(a.pending, in.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if c != nothing && in.MatchRune(c) {
				to = append(to, in.Out)
			}
		}
	}
	if !a.anchored {
		to = append(to, uint32(a.prog.Start))
	}
	if c == nothing || len(to) == 0 {
		return failed
	}
	slices.Sort(to)
	before := c
	if c != '\n' {
		before = ' '
		if syntax.IsWordChar(c) {
			before = 'a'
		}
	}
	return a.number(slices.Compact(to), before)
}
