package records

import (
	"bytes"
	"regexp"
)

// forms are what commands of Slurm print that is no table of sacct --parsable2, by what only they have.
var forms = []struct {
	is   *regexp.Regexp // of the beginning of the file
	what string
}{
	{regexp.MustCompile(`^\{\s*"(?:jobs|meta)"\s*:[\s\S]*"job_id"\s*:`), "JSON of Slurm's jobs"},
	{regexp.MustCompile(`^(?:jobs|meta) *:[\s\S]*\bjob_id *:`), "YAML of Slurm's jobs"},
	{regexp.MustCompile(`^\{\s*"(?:qos|partitions|nodes|associations|accounts)"\s*:\s*\[`), "JSON of Slurm, without jobs (-qos takes that of sacctmgr show qos)"},
	{regexp.MustCompile(`^ *JobI[Dd] +[^|]*\n[ -]*-----`), "the table that sacct prints for people"},
	{regexp.MustCompile(`^ *JOBID +[A-Z]`), "what squeue prints, which has no lengths"},
	{regexp.MustCompile(`^(?:ARRAY_JOB_ID|JOBID|[A-Z_]+\|JOBID)\|`), "what squeue prints, which has no lengths"},
	{regexp.MustCompile(`^(?:NodeName|PartitionName)=`), "what scontrol show nodes or partitions prints without --json"},
	{regexp.MustCompile(`^(?:PARTITION|NODELIST) +[A-Z]`), "what sinfo prints"},
	{regexp.MustCompile(`^JobId=\d`), "what scontrol show job prints"},
	{regexp.MustCompile(`^(?:Name\|Priority\||Name\|.*\bPreempt\b)`), "what sacctmgr show qos prints (for -qos)"},
}

// SlurmForm says in which other form records of Slurm are; empty: in none of these.
func SlurmForm(begin []byte) string {
	text := bytes.TrimLeft(begin, "\n\r")
	for _, f := range forms {
		if f.is.Match(text) {
			return f.what
		}
	}
	return ""
}
