/** Configurations of pmcd: agents and access. */
import { parseAddress } from '../../../src/net/access/table.ts'
import { parseAccessFile, parseConfig } from '../../../src/routing/pmcd-conf.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/routing/pmcd-conf.ts and src/net/access. */
export const pmcdConfig: FuzzEntry = textEntry({
  seeds: () => [
    '# comment\nroot 1 pipe binary /var/lib/pcp/pmdas/root/pmdaroot\nproc 3 pipe binary notready /x/pmdaproc -d 3\nxfs 11 dso xfs_init /x/pmda_xfs.so\n',
    'sample 29 socket inet 2077 /x/pmdasample -i 2077\nsample 29 socket unix /tmp/s\ntrivial 250 dso worker:trivial /x/t.js\n\n[access]\ndisallow "*" : store;\nallow "local:*" : all;\n',
    '[access]\nallow hosts 10.0.*, 192.168.1.1, "fe80:*" : fetch, maximum 5 connections;\nallow user root, "a b" : all;\ndisallow groups * : all except fetch;\n',
    'allow hosts localhost : maximum unlimited connections;\ndisallow users * : store;\n',
  ],
  run(text) {
    for (const { access } of [parseConfig(text, { servicePort: () => 4321 }), parseAccessFile(text)])
      for (const { names } of access) for (const name of names) parseAddress(name)
  },
})
