/** Messages for web clients, without what only the operator may know: servers behind this one, and directories. docs/explanation/security-model.md */
import { basename } from 'node:path'
import { escapeRegExp } from '../base/escape-reg-exp.ts'
import { PcpError } from '../model/errors.ts'
import type { KeyServer } from '../series/keys/address.ts'
import type { ProxyConfig } from './config.ts'

/** A text that clients must not see, and its replacement. */
type Hidden = readonly [pattern: RegExp, shown: string]

/** The parts of a configuration that name servers and directories. */
export type HiddenConfig = Pick<ProxyConfig, 'archiveDirs' | 'prometheus'> & {
  readonly keySettings?: { readonly servers: readonly KeyServer[] } | undefined
}

/** Time in milliseconds during which other errors with the same code are not reported. */
const REPEAT_MS = 60_000

/** Servers of a cluster name each other, so their names need not be in the configuration. */
const OF_SERVERS: readonly Hidden[] = [
  [/Key server \S+?(?= \(cluster\)|: | )/g, 'Key server'],
  [/(getaddrinfo E\w+) \S+/g, '$1'],
]

/** Removes hidden texts from errors. */
export class Redaction {
  readonly #hidden: readonly Hidden[]
  readonly #report: (message: string) => void
  readonly #nowMs: () => number
  /** When an error was last reported, by its code. */
  readonly #reported = new Map<string, number>()

  /** `report` gets the original messages of changed ones, at most one a minute for each code. */
  constructor(
    config: HiddenConfig,
    report: (message: string) => void,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#hidden = hiddenTexts(config)
    this.#report = report
    this.#nowMs = nowMs
  }

  /** Returns an error for clients. */
  error(error: unknown): PcpError {
    const known = PcpError.from(error)
    const { code, message, status, reason } = known
    const shown = this.#hidden.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), message)
    if (shown === message) return known
    const now = this.#nowMs()
    if (now - (this.#reported.get(code) ?? Number.NEGATIVE_INFINITY) >= REPEAT_MS) {
      this.#reported.set(code, now)
      this.#report(message)
    }
    return new PcpError(code, shown, { status, reason, cause: error })
  }
}

function hiddenTexts({ archiveDirs, prometheus, keySettings }: HiddenConfig): readonly Hidden[] {
  const url = prometheus !== undefined && URL.canParse(prometheus.url) ? new URL(prometheus.url) : undefined
  const path = url?.pathname.replace(/\/$/, '')
  const names = url === undefined ? [] : [`${url.origin}${path}`, url.origin, url.host, url.hostname]
  const keyNames = (keySettings?.servers ?? []).flatMap(({ host, port }) => [`${host}:${port}`, host])
  return [
    ...OF_SERVERS,
    ...names.map((text): Hidden => [wholeText(text, '/?'), 'Prometheus']),
    ...keyNames.map((text): Hidden => [wholeText(text), 'the key server']),
    ...archiveDirs.map((directory): Hidden => [wholeText(directory), basename(directory)]),
  ]
}

/** Returns the pattern of a text that is not part of a longer name. */
function wholeText(text: string, end = ''): RegExp {
  return new RegExp(`(?<!\\w[.-]?)${escapeRegExp(text)}${end}(?![.-]?\\w)`, 'g')
}
