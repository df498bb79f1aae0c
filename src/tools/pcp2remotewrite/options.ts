/** Options of pcp2remotewrite. */
import { resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import type { ProtocolVersion } from '../../remote-write/encode.ts'
import type { GivenOption, OptionTable } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'
import { type Account, readAccount } from './account.ts'

/** The table. */
export const OPTIONS: OptionTable = {
  synopsis: '[options] [metricname ...]',
  operands: 'metric',
  rows: [
    { heading: 'Source' },
    STANDARD.archive,
    {
      long: 'follow',
      arg: 'DIR',
      kind: 'directory',
      help: 'send the archives below DIR, as they grow',
    },
    STANDARD.host,
    STANDARD.derived,
    STANDARD.start,
    STANDARD.finish,
    STANDARD.timezone,
    STANDARD.interval,
    STANDARD.samples,
    { heading: 'Destination' },
    {
      short: 'u',
      long: 'url',
      arg: 'URL',
      kind: 'none',
      help: 'receiver, such as http://HOST:9090/api/v1/write',
    },
    { short: 'c', long: 'config', arg: 'FILE', help: 'file with account, certificates and headers' },
    {
      long: 'state',
      arg: 'DIR',
      kind: 'directory',
      help: 'keep the position in the archives in DIR, and continue from it',
    },
    {
      long: 'protocol',
      arg: 'VERSION',
      kind: 'none',
      help: '1, 2, or auto: 2 if the receiver reads it (default)',
    },
    { long: 'label', arg: 'NAME=VALUE', kind: 'none', help: 'add a label to all series; may be repeated' },
    { long: 'batch', arg: 'N', kind: 'none', help: 'samples in a request (default 10000)' },
    { long: 'shards', arg: 'N', kind: 'none', help: 'requests at the same time (default 4)' },
    { heading: 'General' },
    STANDARD.debug,
    STANDARD.version,
    STANDARD.help,
  ],
}

/** Values of the command's own options. */
export interface RemoteWriteOptions {
  readonly url: URL
  readonly account: Account
  readonly directories: readonly string[]
  readonly state: string | undefined
  readonly protocol: ProtocolVersion | 'auto'
  readonly labels: ReadonlyMap<string, string>
  readonly batch: number
  readonly shards: number
}

const NO_ACCOUNT: Account = { url: undefined, headers: () => ({}), tls: {} }
const PROTOCOLS: Readonly<Record<string, ProtocolVersion | 'auto'>> = { '1': 1, '2': 2, auto: 'auto' }
const BATCH = { preset: 10_000, most: 1_000_000 }
const SHARDS = { preset: 4, most: 64 }

/** Reads the command's own options. EINVAL names the wrong option. */
export function ownOptions(given: readonly GivenOption[], io: Pick<ToolIo, 'cwd'>): RemoteWriteOptions {
  const all = (long: string): readonly string[] =>
    given.filter(({ option }) => option.long === long).map(({ value }) => value)
  const config = all('config').at(-1)
  const account = config === undefined ? NO_ACCOUNT : readAccount(resolve(io.cwd, config))
  const protocol = PROTOCOLS[all('protocol').at(-1) ?? 'auto']
  if (protocol === undefined) throw new PcpError('EINVAL', '--protocol: expected 1, 2 or auto')
  const state = all('state').at(-1)
  return {
    url: urlOf(all('url').at(-1) ?? account.url),
    account,
    directories: all('follow').map((directory) => resolve(io.cwd, directory)),
    state: state === undefined ? undefined : resolve(io.cwd, state),
    protocol,
    labels: new Map(all('label').map(labelOf)),
    batch: count('batch', all('batch').at(-1), BATCH),
    shards: count('shards', all('shards').at(-1), SHARDS),
  }
}

function urlOf(text: string | undefined): URL {
  if (text === undefined)
    throw new PcpError(
      'EINVAL',
      'no receiver: use --url http://HOST:PORT/PATH, or url = ... in the file of --config',
    )
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new PcpError('EINVAL', '--url: expected http://HOST:PORT/PATH or https://...')
  if (url.username !== '' || url.password !== '')
    throw new PcpError(
      'EINVAL',
      '--url: put user and password into the file of --config: others see the command line',
    )
  return url
}

function labelOf(text: string): readonly [string, string] {
  const [, name, value] = /^([A-Za-z_]\w*)=(.+)$/s.exec(text) ?? []
  if (name === undefined || value === undefined || name === '__name__')
    throw new PcpError('EINVAL', `--label: ${text}: expected NAME=VALUE, a name of letters, digits and _`)
  return [name, value]
}

function count(option: string, text: string | undefined, { preset, most }: typeof BATCH): number {
  if (text === undefined) return preset
  const value = /^\d+$/.test(text) ? Number(text) : 0
  if (value >= 1 && value <= most) return value
  throw new PcpError('EINVAL', `--${option}: ${text}: expected a number from 1 to ${most}`)
}
