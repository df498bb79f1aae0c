/** Bounds on the memory that clients may make a daemon hold. docs/decisions/budgets.md */
import type { BudgetLimits } from '../base/byte-budget.ts'

const MIB = 2 ** 20
/** Limit for one client: 64 contexts with a full profile each. */
const EACH = 6 * MIB
/** Limit for all clients, unless the heap is small. */
const ALL = 96 * MIB
/** Share of a small heap for all clients. */
const SHARE = 1 / 4
/** Replaces `ALL`, in MiB. */
const VARIABLE = 'PCP_TS_CLIENT_MEMORY'

/** Returns the limits of this process; the environment may override the total. */
export function clientMemory(env: Readonly<Record<string, string | undefined>> = process.env): BudgetLimits {
  const { heap_size_limit } = process.getBuiltinModule('node:v8').getHeapStatistics()
  const given = Number(env[VARIABLE])
  const all = given > 0 ? given * MIB : Math.min(ALL, heap_size_limit * SHARE)
  return { each: Math.min(EACH, all / 2), all }
}
