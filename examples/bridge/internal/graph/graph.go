// Package graph finds cycles among named parents.
package graph

// Cycles lists the cycles among names that have parents, in the order of the names.
func Cycles(names []string, parent map[string]string) (cycles [][]string) {
	seen := make(map[string]int, len(names)) // the walk that came by first
	for i, at := range names {
		for at != "" && seen[at] == 0 {
			seen[at] = i + 1
			at = parent[at]
		}
		if at == "" || seen[at] != i+1 {
			continue
		}
		cycle := []string{at}
		for n := parent[at]; n != at; n = parent[n] {
			cycle = append(cycle, n)
		}
		cycles = append(cycles, cycle)
	}
	return cycles
}
