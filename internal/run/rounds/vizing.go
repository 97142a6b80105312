package rounds

// fans colours the edges of a graph without double edges, one after the other,
// with at most one colour more than the busiest host has edges: Misra and
// Gries, "A constructive proof of Vizing's theorem", 1992.
type fans struct {
	ends    [][2]int
	colour  []int   // by edge; -1 none yet
	at      [][]int // by host and colour: the edge, or -1
	in      []int   // by edge: whose fan it was in last, counted from 1
	palette int
}

// vizing colours one layer. A host that measures itself takes a colour that
// it has free.
func (g graph) vizing(layer []int) (colour []int, used int) {
	degree := make([]int, g.hosts)
	most := 0
	for _, edge := range layer {
		for _, host := range g.edges[edge] {
			degree[host]++
			most = max(most, degree[host])
		}
	}
	f := fans{colour: make([]int, len(layer)), in: make([]int, len(layer)), at: make([][]int, g.hosts), palette: most + 1}
	for host := range f.at {
		f.at[host] = make([]int, f.palette)
		for c := range f.at[host] {
			f.at[host][c] = -1
		}
	}
	for i, edge := range layer {
		f.ends = append(f.ends, g.edges[edge])
		f.colour[i] = -1
	}
	for i, e := range f.ends {
		if e[0] != e[1] {
			f.insert(i)
		}
	}
	for i, e := range f.ends {
		if e[0] == e[1] {
			f.set(i, f.free(e[0]))
		}
	}
	return f.colour, f.palette
}

// free is the lowest colour that no edge at the host has.
func (f *fans) free(host int) int {
	for c, edge := range f.at[host] {
		if edge < 0 {
			return c
		}
	}
	return -1 // never: there is one colour more than a host has edges
}

func (f *fans) isFree(host, colour int) bool { return f.at[host][colour] < 0 }

func (f *fans) set(edge, colour int) {
	f.colour[edge] = colour
	for _, host := range f.ends[edge] {
		f.at[host][colour] = edge
	}
}

func (f *fans) unset(edge int) {
	for _, host := range f.ends[edge] {
		f.at[host][f.colour[edge]] = -1
	}
	f.colour[edge] = -1
}

func (f *fans) other(edge, host int) int { return f.ends[edge][0] + f.ends[edge][1] - host }

// insert gives the edge a colour and moves others where it must.
func (f *fans) insert(edge int) {
	u := f.ends[edge][0]
	fan := f.fan(edge, u)
	last := f.other(fan[len(fan)-1], u)
	c, d := f.free(u), f.free(last)
	f.invert(u, c, d)
	// After the inversion d is free at u. A prefix of the fan still is one,
	// and ends at a host where d is free.
	for k, e := range fan {
		if k > 0 && (f.colour[e] < 0 || !f.isFree(f.other(fan[k-1], u), f.colour[e])) {
			break
		}
		if f.isFree(f.other(e, u), d) {
			f.rotate(fan[:k+1])
			f.set(e, d)
			return
		}
	}
}

// fan is edges at u, the uncoloured one first: the colour of each is free at
// the far host of the one before. It cannot be made longer.
func (f *fans) fan(edge, u int) []int {
	fan := []int{edge}
	f.in[edge] = edge + 1
	for {
		last := f.other(fan[len(fan)-1], u)
		next := -1
		for c, e := range f.at[u] {
			if e >= 0 && f.in[e] != edge+1 && f.isFree(last, c) {
				next = e
				break
			}
		}
		if next < 0 {
			return fan
		}
		fan = append(fan, next)
		f.in[next] = edge + 1
	}
}

// invert swaps the colours c and d on the path from u whose edges have them by
// turns. c is free at u, so the path leaves by d.
func (f *fans) invert(u, c, d int) {
	if c == d {
		return
	}
	var path []int
	for host, want := u, d; ; want = c + d - want {
		e := f.at[host][want]
		if e < 0 {
			break
		}
		path = append(path, e)
		host = f.other(e, host)
	}
	was := make([]int, len(path))
	for i, e := range path {
		was[i] = f.colour[e]
		f.unset(e)
	}
	for i, e := range path {
		f.set(e, c+d-was[i])
	}
}

// rotate moves each colour of the fan to the edge before; the last edge is
// then without.
func (f *fans) rotate(fan []int) {
	for i := 0; i+1 < len(fan); i++ {
		c := f.colour[fan[i+1]]
		f.unset(fan[i+1])
		f.set(fan[i], c)
	}
}
