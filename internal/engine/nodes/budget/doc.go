// Package budget says which evictions disruption budgets allow: a [Ledger] is charged for units, one after the other.
package budget
