/** A collector that attacks its clients in one of several ways, on a TCP port of this machine. */
import type { Socket } from 'node:net'
import { listen } from '../../src/net/listen.ts'
import { PDU_FLAG_DESCS, PDU_FLAG_HIGHRES, PDU_FLAG_LABELS } from '../../src/wire/creds.ts'
import { encodeDesc, encodeDescs } from '../../src/wire/desc.ts'
import { encodeChallenge, encodeError } from '../../src/wire/error.ts'
import { Framer } from '../../src/wire/framer.ts'
import {
  PDU_CREDS,
  PDU_DESC_IDS,
  PDU_DESC_REQ,
  PDU_FETCH,
  PDU_HIGHRES_FETCH,
  PDU_HIGHRES_RESULT,
  PDU_INSTANCE,
  PDU_INSTANCE_REQ,
  PDU_LABEL,
  PDU_LABEL_REQ,
  PDU_PMNS_CHILD,
  PDU_PMNS_IDS,
  PDU_PMNS_NAMES,
  PDU_PMNS_TRAVERSE,
  PDU_PROFILE,
  PDU_RESULT,
  PDU_TEXT,
  PDU_TEXT_REQ,
  pduType,
  wordAt,
} from '../../src/wire/pdu.ts'
import { decodePmnsNames, encodePmnsIds, encodePmnsNames } from '../../src/wire/pmns.ts'
import { encodeTextReply } from '../../src/wire/text.ts'

/** The only metric; it has instances. */
export const HOSTILE_METRIC = 'hostile.metric'
const PMID = (29 << 22) | 1
const INDOM = (29 << 22) | 1
const MIB = 2 ** 20

/** Kind of attack. */
export type HostileKind = string

/** Answers one request; undefined to answer honestly. */
type Answer = (type: number, pdu: Uint8Array, socket: Socket) => readonly Uint8Array[] | undefined

/** Returns a PDU with a header that states `length`, which may be false. */
function pdu(type: number, words: readonly number[], length: number = 12 + 4 * words.length): Uint8Array {
  const bytes = new Uint8Array(12 + 4 * words.length)
  const view = new DataView(bytes.buffer)
  view.setInt32(0, length)
  view.setInt32(4, type)
  for (const [i, word] of words.entries()) view.setInt32(12 + 4 * i, word)
  return bytes
}

/** Returns a PDU of some length with these words at its start. */
function long(type: number, words: readonly number[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes)
  whole.set(pdu(type, words, bytes))
  return whole
}

const isFetch = (type: number): boolean => type === PDU_FETCH || type === PDU_HIGHRES_FETCH

const made = new Map<number, Uint8Array>()

/** Returns a complete HIGHRES_RESULT of one metric with many values; cached, because creating it takes longer than clients wait. */
function values(count: number): Uint8Array {
  const known = made.get(count)
  if (known !== undefined) return known
  const bytes = long(PDU_HIGHRES_RESULT, [1, 0, 1, 0, 0, PMID, count, 0], 44 + 8 * count)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < count; i++) view.setInt32(44 + 8 * i, i)
  made.set(count, bytes)
  return bytes
}

/** Restricts an answer to requests of this type. */
const to =
  (wanted: number | ((type: number) => boolean), ...replies: readonly (() => Uint8Array)[]): Answer =>
  (type) =>
    (typeof wanted === 'number' ? type === wanted : wanted(type))
      ? replies.map((reply) => reply())
      : undefined

/** Sends data as long as the client reads. */
function flood(socket: Socket, chunk: Uint8Array): void {
  const more = (): void => {
    if (socket.destroyed) return
    if (socket.write(chunk)) setImmediate(more)
    else socket.once('drain', more)
  }
  more()
}

