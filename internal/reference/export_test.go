package reference

// InSomeOrder opens the enumeration of orders to tests.
func (q *Question) InSomeOrder(list []Candidate, passes func(Candidate) bool) bool {
	return q.inSomeOrder(list, passes)
}
