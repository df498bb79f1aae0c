/** Patterns of instances and names: the first line is the pattern, the others are matched. */
import { matchesGlob } from '../../../src/base/glob.ts'
import { compilePattern, PatternError } from '../../../src/base/pattern.ts'
import { PatternTooBig } from '../../../src/base/pattern-machine.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/base/pattern.ts and src/base/glob.ts. */
export const patterns: FuzzEntry = textEntry({
  seeds: () => [
    '^(sd[a-z]+|nvme[0-9]*n1)$\nsda\nnvme0n1',
    '[[:alpha:]_]+(a|b)?{2,5}\\.\\w*\nab.c',
    '(((a*)*)*)*b{3,}\naaaaaaaa',
    '*[!a-c]?\\*\nxyz*',
    "\\<w\\>\\bx\\B\\`y\\'\nw x",
  ],
  mayThrow: (error) => error instanceof PatternError || error instanceof PatternTooBig,
  maxLength: 1024,
  run(text) {
    const [pattern = '', ...subjects] = text.split('\n')
    for (const hasEscapes of [false, true]) {
      try {
        const compiled = compilePattern(pattern, hasEscapes)
        for (const subject of subjects) compiled.test(subject)
      } catch (error) {
        if (!(error instanceof PatternError)) throw error
      }
    }
    for (const subject of subjects.slice(0, 5)) matchesGlob(pattern, subject)
  },
})
