package queue

// Alike is how workloads are told apart.
var Alike = alike
