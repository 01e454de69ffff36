// Package read reads the objects of Kueue, KAI and Kubernetes out of files and pipes, in any
// shape that package input knows, for the bridges.
package read
