/** Clients that make a collector store or do as much as possible. */
import { connect, type Socket } from 'node:net'
import { InstanceSet } from '../../../src/model/instance-set.ts'
import { encodeCreds } from '../../../src/wire/creds.ts'
import { encodePmnsTraverse } from '../../../src/wire/pmns.ts'
import { encodeProfile } from '../../../src/wire/profile.ts'

/** Connections of an attack, closed at its end. */
export class Flood {
  readonly #sockets = new Set<Socket>()

  /** Opens a connection that writes these bytes and reads nothing; resolves when they are written or it is closed. */
  open(port: number, bytes: Uint8Array): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1' })
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.pause()
    return new Promise((resolve) => {
      socket.once('close', () => {
        this.#sockets.delete(socket)
        resolve()
      })
      socket.write(bytes, () => resolve())
    })
  }

  /** Closes all connections. */
  close(): void {
    for (const socket of this.#sockets) {
      this.#sockets.delete(socket)
      socket.destroy()
    }
  }
}

const greeting = encodeCreds(0)

/** Returns PDUs with profiles of `instances` unordered instances for `contexts` contexts. */
export function profiles(contexts: number, instances: number): Uint8Array {
  const ids = Int32Array.from({ length: instances }, (_, i) => (i * 7919) % 1_000_003)
  return profilesOf(contexts, [InstanceSet.over(ids)])
}

/** Returns PDUs with profiles of `count` instance domains for `contexts` contexts. */
export function domains(contexts: number, count: number): Uint8Array {
  return profilesOf(contexts, Array<InstanceSet>(count).fill(InstanceSet.NONE))
}

function profilesOf(contexts: number, sets: readonly InstanceSet[]): Uint8Array {
  const entries = sets.map((instances, indom) => [indom, { indom, includeAll: false, instances }] as const)
  const profile = { includeByDefault: false, entries: new Map(entries) }
  return Buffer.concat([
    greeting,
    ...Array.from({ length: contexts }, (_, context) => encodeProfile(context, profile)),
  ])
}

/** Returns `count` requests for all names. */
export function traversals(count: number): Uint8Array {
  return Buffer.concat([greeting, ...Array.from({ length: count }, () => encodePmnsTraverse(''))])
}