const KINDS: Readonly<Record<string, Answer>> = {
  /** Announces 2 GB and sends nothing. */
  'huge length': to(isFetch, () => pdu(PDU_HIGHRES_RESULT, [1], 2 ** 31 - 2000)),
  /** Announces 63 MiB and sends them byte by byte. */
  'slow drip': (type, _, socket) => {
    if (!isFetch(type)) return undefined
    socket.write(pdu(PDU_HIGHRES_RESULT, [1], 63 * MIB))
    const timer = setInterval(() => socket.write(new Uint8Array(1)), 50)
    socket.once('close', () => clearInterval(timer))
    return []
  },
  /** Announces 2 GB and sends them. */
  'endless PDU': (type, _, socket) => {
    if (!isFetch(type)) return undefined
    socket.write(pdu(PDU_HIGHRES_RESULT, [1], 2 ** 31 - 2000))
    flood(socket, new Uint8Array(MIB))
    return []
  },
  /** Counts of two billion in 60 bytes. */
  'false counts': (type) => {
    const reply = {
      [PDU_FETCH]: [PDU_RESULT, 0, 0, 2 ** 31 - 1],
      [PDU_HIGHRES_FETCH]: [PDU_HIGHRES_RESULT, 1, 0, 0, 0, 0, PMID, 2 ** 31 - 1, 0],
      [PDU_INSTANCE_REQ]: [PDU_INSTANCE, INDOM, 2 ** 31 - 1],
      [PDU_LABEL_REQ]: [PDU_LABEL, 0, 1, 0, 2 ** 31 - 1],
    }[type]
    return reply === undefined ? undefined : [pdu(reply[0]!, [...reply.slice(1), 0, 0, 0])]
  },
  /** Eight million values, all present: slightly less than the largest PDU. */
  'eight million values': to(isFetch, () => values(8_000_000)),
  'two million values': to(isFetch, () => values(2_000_000)),
  /** Six million instances without names. */
  'endless instances': to(PDU_INSTANCE_REQ, () => {
    const count = 6_000_000
    const bytes = long(PDU_INSTANCE, [INDOM, count], 20 + 8 * count)
    const view = new DataView(bytes.buffer)
    for (let i = 0; i < count; i++) view.setInt32(20 + 8 * i, i)
    return bytes
  }),
  /** Five million empty names. */
  'endless names': to(PDU_PMNS_TRAVERSE, () =>
    long(PDU_PMNS_NAMES, [5_000_000, 0, 5_000_000], 24 + 4 * 5_000_000),
  ),
  /** A name space that contains itself. */
  'endless name space': to(PDU_PMNS_CHILD, () => encodePmnsNames(['hostile'], [1])),
  /** A million empty label sets for any request. */
  'endless labels': (type, request) => {
    if (type !== 0x7012) return undefined
    const sets = 1_500_000
    const level = wordAt(request, 16)
    return [long(PDU_LABEL, [wordAt(request, 12), level, 0, sets], 28 + 16 * sets)]
  },
  /** A label whose value is nested 30,000 deep. */
  'deep JSON': (type, request) => {
    if (type !== PDU_LABEL_REQ) return undefined
    const value = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    const json = new TextEncoder().encode(`{"a":${value}}`)
    const bytes = new Uint8Array(28 + 16 + 8 + json.length)
    bytes.set(
      pdu(PDU_LABEL, [wordAt(request, 12), wordAt(request, 16), 0, 1, -1, 1, 52, json.length], bytes.length),
    )
    const view = new DataView(bytes.buffer)
    view.setUint16(44, 2)
    view.setUint8(46, 1)
    view.setUint16(48, 5)
    view.setUint16(50, value.length)
    bytes.set(json, 52)
    return [bytes]
  },
  /** A text of 60 MB. */
  'endless text': to(PDU_TEXT_REQ, () => long(PDU_TEXT, [PMID, 60 * MIB], 20 + 60 * MIB)),
  /** Replies of a type other than requested. */
  'wrong type': (type) => (type === PDU_PROFILE ? [] : [encodeTextReply(PMID, 'hello')]),
  /** Replies without a request. */
  'answers to nothing': (type, _, socket) => {
    if (type !== PDU_CREDS) return undefined
    flood(socket, Buffer.concat(Array.from({ length: 1000 }, () => encodeTextReply(PMID, 'hello'))))
    return []
  },
  /** Notifications of changes, and never a reply. */
  'endless news': (type, _, socket) => {
    if (!isFetch(type)) return undefined
    flood(socket, Buffer.concat(Array.from({ length: 1000 }, () => encodeError(4))))
    return []
  },
  /** Three value sets instead of one. */
  'more than was asked': to(isFetch, () =>
    pdu(PDU_HIGHRES_RESULT, [3, 0, 1, 0, 0, PMID, 0, PMID + 1, 0, PMID + 2, 0]),
  ),
}

