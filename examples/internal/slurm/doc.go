// Package slurm reads what Slurm recorded of preemptions, and judges them: rows of sacct, the QOS, the nodes and partitions, the
// configuration, the log of slurmctld, which alone says for whom a job was preempted.
//
// What is told of a preemption follows from what is there. What does not is unknown, with its reason.
//
// Sources: Slurm 20.02 to 25.05: preempt.c, preempt_qos.c, preempt_partition_prio.c, log.c (how a job is named), sacct(1), sacctmgr(1),
// slurm.conf(5), preempt.html.
package slurm
