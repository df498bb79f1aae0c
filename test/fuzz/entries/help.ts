/** Help texts of agents: sources, and the files made of them. */
import { encodeHelp, HelpFile } from '../../../src/pmda/help-file.ts'
import { parseHelpSource } from '../../../src/pmda/help-source.ts'
import { type FuzzEntry, joinParts, splitParts, textEntry } from '../engine/entry.ts'

/** Entry of src/pmda/help-source.ts. */
export const helpSource: FuzzEntry = textEntry({
  seeds: () => [
    '# comment\n@ sample.a one line\nThe text\nof it.\n@ 29.2 a domain\n\n@ 29.0.1 other\\\n more\n',
  ],
  run(text) {
    parseHelpSource(text, { pmidOf: () => 0x740_0001, warnsOfNull: true, report: () => undefined })
  },
})

/** Entry of src/pmda/help-file.ts. */
export const helpFile: FuzzEntry = {
  seeds: () =>
    [true, false].map((isLittle) => {
      const entry = { kind: 'metric', id: 0x740_0001, name: 'a.b', oneline: 'one', help: 'all' } as const
      const { dir, pag } = encodeHelp([entry, { ...entry, kind: 'indom', id: 0x740_0002 }], isLittle)
      return joinParts([dir, pag])
    }),
  maxLength: 1024,
  run(input) {
    const [dir, pag] = splitParts(input, 2)
    const file = new HelpFile({ dir: dir!, pag: pag! })
    void file
  },
}
