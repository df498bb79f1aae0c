/** How much memory strangers may make a daemon hold. docs/decisions/budgets.md */
import type { BudgetLimits } from '../base/byte-budget.ts'

const MIB = 2 ** 20
/** What one client may keep: 64 contexts with a full profile each. */
const EACH = 6 * MIB
/** What all may hold, where the heap is not small. */
const ALL = 96 * MIB
/** The part of a small heap that is theirs. */
const SHARE = 1 / 4
/** Replaces `ALL`, in MiB. */
const VARIABLE = 'PCP_TS_CLIENT_MEMORY'

/** Returns the bounds of this process; the environment may name another one for all clients together. */
export function clientMemory(env: Readonly<Record<string, string | undefined>> = process.env): BudgetLimits {
  const { heap_size_limit } = process.getBuiltinModule('node:v8').getHeapStatistics()
  const given = Number(env[VARIABLE])
  const all = given > 0 ? given * MIB : Math.min(ALL, heap_size_limit * SHARE)
  return { each: Math.min(EACH, all / 2), all }
}
