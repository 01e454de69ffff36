package nodes

// Request.MaxDomains, as built in Kubernetes: which nodes are looked at for a single pod.

// sampled: "Sampling starts at FirstNode, wraps around, and stops after MaxDomains of them if one violates no budget; of those
// that violate one, at most MaxDomains are looked at." FirstNode is "modulo the number of nodes that can be domains".
func (w *world) sampled(domains []domain, solve func(domain) *choice) (list []*choice) {
	limit, first := w.request.MaxDomains, w.request.FirstNode
	if limit == 0 {
		first = 0 // no sampling starts
	}
	clean, violating := 0, 0
	for i := range domains {
		if limit > 0 && clean > 0 && clean+violating >= limit {
			break
		}
		d := domains[(i+first%len(domains))%len(domains)]
		c := solve(d)
		switch {
		case c == nil || limit > 0 && c.violations() > 0 && violating == limit:
			continue
		case c.violations() > 0:
			violating++
		default:
			clean++
		}
		list = append(list, c)
	}
	return list
}
