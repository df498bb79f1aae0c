/** Recording for `pmlogger http://...`: archives in a spool, which are pushed and removed. docs/reference/pmlogger.md */
import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { setLongTimeout } from '../base/after.ts'
import { every } from '../base/every.ts'
import { onAbort } from '../base/on-abort.ts'
import { loadTlsConfig, readCas } from '../net/tls-config.ts'
import { PushClient } from '../push/client.ts'
import { Spool, type SpoolClock } from '../push/spool.ts'
import { plainWarning, pushTarget } from '../push/target.ts'
import type { Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import type { Logger } from './logger.ts'
import type { ProcessSettings } from './process-settings.ts'
import { SPOOL_LIMITS, type SpoolLimits } from './sizes.ts'

/** Archives end at this share of the spool, and after a day, so that whole archives can be removed. */
const ARCHIVES_IN_SPOOL = 8
const LONGEST_MS = 24 * 3_600_000
const CHECK_MS = 10_000
/** How long the end of a recording waits for the server. */
const LAST_PUSH_MS = 5000

const CLOCK: SpoolClock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const cancel = setLongTimeout(ms, done)
      const unwatch = onAbort(signal, done)
      function done(): void {
        cancel()
        unwatch()
        resolve()
      }
      if (signal.aborted) done()
    }),
}

/** Pushes what a logger records. */
export class PushedRecording {
  /** Name without credentials. */
  readonly server: string
  /** Directory of the archives. */
  readonly directory: string
  readonly #spool: Spool
  readonly #client: PushClient
  readonly #limits: SpoolLimits
  readonly #log: Log
  readonly #ending: AbortController

  private constructor(
    server: string,
    directory: string,
    spool: Spool,
    client: PushClient,
    limits: SpoolLimits,
    log: Log,
    ending: AbortController,
  ) {
    this.server = server
    this.directory = directory
    this.#spool = spool
    this.#client = client
    this.#limits = limits
    this.#log = log
    this.#ending = ending
  }

  /** Opens the spool and begins to push its archives. Throws errors of the URL, credentials, TLS files and the directory. */
  static async open(settings: ProcessSettings, variables: Variables, log: Log): Promise<PushedRecording> {
    const target = pushTarget(settings.archive, settings.credentialFile)
    const warning = plainWarning(target)
    if (warning !== undefined) log.notice('warning', warning)
    const ending = new AbortController()
    const client = new PushClient(target, readCas(loadTlsConfig(variables)), ending.signal)
    const limits = settings.spoolLimits ?? SPOOL_LIMITS
    const server = `${target.url.origin}${target.url.pathname.replace(/\/$/, '')}`
    const directory = settings.directory ?? defaultSpool(server, settings.source, variables)
    const spool = await Spool.open({
      ...{ directory, requests: client, maxBytes: limits.bytes, maxAgeMs: limits.ageMs, clock: CLOCK },
      log: (level, text) => log.notice(level, text),
    })
    spool.start()
    return new PushedRecording(server, directory, spool, client, limits, log, ending)
  }

  /** Pushes an archive that has begun; ends it in time for its successor. */
  async begun(path: string, logger: Logger): Promise<void> {
    const name = basename(path)
    const startMs = performance.now()
    const check = (): void => {
      const isFull = logger.dataBytes >= this.#limits.bytes / ARCHIVES_IN_SPOOL
      if (isFull || performance.now() - startMs >= LONGEST_MS)
        logger.continueElsewhere('The spooled archive is complete, continuing in a new one')
    }
    const timer = every(CHECK_MS, check, (error) => this.#log.notice('error', String(error)))
    timer.unref()
    void logger.ended.then(() => {
      clearInterval(timer)
      this.#spool.ended(name)
    })
    await this.#spool.begin(name)
  }

  /** Pushes the rest if the server answers, and closes the connection. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#ending.abort(), LAST_PUSH_MS)
    await this.#spool.close()
    clearTimeout(timer)
    this.#client.close()
  }
}

/** Returns the spool of a server and a collector. */
function defaultSpool(server: string, source: string, variables: Variables): string {
  const digest = createHash('sha256').update(`${server}\n${source}`).digest('hex').slice(0, 8)
  const name = `${new URL(server).host}-${source}`.replace(/[^\w.-]+/g, '_').slice(0, 100)
  return join(variables['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'spool', 'pmlogger', `${name}-${digest}`)
}
