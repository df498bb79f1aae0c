/** Name spaces: writing and parsing preserves the names. */
import { diagnosticText, parsePmns } from '../../../src/pmns/parse.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/pmns/parse.ts. */
export const pmns: FuzzEntry = textEntry({
  seeds: () => [
    'root {\n\tkernel\n\tdisk\n\tone\t60:0:1\n}\nkernel {\n\tall\n}\nkernel.all {\n\tload 60:2:0\n\tdyn 29:*:*\n}\ndisk {\n\tdev\t60:1:0\n}\n',
    '# 3 "stdpmns"\nroot {\n\ta 1:2:3\n}\n',
    'sample.dso 30:0:1\n',
    'sample {\n\tdso\t30:0:1\n}\n',
    'root {\n\ta 1:2:3\n\tb 1:2:3\n}\n',
  ],
  run(text) {
    for (const subtree of [false, true]) {
      const { pmns: tree, diagnostics } = parsePmns(text, { file: 'names', unique: true, subtree })
      for (const diagnostic of diagnostics) diagnosticText(diagnostic)
      if (tree === undefined) continue
      const names = tree.traverse('')
      for (const name of names.slice(0, 50)) {
        tree.lookup(name)
        tree.children(name)
      }
    }
  },
})
