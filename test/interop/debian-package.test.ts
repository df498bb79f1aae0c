/** The Debian package, by dpkg in a directory of its own: installed, run, removed; and by lintian, if it is installed. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

const top = process.cwd()
/** Packing and compressing take minutes on a busy machine. */
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })
const hasDpkg = existsSync('/usr/bin/dpkg-deb') && process.geteuid?.() === 0
if (!hasDpkg) console.log('skipped: the Debian package needs dpkg, and root to install it in a directory')
const hasLintian = existsSync('/usr/bin/lintian')
if (!hasLintian) console.log('skipped: lintian is not installed')

describe.runIf(hasDpkg)('the Debian package', () => {
  let root: string
  let out: string
  let target: string
  let plain: string
  let withNode: string

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'pcp-ts-debian-'))
    out = join(root, 'out')
    target = join(root, 'target')
    plain = make()
    withNode = make('--with-node')
    for (const dir of ['info', 'updates', 'triggers'])
      mkdirSync(join(target, 'var/lib/dpkg', dir), { recursive: true })
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  function make(...args: string[]): string {
    const env = { ...process.env }
    delete env['NODE_EXTRA_CA_CERTS']
    const script = join(top, 'scripts/package/deb.mjs')
    const stdio = ['ignore', 'pipe', 'inherit'] as const
    const text = execFileSync(process.execPath, [script, '--out', out, ...args], {
      env,
      encoding: 'utf8',
      stdio: [...stdio],
    })
    return text.slice(0, text.indexOf(': '))
  }

  function dpkg(...args: string[]): string {
    const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }
    const flags = [
      `--root=${target}`,
      '--force-script-chrootless',
      '--force-depends',
      `--log=${join(root, 'log')}`,
    ]
    return execFileSync('dpkg', [...flags, ...args], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  const filesBelow = (dir: string): readonly string[] =>
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(target.length))
      .filter((path) => !path.startsWith('/var/lib/dpkg/'))

  test('has the same bytes when made again', () => {
    const first = readFileSync(plain)
    expect(readFileSync(make()).equals(first)).toBe(true)
  })

  test('has no file of the packages of PCP', () => {
    const list = execFileSync('dpkg-deb', ['-c', plain], { encoding: 'utf8', maxBuffer: 2 ** 24 })
    const paths = [...list.matchAll(/ \.(\/\S*[^/\s])(?: ->.*)?$/gm)].map(([, path]) => path!)
    expect(paths).toContain('/usr/bin/pcp-ts')
    const isOwn = (path: string): boolean =>
      /^\/usr\/(?:lib\/pcp-ts|share\/doc\/pcp-ts)\//.test(path) ||
      /\/_?pcp-ts(?:-[\w-]+)?(?:\.(?:1\.gz|fish))?$/.test(path)
    expect(paths.filter((path) => !isOwn(path))).toEqual([])
  })

  test.each(['plain', 'with Node'])('is installed, runs, and is removed without a trace: %s', (which) => {
    const isPlain = which === 'plain'
    dpkg('-i', isPlain ? plain : withNode)
    expect(dpkg('-s', 'pcp-ts')).toContain('install ok installed')
    // Programs name the Node at its place on the installed machine.
    const home = join(target, 'usr/lib/pcp-ts')
    const [line] = readFileSync(join(home, 'bin/pmdate'), 'utf8').split('\n')
    expect(line).toBe(isPlain ? '#!/usr/bin/node' : '#!/usr/lib/pcp-ts/node')
    const node = isPlain ? process.execPath : join(home, 'node')
    const env = { HOME: root, PATH: '/usr/bin:/bin', TZ: 'UTC' }
    const program = join(target, 'usr/bin/pcp-ts')
    const ran = spawnSync(node, [program, 'pminfo', '-L', '-f', 'hinv.ncpu'], { env, encoding: 'utf8' })
    expect(ran).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringMatching(/hinv\.ncpu\n {4}value \d/),
    })
    expect(existsSync(join(target, 'usr/share/man/man1/pcp-ts.1.gz'))).toBe(true)
    expect(readFileSync(join(target, 'usr/share/doc/pcp-ts/copyright'), 'utf8')).toContain(' uplot ')
    expect(existsSync(join(target, 'usr/share/doc/pcp-ts/node-license.gz'))).toBe(!isPlain)
    dpkg('--purge', 'pcp-ts')
    expect(filesBelow(target)).toEqual([])
  })

  test.runIf(hasLintian)('has no errors by lintian, but those of shipping Node', () => {
    const tagsOf = (file: string): readonly string[] => {
      const { stdout } = spawnSync('lintian', ['--allow-root', '--fail-on', 'none', file], {
        encoding: 'utf8',
      })
      return [...new Set([...stdout.matchAll(/^[EW]: \S+ ([\w-]+)/gm)].map(([, tag]) => tag!))].sort()
    }
    expect(tagsOf(plain)).toEqual([])
    const ofNode = ['embedded-library', 'hardening-no-pie', 'unstripped-binary-or-object']
    const ofInterpreter = ['missing-dep-for-interpreter', 'wrong-path-for-interpreter']
    expect(tagsOf(withNode).filter((tag) => ![...ofNode, ...ofInterpreter].includes(tag))).toEqual([])
  })
})
