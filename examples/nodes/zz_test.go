package main
import ("testing";"bytes";"github.com/cedesched/cede/examples/internal/mutate";"fmt";"strings")
func TestZZ(t *testing.T){ n:=map[int]int{}; seen:=map[string]bool{}
 for seed:=range 400 { st,out,er:=call(bytes.NewReader(mutate.Text(sample,uint64(seed))),"-group",sampleGroup); n[st]++
  if er!=""&&!seen[er[:min(30,len(er))]] {seen[er[:min(30,len(er))]]=true; fmt.Printf("%d %q\n",seed,er)}
  for l := range strings.Lines(out) { if strings.HasPrefix(l,"Note") { k:=l[:min(25,len(l))]; if !seen[k]{seen[k]=true; fmt.Printf("%d %q\n",seed,l)}}}
 }
 fmt.Println(n)}
