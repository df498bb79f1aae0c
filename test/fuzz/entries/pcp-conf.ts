/** pcp.conf. */
import { parsePcpConf } from '../../../src/sys/config.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/sys/config.ts. */
export const pcpConf: FuzzEntry = textEntry({
  seeds: () => ['# comment\nPCP_VAR_DIR=/var/lib/pcp\nPCP_X="a b"\nexport PCP_Y=\'c\'\n'],
  run: (text) => void parsePcpConf(text),
})
