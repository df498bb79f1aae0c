/** The file of users who may authenticate. */
import { parseUsers } from '../../../src/net/sasl/user-file.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

const KEY = 'A'.repeat(43)

/** Entry of src/net/sasl/user-file.ts. */
export const passwd: FuzzEntry = textEntry({
  seeds: () => [`# users\nalice:SCRAM-SHA-256$4096:c2FsdA==$${KEY}=:${KEY}=\n`],
  run: (text) => void parseUsers(text, 'passwd.conf'),
})
