/** Opens a recorder's share by the place of the shared state. docs/reference/pmlogger.md */
import { randomBytes } from 'node:crypto'
import { PcpError } from '../model/errors.ts'
import type { Clock } from '../pmapi/clock.ts'
import { formatIdentity, hasEnded, ownIdentity, parseIdentity } from '../sys/process-identity.ts'
import { FileRegister } from './file-register.ts'
import { isKeyServer, KeyRegister } from './key-register.ts'
import { Membership } from './membership.ts'
import { Share } from './share.ts'

export type { Share } from './share.ts'

/** Settings of a share. */
export interface ShareOptions {
  /** An absolute directory, or the URL of a key server. */
  readonly place: string
  readonly name: string
  readonly leaseMs: number
}

/** Environment of a share. */
export interface ShareIo {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly changed: () => void
  readonly say: (problem: string) => void
}

/** Throws EINVAL for an invalid place. */
export function openShare({ place, name, leaseMs }: ShareOptions, io: ShareIo): Share {
  if (/^[a-z]+:\/\//.test(place) && !isKeyServer(place))
    throw new PcpError(
      'EINVAL',
      `--share ${place}: use a directory, redis://HOST, rediss://HOST or valkey://HOST`,
    )
  const register = isKeyServer(place) ? new KeyRegister(place, leaseMs, io.env) : new FileRegister(place)
  const membership = new Membership({
    name,
    newId: () => randomBytes(8).toString('hex'),
    ttlMs: leaseMs,
    process: formatIdentity(ownIdentity()),
    hasEnded: (text) => {
      const identity = parseIdentity(text)
      return identity !== undefined && hasEnded(identity)
    },
    place: register.place,
  })
  return new Share({ membership, register, ttlMs: leaseMs, ...io })
}
