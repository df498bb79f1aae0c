/** The preprocessor of name spaces and configurations. */
import { preprocess } from '../../../src/pmns/cpp.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Text that expansion may make of a few kilobytes. */
const MOST = 64 * 2 ** 20

/** Entry of src/pmns/cpp.ts. */
export const pmcpp: FuzzEntry = textEntry({
  seeds: () => [
    '#define A 1\n#define B "x A"\n#ifdef A\nA B /* note */\n#else\nno\n#endif\n#undef A\nA\n',
    '%define host localhost\n%ifndef x\n#host #{host}s\n%endif\n%include "other"\n',
    '#include "other"\n#include <other>\n#shell echo\n',
    "#define Q 'a b'\nQ\\\nQ // end\n",
  ],
  run(text) {
    for (const isPercent of [false, true]) {
      let nested = 0
      const output = preprocess(text, {
        file: 'main',
        isPercent,
        isRestricted: isPercent,
        resolve: (name) => (nested++ < 8 ? { path: name, text: '#define OTHER 1\n' } : undefined),
        runShell: (command) => `${command}\n`,
        defines: { GIVEN: '1' },
      })
      if (output.length > MOST) throw new Error(`${output.length} characters`)
    }
  },
})
