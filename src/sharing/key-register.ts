/** The shared text as one key of a key server, replaced by a script. docs/decisions/recorder-lease.md */
import { PcpError } from '../model/errors.ts'
import { type KeyServer, keyServerText, parseKeyServer } from '../series/keys/address.ts'
import type { KeyClient } from '../series/keys/client.ts'
import type { Command } from '../series/keys/command-buffer.ts'
import { insistOnSize, type Register, type Versioned } from './register.ts'

const SCHEME = /^(redis|rediss|valkey|valkeys):\/\//
const DEFAULT_NAME = 'farm'
/** Time in milliseconds after which the state of recorders that have all ended is removed. */
const LIFE_MS = 7 * 86_400_000

/** The value is the version, a newline and the text. Returns 1 if the version was as expected. */
const REPLACE = `local value = redis.call('GET', KEYS[1])
local version = value and string.match(value, '^%d+') or '0'
if version ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`

/** Returns whether a place is the URL of a key server. */
export function isKeyServer(place: string): boolean {
  return SCHEME.test(place)
}

export class KeyRegister implements Register {
  readonly place: string
  readonly #servers: readonly KeyServer[]
  readonly #key: string
  readonly #username: string | undefined
  readonly #password: string | undefined
  readonly #isSecure: boolean
  readonly #timeoutMs: number
  #client: Promise<KeyClient> | undefined

  /**
   * @param place `redis://[user@]host[:port][,host...][/name]`; `rediss` and `valkeys` use TLS. The password is PMLOGGER_SHARE_PASSWORD.
   * @param leaseMs duration of the lease: a server without a reply for a fourth of it counts as lost
   */
  constructor(place: string, leaseMs: number, env: Readonly<Record<string, string | undefined>>) {
    const [, scheme, user, hosts = '', name = DEFAULT_NAME] =
      /^([a-z]+):\/\/(?:([^@/]*)@)?([^@/]*)(?:\/([A-Za-z0-9._-]{1,64}))?$/.exec(place) ?? []
    if (user?.includes(':') === true)
      throw new PcpError(
        'EINVAL',
        'a password in --share is visible to all users: use PMLOGGER_SHARE_PASSWORD',
      )
    const servers = hosts.split(',').map(parseKeyServer)
    if (scheme === undefined || servers.includes(undefined))
      throw new PcpError('EINVAL', `invalid key server "${place}": use redis://HOST[:PORT][,HOST...][/NAME]`)
    this.#servers = servers as KeyServer[]
    this.place = `${scheme}://${this.#servers.map(keyServerText).join(',')}/${name}`
    this.#key = `pcp-ts:recorders:${name}`
    this.#username = user
    this.#password = env['PMLOGGER_SHARE_PASSWORD']
    this.#isSecure = scheme === 'rediss' || scheme === 'valkeys'
    this.#timeoutMs = leaseMs / 4
  }

  async read(): Promise<Versioned> {
    const value = await this.#call('GET', this.#key)
    if (value === null) return { version: 0, text: '' }
    const [, version, text] = /^(\d{1,15})\n(.*)$/s.exec(String(value)) ?? []
    if (version === undefined || text === undefined)
      throw new PcpError(
        'PM_ERR_CONV',
        `${this.place}: the key ${this.#key} has another use: choose another name`,
      )
    insistOnSize(Buffer.byteLength(text), `${this.place}: the key ${this.#key}`)
    return { version: Number(version), text }
  }

  async replace(version: number, text: string): Promise<boolean> {
    insistOnSize(Buffer.byteLength(text), this.place)
    const value = `${version + 1}\n${text}`
    const reply = await this.#call('EVAL', REPLACE, '1', this.#key, String(version), value, String(LIFE_MS))
    return Number(reply) === 1
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    client?.close()
  }

  async #call(...command: Command): Promise<unknown> {
    try {
      this.#client ??= this.#open()
      const client = await this.#client
      return await client.call(...command)
    } catch (error) {
      // The next call connects anew.
      void this.close()
      this.#client = undefined
      throw PcpError.from(error)
    }
  }

  async #open(): Promise<KeyClient> {
    const { KeyClient } = await import('../series/keys/client.ts')
    return await KeyClient.open(this.#servers, {
      username: this.#username,
      password: this.#password,
      connectMs: this.#timeoutMs,
      replyMs: this.#timeoutMs,
      ...(this.#isSecure ? { tls: {} } : {}),
    })
  }
}