/** All kinds. */
export const HOSTILE_KINDS: readonly HostileKind[] = Object.keys(KINDS)

/** A hostile collector. */
export interface HostileCollector {
  readonly port: number
  close(): Promise<void>
}

/** Starts a hostile collector. It is honest in requests that its kind does not cover, and completely for some initial fetches. */
export async function hostileCollector(kind: HostileKind, honestFetches = 0): Promise<HostileCollector> {
  const sockets = new Set<Socket>()
  for (const count of [2_000_000, 8_000_000]) values(count)
  let fetches = 0
  const hostile: Answer = (type, request, socket) => {
    if (isFetch(type)) fetches++
    return fetches < honestFetches ? undefined : KINDS[kind]!(type, request, socket)
  }
  const onConnection = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    const framer = new Framer((request) => {
      const type = pduType(request)
      for (const reply of hostile(type, request, socket) ?? honest(type, request)) socket.write(reply)
    })
    socket.on('data', (chunk: Uint8Array) => framer.push(chunk))
    socket.write(encodeChallenge(PDU_FLAG_LABELS | PDU_FLAG_HIGHRES | PDU_FLAG_DESCS, 0))
  }
  const listeners = await listen({ ports: [0], addresses: ['127.0.0.1'], onConnection })
  return {
    port: listeners.endpoints[0]!.port,
    async close(): Promise<void> {
      await listeners.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

const DESC = { pmid: PMID, type: 0, indom: INDOM, sem: 3, units: 0 }

function honest(type: number, request: Uint8Array): readonly Uint8Array[] {
  switch (type) {
    case PDU_CREDS:
    case PDU_PROFILE:
      return []
    case PDU_PMNS_NAMES:
      return [
        encodePmnsIds(
          decodePmnsNames(request).names.map(() => PMID),
          1,
        ),
      ]
    case PDU_PMNS_IDS:
      return [encodePmnsNames([HOSTILE_METRIC])]
    case PDU_PMNS_TRAVERSE:
      return [encodePmnsNames([HOSTILE_METRIC])]
    case PDU_PMNS_CHILD:
      return [encodePmnsNames(['metric'], [0])]
    case PDU_DESC_REQ:
      return [encodeDesc(DESC)]
    case PDU_DESC_IDS:
      return [encodeDescs(Array.from({ length: wordAt(request, 16) }, () => DESC))]
    case PDU_INSTANCE_REQ:
      return [pdu(PDU_INSTANCE, [INDOM, 1, 0, 4, 0x6e616d65])]
    case PDU_TEXT_REQ:
      return [encodeTextReply(PMID, 'A metric of a hostile collector')]
    case PDU_LABEL_REQ:
      return [encodeError(-12444)]
    case PDU_HIGHRES_FETCH: {
      const ids = new DataView(request.buffer, request.byteOffset)
      const count = wordAt(request, 24)
      const sets = Array.from({ length: count }, (_, i) => [ids.getInt32(28 + 4 * i), 1, 0, 0, 7]).flat()
      return [pdu(PDU_HIGHRES_RESULT, [count, 0, Math.floor(Date.now() / 1000), 0, 0, ...sets])]
    }
    default:
      return [encodeError(-12366)]
  }
}
