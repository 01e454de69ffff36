module github.com/cedesched/cede/internal/proof/mutate

go 1.26.0
