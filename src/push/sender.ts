/**
 * Pushes one archive. A server with resumption names the bytes it has: the sender's position is the receiver's file.
 *
 *     label, X-PCP-Archive-Id  →  number, sizes          after each interruption
 *     bytes, X-PCP-Offset      →  they are durable
 *     finish, sizes            →  all of it is durable: the sender may remove its files
 *
 * PCP's own servers do not send sizes; after an interruption the archive is then pushed again from its start. docs/decisions/push.md
 */
import { encodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import type { PushAnswer, PushRequests } from './client.ts'
import type { Part } from './label-check.ts'
import type { SentArchive } from './sent-archive.ts'
import { wholeRecords } from './whole-records.ts'

/** Bytes of a post. */
const BLOCK = 1 << 20

interface Session {
  readonly number: number
  /** Whether the server reports its sizes. */
  readonly resumes: boolean
  /** Bytes that the server has of each part. */
  readonly sizes: Map<string, number>
}

/** What a sender reports. */
export interface SenderOptions {
  /** The sender's own name of the archive, unique in the world. */
  readonly id: string
  /** Called for each post with its path, number of bytes and answer. */
  readonly posted?: (path: string, bytes: number, status: number) => void
}

/** Pushes an archive. Calls must not overlap. After an error, the next call continues. */
export class ArchiveSender {
  readonly #archive: SentArchive
  readonly #requests: PushRequests
  readonly #options: SenderOptions
  #session: Session | undefined
  /** The server has all of it from earlier. */
  #isFinished = false

  constructor(archive: SentArchive, requests: PushRequests, options: SenderOptions) {
    this.#archive = archive
    this.#requests = requests
    this.#options = options
  }

  /** Sends what the server lacks; resolves to the number of bytes. Throws a PcpError, see `answerError`. */
  async send(): Promise<number> {
    const label = this.#archive.label()
    if (label === undefined) return 0
    let sent = 0
    try {
      this.#session ??= await this.#begin(label)
      if (this.#isFinished) return 0
      for (const [part, end] of this.#archive.ends()) sent += await this.#sendPart(part, end, label.length)
      return sent
    } catch (error) {
      // Whether the last post was received is not known.
      this.#session = undefined
      throw error
    }
  }

  /** Sends the rest of an archive that does not grow any more, and ends it. */
  async finish(): Promise<void> {
    await this.send()
    const session = this.#session
    if (session === undefined || this.#isFinished || !session.resumes) return
    try {
      const sizes = JSON.stringify(Object.fromEntries(session.sizes))
      const answer = await this.#post(`/logger/finish/${session.number}`, {}, encodeText(sizes))
      if (answer.status !== 200) throw answerError(answer)
    } catch (error) {
      this.#session = undefined
      throw error
    }
  }

  async #begin(label: Uint8Array): Promise<Session> {
    const answer = await this.#post('/logger/label', { 'x-pcp-archive-id': this.#options.id }, label)
    const { archive, sizes, finished } = answer.fields
    if (answer.status !== 200) throw answerError(answer)
    if (!Number.isSafeInteger(archive))
      throw new PcpError('PM_ERR_IPC', 'The server did not number the archive')
    this.#isFinished = finished === true
    return { number: archive as number, resumes: sizes !== undefined, sizes: sizesOf(sizes) }
  }

  async #sendPart(part: Part, end: number, labelBytes: number): Promise<number> {
    const { number, resumes, sizes } = this.#session!
    const path = typeof part === 'number' ? `/logger/volume/${part}/${number}` : `/logger/${part}/${number}`
    let at = sizes.get(String(part)) ?? (resumes ? 0 : labelBytes)
    if (at > end && end > 0)
      throw new PcpError(
        'EEXIST',
        `The server has ${at} bytes of ${this.#archive.base}.${part}, which has ${end}`,
      )
    let sent = 0
    while (at < end) {
      const bytes = alignedBlock(
        part,
        this.#archive.read(part, at, Math.min(BLOCK, end - at)),
        at === 0 ? labelBytes : 0,
      )
      const answer = await this.#post(path, resumes ? { 'x-pcp-offset': String(at) } : {}, bytes)
      if (answer.status !== 200) throw answerError(answer)
      at += bytes.length
      sent += bytes.length
      sizes.set(String(part), at)
    }
    return sent
  }

  async #post(
    path: string,
    headers: Readonly<Record<string, string>>,
    bytes: Uint8Array,
  ): Promise<PushAnswer> {
    const answer = await this.#requests.post(path, headers, bytes)
    this.#options.posted?.(path, bytes.length, answer.status)
    return answer
  }
}

/** Shortens a block to its complete records, because a receiver keeps incomplete ones at some cost. */
function alignedBlock(part: Part, bytes: Uint8Array, labelBytes: number): Uint8Array {
  if (part === 'index') return bytes
  try {
    const whole = labelBytes + wholeRecords(bytes.subarray(labelBytes))
    return whole === 0 ? bytes : bytes.subarray(0, whole)
  } catch {
    return bytes // it begins within a record
  }
}

function sizesOf(value: unknown): Map<string, number> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return new Map(entries.filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])))
}

const CODES: Readonly<Record<number, ConstructorParameters<typeof PcpError>[0]>> = {
  400: 'EINVAL',
  401: 'PM_ERR_PERMISSION',
  403: 'PM_ERR_PERMISSION',
  409: 'EEXIST',
  410: 'ESRCH',
  422: 'PM_ERR_LABEL',
  429: 'EAGAIN',
  503: 'EBUSY',
  507: 'ENOSPC',
}

/**
 * Returns the error for an answer. EINVAL, EEXIST and PM_ERR_LABEL are final for the archive; after others the same may succeed
 * later, after ESRCH immediately. A difference of sizes is ESRCH too, because the answer to the next label has the sizes.
 */
function answerError({ status, fields }: PushAnswer): PcpError {
  const { message, sizes } = fields
  const text = typeof message === 'string' ? message : `the server answered ${status}`
  const code = status === 409 && sizes !== undefined ? 'ESRCH' : (CODES[status] ?? 'PM_ERR_IPC')
  return new PcpError(code, text)
}

/** Returns whether pushing the archive again cannot succeed. */
export function isFinal(error: unknown): boolean {
  const { code } = PcpError.from(error)
  return ['EINVAL', 'EEXIST', 'PM_ERR_LABEL', 'PM_ERR_LOGREC', 'PM_ERR_FEATURE'].includes(code)
}
