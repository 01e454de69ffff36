package fairshare

import _ "github.com/cedesched/cede/internal/proof/seed" // the laws draw the same trees at each run
