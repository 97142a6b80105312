package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Errors that callers may act on.
var (
	// ErrCores: the program's default is a number of the client's cores, which
	// is not known.
	ErrCores = errors.New("number of cores unknown")
	// ErrAddresses: it is to use more pairs of addresses than the hosts have.
	ErrAddresses = errors.New("too few addresses")
	// ErrParam is a parameter that the program does not take so.
	ErrParam = errors.New("bad parameter")
)

// UnknownError is a word that no program, or none of its parameters, has.
type UnknownError struct {
	// Program is empty where the program itself is unknown.
	Program, Word string
	// Known are the words that there are.
	Known []string
}

func (e *UnknownError) Error() string {
	if e.Program == "" {
		return fmt.Sprintf("unknown workload %q", e.Word)
	}
	return fmt.Sprintf("%s: unknown parameter %q", e.Program, e.Word)
}

// Use is a program with its parameters: "nfs:nconnect=8".
type Use struct {
	Program Program
	// given are the numbers by key; a word's is its place among the words.
	given map[string]int
}

// Parse reads NAME or NAME:KEY=VALUE,KEY=VALUE. Errors: UnknownError, ErrParam.
func Parse(text string) (Use, error) {
	name, params, _ := strings.Cut(strings.TrimSpace(text), ":")
	p, ok := Named(strings.ToLower(strings.TrimSpace(name)))
	if !ok {
		return Use{}, &UnknownError{Word: name, Known: Names()}
	}
	u := Use{Program: p, given: map[string]int{}}
	if strings.TrimSpace(params) == "" {
		return u, nil
	}
	for _, part := range strings.Split(params, ",") {
		key, value, found := strings.Cut(part, "=")
		key, value = strings.TrimLeft(strings.TrimSpace(key), "-"), strings.TrimSpace(value)
		param, ok := p.param(key)
		switch {
		case !ok:
			return Use{}, &UnknownError{Program: p.Name, Word: key, Known: p.keys()}
		case !found || value == "":
			return Use{}, fmt.Errorf("%s: %s: want %s=%s: %w", p.Name, key, key, param.wants(), ErrParam)
		}
		if _, twice := u.given[key]; twice {
			return Use{}, fmt.Errorf("%s: %s: given twice: %w", p.Name, key, ErrParam)
		}
		n, ok := param.read(value)
		if !ok {
			return Use{}, fmt.Errorf("%s: %s=%s: want %s: %w", p.Name, key, value, param.wants(), ErrParam)
		}
		u.given[key] = n
	}
	return u, nil
}

func (p Program) param(key string) (Param, bool) {
	i := slices.IndexFunc(p.Params, func(q Param) bool { return q.Key == key })
	if i < 0 {
		return Param{}, false
	}
	return p.Params[i], true
}

func (p Program) keys() []string {
	var keys []string
	for _, q := range p.Params {
		keys = append(keys, q.Key)
	}
	return keys
}

// wants is what a parameter's value is.
func (p Param) wants() string {
	if p.Words != nil {
		return "one of " + strings.Join(p.Words, ", ")
	}
	return fmt.Sprintf("1 to %d", p.Most)
}

func (p Param) read(value string) (int, bool) {
	if p.Words != nil {
		i := slices.Index(p.Words, strings.ToLower(value))
		return i, i >= 0
	}
	n, err := strconv.Atoi(value)
	return n, err == nil && n >= 1 && n <= p.Most
}

// String is the use as Parse reads it.
func (u Use) String() string {
	var parts []string
	for _, p := range u.Program.Params {
		if n, ok := u.given[p.Key]; ok {
			value := strconv.Itoa(n)
			if p.Words != nil {
				value = p.Words[n]
			}
			parts = append(parts, p.Key+"="+value)
		}
	}
	if len(parts) == 0 {
		return u.Program.Name
	}
	return u.Program.Name + ":" + strings.Join(parts, ",")
}

// With is the use with another number of one parameter.
func (u Use) With(key string, n int) Use {
	given := map[string]int{key: n}
	for k, v := range u.given {
		if k != key {
			given[k] = v
		}
	}
	u.given = given
	return u
}

// Value is a parameter's number, the program's default where none is given;
// zero where that is a number of cores which nobody said.
func (u Use) Value(key string) int {
	if n, ok := u.given[key]; ok {
		return n
	}
	p, _ := u.Program.param(key)
	return p.Default
}

// Settled is the use with the numbers that go by the client's cores. Error:
// ErrCores where one does and they are not known (zero).
func (u Use) Settled(cores int) (Use, error) {
	for _, p := range u.Program.Params {
		if p.PerCores == nil || u.Value(p.Key) > 0 {
			continue
		}
		if cores < 1 {
			return u, fmt.Errorf("%s: %s is a number of the client's cores by default: %w", u.Program.Name, p.Key, ErrCores)
		}
		u = u.With(p.Key, min(max(p.PerCores(cores), 1), p.Most))
	}
	return u, nil
}

// Opened is what a use opens between two hosts.
type Opened struct {
	// Connections carry data, in all. Pairs is how many pairs of addresses they
	// take turns on: the first ones of those that the hosts have.
	Connections, Pairs int
}

// Over is what the use opens between two hosts that have so many pairs of
// addresses. Errors: ErrCores, ErrAddresses, ErrParam.
func (u Use) Over(pairs int) (Opened, error) {
	if u.Program.open != nil {
		return u.Program.open(u, pairs)
	}
	o := Opened{Connections: 1, Pairs: 1}
	if u.Program.Each {
		o.Pairs = max(pairs, 1)
	}
	all := false
	for _, p := range u.Program.Params {
		n := u.Value(p.Key)
		switch p.Counts {
		case Nothing:
			continue
		case Addresses:
			if p.Words != nil && n > 0 {
				o.Pairs = max(pairs, 1)
			}
			continue
		case InAll:
			all = true
		}
		if n < 1 {
			return Opened{}, fmt.Errorf("%s: %s is a number of the client's cores by default: %w", u.Program.Name, p.Key, ErrCores)
		}
		o.Connections *= n
	}
	if all {
		o.Pairs = min(o.Pairs, o.Connections)
	} else {
		o.Connections *= o.Pairs
	}
	if u.Program.Most > 0 {
		o.Connections = min(o.Connections, u.Program.Most)
	}
	return o, nil
}

// Widened is the use of every one of so many pairs of addresses; false where
// the program cannot, or does.
func (u Use) Widened(pairs int) (Use, bool) {
	now, err := u.Over(pairs)
	if err != nil || now.Pairs >= pairs {
		return u, false
	}
	if u.Program.widen != nil {
		return u.Program.widen(u, pairs)
	}
	for _, p := range u.Program.Params {
		if p.Counts == Addresses && p.Words != nil && u.Value(p.Key) == 0 {
			return u.With(p.Key, 1), true
		}
	}
	return u, false
}
