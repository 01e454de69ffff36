// Package audit says of an eviction that has happened whether it was right: did the preemptor need it, do the rules permit
// each victim, could one have stayed, and would other victims have lost less?
//
//	finding, err := audit.Judge(snapshot, config, audit.Eviction{Request: request, Victims: []string{"ns/a", "ns/b"}})
//	if finding.Verdict != audit.Right {
//		fmt.Println(finding.Verdict, finding.Victims)
//	}
//
// The snapshot is the cluster as it was just before, with the victims running; the request is that of the preemptor at
// that instant. Any scheduler may have chosen the victims: another set than that of Decide is right where the rules
// permit it.
//
// What was chosen is judged by the rules that decide: the engine is asked about the victims alone, while a
// [preemption.Guard] keeps everybody else. Package verify judges by models of another hand, more slowly; tests hold the
// two together.
//
// [JudgePods] says the same of an eviction on nodes, by the rules of package placement.
//
// The zero Finding is invalid. The only error is [preemption.Faults]: a snapshot, request or configuration that is not
// valid; no victim, one that does not run or was told before, one twice. The rules are those of package preemption, with
// their sources.
package audit
