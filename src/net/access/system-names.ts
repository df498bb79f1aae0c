/** Name service of access rules, backed by this system. */
import { networkInterfaces } from 'node:os'
import { openAccounts } from '../../sys/native/accounts.ts'
import type { NameService } from './table.ts'

/** Uses the system's resolver, interfaces, users and groups. */
export const SYSTEM_NAMES: NameService = {
  addressesOf: async (host) => {
    const { lookup } = process.getBuiltinModule('node:dns/promises')
    try {
      const found = await lookup(host, { all: true })
      return found.map(({ address }) => address)
    } catch {
      return [] // the caller reports an unknown host
    }
  },
  ownAddresses: () =>
    Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)),
  accounts: openAccounts,
}
