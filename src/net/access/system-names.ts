/** What access rules need to know about names, as this system knows them. */
import { networkInterfaces } from 'node:os'
import { openAccounts } from '../../sys/native/accounts.ts'
import type { NameService } from './table.ts'

/** Hosts by the system's resolver, addresses of its interfaces, its users and groups. */
export const SYSTEM_NAMES: NameService = {
  addressesOf: async (host) => {
    const { lookup } = process.getBuiltinModule('node:dns/promises')
    try {
      const found = await lookup(host, { all: true })
      return found.map(({ address }) => address)
    } catch {
      return [] // the caller says that the host is unknown
    }
  },
  ownAddresses: () =>
    Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)),
  accounts: openAccounts,
}
