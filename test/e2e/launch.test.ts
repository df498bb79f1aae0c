/** What starts a command, over a part that says by itself whether its code came from the cache. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

let home: string
let launcher: string

const PART = `
exports.tool = { answer: 'done' }
exports.main = async (tool) => {
  process.stdout.write(tool.answer + ' ' + (require('node:path').basename(__filename)))
  process.exit(process.argv.includes('fail') ? 1 : 0)
}
`

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'pcp-launch-'))
  mkdirSync(join(home, 'parts'))
  const { outputFiles } = await build({
    entryPoints: ['src/tools/launch.ts'],
    bundle: true,
    platform: 'node',
    format: 'iife',
    globalName: 'start',
    write: false,
  })
  launcher = outputFiles[0]!.text
})
afterAll(() => rmSync(home, { recursive: true }))
beforeEach(() => {
  rmSync(join(home, 'cache'), { recursive: true, force: true })
  install(PART, 'one')
})

/** As the build leaves a command. */
function install(part: string, id: string): void {
  writeFileSync(join(home, 'parts', 'tools-x.cjs'), part)
  writeFileSync(
    join(home, 'x'),
    `${launcher}\nstart.launch({ part: 'tools-x.cjs', id: '${id}' }, __dirname)\n`,
  )
}

function run(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): string {
  const cache = { XDG_CACHE_HOME: join(home, 'cache'), NODE_EXTRA_CA_CERTS: '', NODE_OPTIONS: '' }
  const { stdout, stderr } = spawnSync(process.execPath, [join(home, 'x'), ...args], {
    env: { ...process.env, ...cache, ...env },
    encoding: 'utf8',
  })
  return stdout + stderr
}

const cached = (): string[] => {
  try {
    return readdirSync(join(home, 'cache', 'pcp-ts')).sort()
  } catch {
    return []
  }
}
const inode = (name: string): string =>
  execFileSync('stat', ['-c', '%i %y', join(home, 'cache', 'pcp-ts', name)], { encoding: 'utf8' })

test('the code of a command that ends well is kept, once for archives and once for the rest', () => {
  expect(run()).toBe('done tools-x.cjs')
  expect(cached()).toEqual(['tools-x.live'])
  run(['-a', 'archive'])
  expect(cached()).toEqual(['tools-x.archive', 'tools-x.live'])
})

test('kept code is used, and not written again', () => {
  run()
  const before = inode('tools-x.live')
  expect(run()).toBe('done tools-x.cjs')
  expect(inode('tools-x.live')).toBe(before)
})

test('the code of a command that fails is not kept', () => {
  run(['fail'])
  expect(cached()).toEqual([])
})

test('code of another build is replaced, even where its length is the same', () => {
  run()
  install(PART.replace("'done'", "'gone'"), 'two')
  expect(run()).toBe('gone tools-x.cjs')
  const before = inode('tools-x.live')
  expect(run()).toBe('gone tools-x.cjs')
  expect(inode('tools-x.live')).toBe(before)
})

test('damaged code is not run: it would crash the process', () => {
  run()
  const file = join(home, 'cache', 'pcp-ts', 'tools-x.live')
  const bytes = readFileSync(file)
  for (const at of [130, bytes.length >> 1, bytes.length - 1]) {
    const damaged = Buffer.from(bytes)
    damaged[at]! ^= 0xff
    writeFileSync(file, damaged)
    expect(run()).toBe('done tools-x.cjs')
  }
  writeFileSync(file, bytes.subarray(0, 1000))
  expect(run()).toBe('done tools-x.cjs')
})

test('code that others could have written is not run, nor is any written there', () => {
  run()
  const before = inode('tools-x.live')
  install(PART.replace("'done'", "'gone'"), 'two')
  chmodSync(join(home, 'cache', 'pcp-ts'), 0o777)
  expect(run()).toBe('gone tools-x.cjs')
  expect(inode('tools-x.live')).toBe(before)
})

test('without a home, on request, and where nothing can be written commands run all the same', () => {
  expect(run([], { NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('done tools-x.cjs')
  expect(run([], { XDG_CACHE_HOME: '', HOME: '' })).toBe('done tools-x.cjs')
  for (const nowhere of ['/proc', '/dev/null', '/nonexistent/cache'])
    expect(run([], { XDG_CACHE_HOME: nowhere })).toBe('done tools-x.cjs')
  expect(cached()).toEqual([])
})

test.skipIf(process.geteuid?.() !== 0)('nothing is made or run in the home of another user', () => {
  const theirs = join(home, 'theirs')
  mkdirSync(theirs)
  const [id, env] = [65_534, { XDG_CACHE_HOME: '', HOME: theirs }]
  chownSync(theirs, id, id)
  expect(run([], env)).toBe('done tools-x.cjs')
  expect(readdirSync(theirs)).toEqual([])
  chownSync(theirs, 0, 0)
  run([], env)
  const file = join(theirs, '.cache', 'pcp-ts', 'tools-x.live')
  const before = statSync(file).ino
  chownSync(theirs, id, id)
  install(PART.replace("'done'", "'gone'"), 'two')
  expect(run([], env)).toBe('gone tools-x.cjs')
  expect(statSync(file).ino).toBe(before)
})
