/** IPv6, which containers often lack. */
import { networkInterfaces } from 'node:os'

/** Has this machine the IPv6 address of loopback? */
export function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === '::1'),
  )
}
