/** Recorded requests of PCP 7.2.1 to /logger. docs/reference/pmproxy.md */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { pushConfig } from '../../src/pmproxy/logger/config.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'
import { fromHex } from '../vectors.ts'

interface Case {
  readonly id: string
  readonly request: {
    readonly method: string
    readonly target: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body_hex?: string
    readonly body_length?: number
  }
  readonly responses: {
    readonly '7.2.1': {
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  }
}

const { cases, files_after: filesAfter } = JSON.parse(
  readFileSync(new URL('../vectors/web/logger.json', import.meta.url), 'utf8'),
) as { cases: readonly Case[]; files_after: readonly { path: string; size: number }[] }

/** Statuses that differ on purpose. */
const OTHER_STATUS: Readonly<Record<string, number>> = {
  'unknown-route': 404, // as every missing resource
  options: 200, // browsers send it without parameters
  'label-empty': 400, // 7.2.1 dies of these five
  'meta-empty': 400,
  'meta-no-number': 400,
  'meta-bad-number': 400,
  'volume-no-number': 400,
}

/** Returns the recorded body, or one record of the recorded length. */
function bodyOf({ body_hex: hex, body_length: length = 0 }: Case['request']): Uint8Array | undefined {
  if (hex !== undefined) return fromHex(hex)
  if (length === 0) return undefined
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  view.setInt32(0, length)
  view.setInt32(length - 4, length)
  return bytes
}

let server: WebServer
const directory = mkdtempSync(join(tmpdir(), 'pushed-'))
beforeAll(async () => {
  vi.stubEnv('TZ', 'UTC')
  const settings = new Map([
    ['pmlogger.directory', directory],
    ['pmlogger.addresses', '127.0.0.0/8, ::1'],
  ])
  const push = pushConfig(settings, true, {}, (problem) => expect.fail(problem))
  server = await startWebServer(['pmcd'], { push, origins: ['*'] })
})
afterAll(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  await server.close()
  rmSync(directory, { recursive: true })
})

test('answers as PCP does, and writes the same files', async () => {
  const numbers = new Map<string, string>()
  for (const { id, request, responses } of cases) {
    if (id === 'expired') {
      const later = Date.now() + 3500
      vi.spyOn(Date, 'now').mockImplementation(() => later)
    }
    const target = request.target.replace(/\{(\w+)\}/, (_, name: string) => numbers.get(name) ?? '0')
    const body = bodyOf(request)
    const answer = await server.ask(target, {
      method: request.method,
      ...(request.headers === undefined ? {} : { headers: request.headers }),
      ...(body === undefined ? {} : { body }),
    })
    const recorded = responses['7.2.1']
    expect([id, answer.status]).toEqual([id, OTHER_STATUS[id] ?? recorded.status])
    if (OTHER_STATUS[id] !== undefined || recorded.headers?.['Content-Type'] !== 'application/json') continue
    const { archive, ...fields } = JSON.parse(answer.text) as Record<string, unknown>
    const { archive: recordedArchive, ...expected } = JSON.parse(recorded.body!) as Record<string, unknown>
    expect([id, fields]).toMatchObject([id, expected])
    expect(typeof archive).toBe(typeof recordedArchive)
    const name = { 'label-v2': 'v2', 'label-v3': 'v3', 'label-short-timeout': 't' }[id]
    if (name !== undefined) numbers.set(name, String(archive))
  }
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.startsWith('.push') && /\//.test(file))
    .map((file) => ({ path: `$PCP_REMOTE_ARCHIVE_DIR/${file}`, size: statSync(join(directory, file)).size }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  // Of a label with a bad timeout, 7.2.1 keeps the files.
  expect(files).toEqual(filesAfter.filter(({ path }) => !path.includes('-02.')))
})
