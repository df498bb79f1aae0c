/** Series of a key server: connected when first needed, and again after it was away. */
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { PcpError } from '../../model/errors.ts'
import { domainOf, type Pmid } from '../../model/ids.ts'
import { PROC_DOMAIN } from '../../model/process-sample.ts'
import { VisibleSeries } from '../../series/hidden.ts'
import { KeyClient } from '../../series/keys/client.ts'
import { VERSION_KEY } from '../../series/keys/schema.ts'
import { KeySeries } from '../../series/keys/store.ts'
import type { SeriesStore } from '../../series/store.ts'
import type { Log } from '../../sys/log.ts'
import type { ServedKeySettings } from './settings.ts'

const RETRY_MS = doublingDelays(500, 10_000)

/** A connection, with all series and with those for everyone. */
interface Opened {
  readonly client: KeyClient
  readonly store: SeriesStore
  readonly forEveryone: SeriesStore
}

/** See above. */
export class ServedKeys {
  readonly settings: ServedKeySettings
  readonly #log: Log
  readonly #backoff = new Backoff({ delaysMs: RETRY_MS })
  #opening: Promise<Opened | PcpError> | undefined
  #isAway = false
  #isClosed = false

  constructor(settings: ServedKeySettings, log: Log) {
    this.settings = settings
    this.#log = log
  }

  /** Returns the series, without those of processes unless `seesProcesses`, or why they are not available. */
  async store(seesProcesses: boolean): Promise<SeriesStore | PcpError> {
    this.#opening ??= this.#open()
    const opened = await this.#opening
    if (!(opened instanceof PcpError)) return seesProcesses ? opened.store : opened.forEveryone
    if (this.#backoff.canRetry(performance.now())) this.#opening = undefined
    return opened
  }

  /** Returns whether the server still answers; otherwise the next request connects again. */
  async stillAnswers(): Promise<boolean> {
    const opened = await this.#opening
    if (opened === undefined || opened instanceof PcpError) return false
    try {
      await opened.client.call('GET', VERSION_KEY)
      return true
    } catch (error) {
      this.#away(PcpError.from(error))
      await opened.store.close()
      opened.client.close()
      this.#opening = undefined
      return false
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const opened = await this.#opening
    if (opened === undefined || opened instanceof PcpError) return
    await opened.store.close()
    opened.client.close()
  }

  async #open(): Promise<Opened | PcpError> {
    let client: KeyClient | undefined
    try {
      client = await KeyClient.open(this.settings.servers, this.settings.link)
      const store = await KeySeries.open(client)
      if (this.#isClosed) client.close()
      this.#backoff.succeeded(performance.now())
      this.#log.notice('info', `Series are those of key server ${client.name}`)
      this.#isAway = false
      return { client, store, forEveryone: new VisibleSeries(store, isOfProcesses) }
    } catch (error) {
      client?.close()
      return this.#away(PcpError.from(error))
    }
  }

  #away(error: PcpError): PcpError {
    this.#backoff.failed(performance.now())
    if (!this.#isAway)
      this.#log.notice('warning', `${error.message}; until it is back, series are those of archives`)
    this.#isAway = true
    return error
  }
}

function isOfProcesses(pmid: Pmid): boolean {
  return domainOf(pmid) === PROC_DOMAIN
}
