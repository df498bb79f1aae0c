/** Clients that complete the handshake correctly and then send mutants. */
import { connect } from 'node:net'
import { ALL_INSTANCES } from '../../src/model/profile.ts'
import { encodeCreds } from '../../src/wire/creds.ts'
import { encodeDescReq } from '../../src/wire/desc.ts'
import { Framer } from '../../src/wire/framer.ts'
import { PDU_DESC, pduType } from '../../src/wire/pdu.ts'
import { encodeProfile } from '../../src/wire/profile.ts'
import { bytesOf, VECTORS } from '../wire/vectors.ts'
import { generator } from './generator.ts'
import { isDecodable, mutateGently, type Pick } from './mutants.ts'

/** Counts of an attack by clients. */
export interface AttackReport {
  readonly mutants: number
  /** Mutants accepted by framer and decoder. */
  readonly passed: number
  readonly connections: number
  /** Connections that the collector closed before their last mutant was answered. */
  readonly closed: number
  /** Replies received. */
  readonly replies: number
}

/** Mutants per connection, and concurrent connections. */
const ROUND = 100
const AT_ONCE = 4
/** One in this many connections ends with a header of a false length. */
const LYING = 20
/** How long to wait for the last reply, which a false length can prevent. */
const PATIENCE_MS = 5000

const SEEDS = VECTORS.filter(({ direction }) => direction === 'client->pmcd').map(({ hex }) => bytesOf(hex))

/** First line of a pmproxy that forwards a connection. */
const FORWARDED = 'pmproxy-server 1\n'

/** Sends `count` mutants, deterministic by seed; through a pmproxy to `behind` (`HOST PORT`) if given. */
export async function attackAsClients(
  port: number,
  count: number,
  seed: number,
  behind?: string,
): Promise<AttackReport> {
  const pick = generator(seed)
  const report = { mutants: 0, passed: 0, connections: 0, closed: 0, replies: 0 }
  const attacker = async (): Promise<void> => {
    while (report.mutants < count) {
      const mutants = Array.from({ length: Math.min(ROUND, count - report.mutants) }, () =>
        mutateGently(SEEDS[pick(SEEDS.length)]!, pick),
      ).filter((mutant) => mutant.length >= 12)
      report.mutants += mutants.length
      report.passed += mutants.filter(isDecodable).length
      report.connections++
      if (pick(LYING) === 0) mutants.push(lie(pick))
      const { wasClosed, replies } = await connection(port, mutants, behind)
      report.replies += replies
      if (wasClosed) report.closed++
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, attacker))
  return report
}

/** Returns a header with a false length (too long, too short, none) or an unknown type. */
function lie(pick: Pick): Uint8Array {
  const bytes = new Uint8Array(12 + 4 * pick(4))
  const view = new DataView(bytes.buffer)
  view.setInt32(0, [0x7fff_ffff, -1, 0, 11, 65_537, 1 << 24][pick(6)]!)
  view.setInt32(4, 0x7000 + pick(0x30))
  return bytes
}

/** One connection: handshake, mutants, and a request whose reply shows that the mutants were processed. */
function connection(
  port: number,
  mutants: readonly Uint8Array[],
  behind: string | undefined,
): Promise<{ wasClosed: boolean; replies: number }> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let replies = 0
    let isDone = false
    const done = (): void => {
      isDone = true
      socket.destroy()
    }
    const framer = new Framer((pdu) => {
      replies++
      if (replies === 1) {
        const all = [encodeCreds(0), encodeProfile(0, ALL_INSTANCES), ...mutants, encodeDescReq(LAST)]
        socket.write(Buffer.concat(all))
      } else if (
        pduType(pdu) === PDU_DESC &&
        new DataView(pdu.buffer, pdu.byteOffset).getUint32(12) === LAST
      ) {
        done()
      }
    })
    socket.setTimeout(PATIENCE_MS, done)
    let toSkip = behind === undefined ? 0 : FORWARDED.length
    if (behind !== undefined) socket.write(`pmproxy-client 1\n${behind}\n`)
    socket.on('data', (chunk) => {
      const skipped = Math.min(toSkip, chunk.length)
      toSkip -= skipped
      if (skipped < chunk.length) framer.push(chunk.subarray(skipped))
    })
    socket.on('error', () => {}) // the collector may reset the connection
    socket.on('close', () => resolve({ wasClosed: !isDone, replies }))
  })
}

/** simple.now */
const LAST = ((253 << 22) | (2 << 10) | 4) >>> 0
