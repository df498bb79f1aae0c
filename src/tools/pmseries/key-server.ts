/** The key server of pmseries: which one, and archives that are loaded into it. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { parseIni } from '../../pmproxy/ini.ts'
import type { KeyClient } from '../../series/keys/client.ts'
import { type KeySettings, keySettings, withServer } from '../../series/keys/settings.ts'
import { homeDir, loadConfig } from '../../sys/config.ts'
import { readTrustedFile, UntrustedPathError } from '../../sys/trusted-path.ts'
import type { ParsedOptions } from '../lib/options.ts'
import type { ToolIo } from '../lib/tool.ts'

/** Milliseconds for which a load waits for a server that was lost. */
const LOAD_PATIENCE_MS = 60_000

/** Returns whether series are those of a key server, and not of archives. */
export function usesKeyServer({ given }: ParsedOptions, io: ToolIo): boolean {
  const letters = new Set(given.map(({ name }) => name))
  if (letters.has('directory') && ['h', 'p', 'c', 'L'].some((each) => letters.has(each)))
    throw new PcpError('EINVAL', '--directory names archives: it cannot be used with -h, -p, -c or -L')
  if (letters.has('directory')) return false
  return ['h', 'p', 'c', 'L'].some((each) => letters.has(each)) || (io.env['KEY_SERVERS'] ?? '') !== ''
}

/** Reads the configuration. ENOENT for a named file that is missing, EACCES if others may write it. */
export function settingsOf({ given }: ParsedOptions, io: ToolIo): KeySettings {
  const argument = (letter: string): string | undefined =>
    given.findLast(({ name }) => name === letter)?.value
  const warn = (problem: string): void => {
    io.stderr.write(`${io.progname}: Warning: ${problem}\n`)
  }
  const options = new Map<string, string>()
  const named = argument('c')
  for (const path of named === undefined ? defaultFiles(io) : [resolve(io.cwd, named)]) {
    const text = fileText(path, named !== undefined)
    if (text === undefined) continue
    const ini = parseIni(text, (line, what) =>
      warn(`${path} line ${line}: not a section or a setting: ${what}`),
    )
    for (const [key, value] of ini) options.set(key, value)
  }
  const port = argument('p')
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535))
    throw new PcpError('EINVAL', `-p ${port}: a port is a number from 1 to 65535`)
  const settings = keySettings(options, io.env, warn)
  return withServer(settings, argument('h'), port === undefined ? undefined : Number(port))
}

function defaultFiles(io: ToolIo): readonly string[] {
  const { variables } = loadConfig(io.env)
  const home = homeDir(variables)
  return [
    join(variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp', 'pmseries', 'pmseries.conf'),
    join(home, '.pmseries.conf'),
    join(home, '.pcp', 'pmseries.conf'),
  ]
}

function fileText(path: string, isNamed: boolean): string | undefined {
  try {
    return isNamed ? readFileSync(path, 'utf8') : readTrustedFile(path, 'to read it anyway, name it with -c')
  } catch (error) {
    if (error instanceof UntrustedPathError) throw PcpError.from(error)
    const known = PcpError.from(error, path)
    if (!isNamed && known.code === 'ENOENT') return undefined
    throw new PcpError(known.code, `Cannot read the configuration ${path}: ${known.text}`, { cause: error })
  }
}

/** Connects. The errors of `KeyClient.open`. */
export async function openClient({ servers, link }: KeySettings, isLoad: boolean): Promise<KeyClient> {
  // Loaded only here: most queries are of archives.
  const { KeyClient } = await import('../../series/keys/client.ts')
  return KeyClient.open(servers, isLoad ? { ...link, patienceMs: LOAD_PATIENCE_MS } : link)
}
