/** The package as a release makes it: the same bytes wherever and whenever, and entry points that every resolver finds with types. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

const top = process.cwd()
/** Packing and compressing take minutes on a busy machine. */
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })
const manifest = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as {
  version: string
  exports: Readonly<Record<string, unknown>>
}
const TARBALL = `pcp-ts-${manifest.version}.tgz`
let root: string
let tarball: Buffer

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'pcp-ts-release-'))
  tarball = pack(checkout('one'), { TZ: 'UTC' }, { umask: '022', modes: 'go=rX' })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Copies the files that git knows, or would add, to another directory. */
function checkout(name: string): string {
  const dir = join(root, name)
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: top,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  const isNeeded = (path: string): boolean => path !== '' && !/^(?:test|bench|site)\//.test(path)
  for (const path of listed.split('\0').filter(isNeeded)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    cpSync(join(top, path), join(dir, path))
  }
  symlinkSync(join(top, 'node_modules'), join(dir, 'node_modules'))
  return dir
}

/** Builds and packs a checkout whose files have the modes, for others, of a user with that mask. */
function pack(
  dir: string,
  variables: Readonly<Record<string, string>>,
  { umask, modes }: { readonly umask: string; readonly modes: string },
): Buffer {
  const env = { ...process.env, ...variables }
  delete env['NODE_EXTRA_CA_CERTS']
  execFileSync('sh', ['-c', `umask ${umask}; chmod -R ${modes} . && exec npm pack --silent`], {
    cwd: dir,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return readFileSync(join(dir, TARBALL))
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

test('has the same bytes from another directory, later, with another zone, language and mask', () => {
  const other = checkout('elsewhere/and deeper')
  const again = pack(
    other,
    { TZ: 'Pacific/Auckland', LC_ALL: 'C', LANG: 'C' },
    { umask: '077', modes: 'go=' },
  )
  expect(hashOf(again)).toBe(hashOf(tarball))
  expect(again.includes(top)).toBe(false)
})

test('has a manifest without complaints of publint', async () => {
  const data = new Uint8Array(tarball).buffer
  const { messages, pkg } = await publint({ pack: { tarball: data }, level: 'suggestion', strict: true })
  expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
})

test('has types that match what is imported and required, by arethetypeswrong', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)))
  if (analysis.types === false) throw new Error('the package has no types')
  expect(Object.keys(analysis.entrypoints).sort()).toEqual(Object.keys(manifest.exports).sort())
  // The oldest way of resolving knows no exports; no supported version of Node uses it.
  const problems = analysis.problems.filter(
    (one) => !('resolutionKind' in one && one.resolutionKind === 'node10'),
  )
  expect(problems).toEqual([])
})

test('gives browsers ES modules without Node, and types', () => {
  const conditions = Object.entries(manifest.exports).flatMap(([entry, value]) =>
    typeof value === 'object' && value !== null && 'browser' in value ? [{ entry, ...value }] : [],
  ) as { entry: string; browser: { types: string; default: string } }[]
  expect(conditions.map(({ entry }) => entry)).toEqual(['./archive'])
  for (const { browser } of conditions) {
    const dir = join(root, 'one')
    expect(readFileSync(join(dir, browser.types), 'utf8')).toContain('export')
    for (const file of importsOf(join(dir, browser.default)))
      expect(readFileSync(file, 'utf8')).not.toMatch(/(?:from|import|require\() ?["']node:|\bBuffer\./)
  }
})

/** Returns a file and the ones that it imports. */
function importsOf(entry: string): readonly string[] {
  const files = new Set([entry])
  for (const file of files)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import) ["'](\.[^"']+)["']/g))
      files.add(join(dirname(file), path!))
  expect(files.size).toBeGreaterThan(1)
  return [...files]
}
