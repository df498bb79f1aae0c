/** Groups and configurations of pmlogconf. */
import { parseConfig } from '../../../src/tools/pmlogconf/config-file.ts'
import { parseGroup } from '../../../src/tools/pmlogconf/group-file.ts'
import { parseRepConfig } from '../../../src/tools/pmlogconf/rep-file.ts'
import { attemptAll, type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/tools/pmlogconf. */
export const pmlogconf: FuzzEntry = textEntry({
  seeds: () => [
    '#pmlogconf-setup 2.0\nident\tAll the load\ndelta 10 sec\nprobe\tkernel.all.load > 5 ? include : exclude\nforce available\ndefine\tx.y = a + b\n\tkernel.all.load\n\tdisk.dev [ "sda" ]\n',
    '#pmlogconf 2.0\n# On a machine\n#+ groupdir /x\n#+ disk/percpu:y:default:\n## text\nlog advisory on default {\n\ta\n}\n#----\n# DO NOT UPDATE THE FILE ABOVE THIS LINE\n[access]\nallow local:* : enquire;\n',
    '#pmrepconf\n[a]\nx = y\n',
  ],
  run(text) {
    const parsers = [parseConfig, parseRepConfig, (given: string) => parseGroup(given, 'group')]
    attemptAll(
      pmlogconf,
      parsers.map((parse) => () => parse(text)),
    )
  },
})
