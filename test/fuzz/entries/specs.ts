/** Specifications of metrics and of local agents. */

import { parseMetricSpec } from '../../../src/pmapi/metric-spec.ts'
import { parseLocalSpec } from '../../../src/routing/local-spec.ts'
import { parseSpec } from '../../../src/tools/lib/report/spec.ts'
import { attemptAll, type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/pmapi/metric-spec.ts and src/routing/local-spec.ts. */
export const specs: FuzzEntry = textEntry({
  seeds: () => [
    'host:disk.dev.read["sda","sd b"]',
    '/archive/x/kernel.all.load[1 minute, 5]',
    'add,60,/x/pmda.so,init',
    'del,60',
    'clear',
    'kernel.all.load,label,"1 minute",KB/s,raw,8,2,5',
  ],
  maxLength: 512,
  run(text) {
    const parsers = [parseMetricSpec, parseLocalSpec, parseSpec]
    attemptAll(
      specs,
      parsers.map((parse) => () => parse(text)),
    )
  },
})
