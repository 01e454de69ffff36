package kai_test

import _ "github.com/cedesched/cede/internal/proof/seed" // the laws draw the same states at each run
