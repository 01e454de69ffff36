// Package place places the pods of a request on the nodes of a domain, beside what is there and by the rules about
// places, and scores the result.
package place
