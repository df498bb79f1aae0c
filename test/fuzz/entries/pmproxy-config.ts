/** Configurations of pmproxy. */
import { configOf } from '../../../src/pmproxy/config.ts'
import { parseIni } from '../../../src/pmproxy/ini.ts'
import { parseKeyServer } from '../../../src/series/keys/address.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/pmproxy/config.ts. */
export const pmproxyConfig: FuzzEntry = textEntry({
  seeds: () => [
    '[pmproxy]\npcp.enabled = true\nhttp.enabled = true\nkeys.enabled = false\nchunksize = 4096\n[http]\nAccess-Control-Allow-Headers = Accept\n[keys]\nservers = localhost:6379, [::1]:6380\n# comment\n',
    '[ui]\nhosts = a, b:44321\nnames = x.example.org\noffer = yes\narchives = /var/log/pcp\nhistory = 30\n[pmwebapi]\nstore = "no" ; comment\n',
  ],
  run(text) {
    const ini = parseIni(text)
    configOf(ini, {}, () => undefined)
    for (const value of [...ini.values()].slice(0, 10)) parseKeyServer(value)
  },
})
