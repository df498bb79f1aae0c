/** The table of checks. A new check is one row of its subject's table. */
import type { Check } from './check.ts'
import { NETWORK_CHECKS } from './checks/network.ts'
import { RUNTIME_CHECKS } from './checks/runtime.ts'
import { STATE_CHECKS } from './checks/state.ts'
import { SYSTEM_CHECKS } from './checks/system.ts'

export const CHECKS: readonly Check[] = [
  ...RUNTIME_CHECKS,
  ...NETWORK_CHECKS,
  ...STATE_CHECKS,
  ...SYSTEM_CHECKS,
]
