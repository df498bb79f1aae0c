/** Configurations of pmlogger, with their access sections. */
import { parseLoggerConfig } from '../../../src/pmlogger/config.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/pmlogger/config.ts. */
export const pmloggerConfig: FuzzEntry = textEntry({
  seeds: () => [
    'log mandatory on 5 seconds {\n\tkernel.all.load [ "1 minute", "5 minute" ]\n\tdisk.dev\n}\n',
    'log advisory on default hinv\nlog mandatory maybe proc\nlog off { a b, c }\nlog on every 2.5 min { x[1] }\n',
    '# 3 "included"\nlog on once { a }\n[access]\ndisallow * : all;\nallow local:* : enquire, advisory;\n',
    '[access]\nallow hosts "10.0.0.*", localhost : all except mandatory;\n',
  ],
  run: (text) => void parseLoggerConfig(text, 'config'),
})
