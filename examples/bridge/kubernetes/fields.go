package kubernetes

import _ "embed"

// Fields says what becomes of each field of Kubernetes' objects. FIELDS.md is made of it.
//
//go:embed fields.tsv
var Fields string
