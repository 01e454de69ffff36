module github.com/cedesched/cede

go 1.26
