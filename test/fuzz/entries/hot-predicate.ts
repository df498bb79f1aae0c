/** Predicates of hot processes and who may see them. */
import { parseAccess } from '../../../src/agents/proc/access.ts'
import { parsePredicate } from '../../../src/agents/proc/hot/predicate.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/agents/proc. */
export const hotPredicate: FuzzEntry = textEntry({
  seeds: () => [
    'cpuburn > 0.1 && (fname ~ "x.*" || uname == "root") && !(vsize >= 3000)\n',
    '# comment\npsargs !~ "a b" and ctxswitch < 5.5 or syscalls != 7\n',
    'allow user root\nallow group wheel, adm\n',
  ],
  run(text) {
    parsePredicate(text)
    parseAccess(text)
  },
})
