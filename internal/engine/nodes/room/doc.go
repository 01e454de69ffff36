// Package room says what is free on the nodes of a search: beside all units, or without the units that may yield.
//
// Its types stand on each other, and none calls one above it: [Grid] numbers the nodes and resources, [Rows] has what
// runs on a node by priority, [Over] has the units that stay because they violate a budget and run elsewhere, [Stays]
// has the units that stay, [Room] counts what is free.
package room
