import { networkInterfaces } from 'node:os'

/** Returns whether this machine has an IPv6 loopback address, which containers often lack. */
export function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === '::1'),
  )
}
