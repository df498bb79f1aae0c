/** Control files: lines, shell words, and instances. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { instanceProblem, parseControl } from '../../../../src/tools/lib/admin/control-lines.ts'
import { controlFiles, type Instance, instancesOf } from '../../../../src/tools/lib/admin/instances.ts'
import { openReporter } from '../../../../src/tools/lib/admin/reporter.ts'
import { expandWord, splitWords } from '../../../../src/tools/lib/admin/shell-words.ts'
import { testIo } from '../../run-tool.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'control-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

describe('lines', () => {
  test('are assignments and instances with line numbers', () => {
    const text =
      '# remark\n\n$version=1.1\n$FOO="a b"; export FOO\nh y n "/logs/a b" -c x  -v 1Mb\n#!#g n n /g -c y\n'
    expect(parseControl(text)).toMatchObject([
      { kind: 'assignment', line: 3, name: 'version', value: '1.1' },
      { kind: 'assignment', line: 4, name: 'FOO', value: '"a b"' },
      {
        line: 5,
        isStopped: false,
        host: 'h',
        primary: 'y',
        socks: 'n',
        logPath: '"/logs/a b"',
        args: '-c x  -v 1Mb',
      },
      { line: 6, isStopped: true, host: 'g', primary: 'n', socks: 'n', logPath: '/g', args: '-c y' },
    ])
  })

  test('without a version have no field for the primary instance', () => {
    expect(parseControl('h n /logs -c x\n')).toMatchObject([
      { host: 'h', primary: 'n', socks: 'n', logPath: '/logs' },
    ])
  })

  test('are checked', () => {
    expect(parseControl('$(rm -rf /)\n$1=2\n')).toMatchObject([{ name: undefined }, { name: undefined }])
  })

  test.each([
    ['h y', 'insufficient fields in control file record'],
    ['h y n /d', 'insufficient fields in control file record'],
    ['h x n /d -c', 'primary field in control file record must be y or n, not "x"'],
    ['h y x /d -c', 'socks field in control file record must be y or n, not "x"'],
    ['h y n /d -c', undefined],
  ])('%j', (line, problem) => {
    const [, instance] = parseControl(`$version=1.1\n${line}\n`)
    if (instance?.kind !== 'instance') throw new Error('no instance')
    expect(instanceProblem(instance, '1.1', 'pmlogger')).toBe(problem)
    expect(instanceProblem(instance, '2.0', 'pmlogger')).toBe('bad version (2.0) in control file')
  })
})

describe('words', () => {
  const expansion = {
    variables: { A: 'one', B_2: 'x y' },
    substitute: (command: string) => `<${command}>`,
  }
  test.each([
    ['plain', 'plain'],
    ['$A/$B_2', 'one/x y'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of the shell
    ['${A}b$missing.', 'oneb.'],
    ['\'$A\'"$A"', '$Aone'],
    ['$(date +%Y)/`hostname -s`', '<date +%Y>/<hostname -s>'],
    ['"$(a "b c")"', '<a "b c">'],
    ["'$(date)'", '$(date)'],
    ['a\\ b\\$A', 'a b$A'],
    ['"never closed', '"never closed'],
  ])('%j is %j', (raw, text) => {
    expect(expandWord(raw, expansion)).toBe(text)
  })

  test('end at blanks outside of quotes and commands', () => {
    expect(splitWords('-c "a b"  $(x y) \'c d\'', expansion)).toEqual(['-c', 'a b', '<x y>', 'c d'])
  })
})

describe('instances', () => {
  /** Reads the instances of a control file, and the messages. */
  function read(text: string, mode = 0o600): { instances: Instance[]; said: string } {
    const file = join(dir, 'control')
    writeFileSync(file, text)
    chmodSync(file, mode)
    const io = testIo('pmlogger_check', [])
    const reporter = openReporter(io, {
      showsOnly: false,
      verbosity: 0,
      logPath: undefined,
      subject: 'logging',
      warnsWithColon: false,
    })
    const variables = { PATH: '/usr/bin:/bin', PCP_ARCHIVE_DIR: '/a', PCP_LOG_DIR: '/l' }
    const instances = [...instancesOf(file, { service: 'pmlogger', variables, hostName: 'me', reporter })]
    return { instances, said: io.printed.stdout.replaceAll(file, 'FILE') }
  }

  test('have macros, variables and commands resolved', () => {
    const { instances, said } = read(
      '$version=1.1\n$class=web\n$PLACE=/p\n' +
        'LOCALHOSTNAME y n PCP_ARCHIVE_DIR/LOCALHOSTNAME -c config.default -l PCP_LOG_DIR/x\n' +
        'far n y +$PLACE/$(echo sub) -c "a b" -R http://p:44322\n',
    )
    expect(said).toBe('')
    expect(instances).toMatchObject([
      { host: 'local:', isPrimary: true, path: '/a/me', className: 'web', isPushed: false },
      { host: 'far', usesSocks: true, path: '/p/sub', isPushed: true },
    ])
    expect(instances[0]!.args).toEqual(['-c', 'config.default', '-l', '/l/x'])
    expect(instances[1]!.args).toEqual(['-c', 'a b', '-R', 'http://p:44322'])
    expect(instances[1]!.variables).toMatchObject({ PLACE: '/p' })
  })

  test('with errors are reported with their line and skipped', () => {
    const { instances, said } = read('$version=1.1\nbad z n /x -c y\n$PATH=/evil\nfine n n /x -c y\n')
    expect(instances.map(({ host }) => host)).toEqual(['fine'])
    expect(said).toContain('[FILE:2]\nError: primary field')
    expect(said).toContain('[FILE:3]\nWarning: cannot change $PATH, line ignored')
    expect(instances[0]!.variables['PATH']).toBe('/usr/bin:/bin')
  })

  test('have no commands run from a file that others can write', () => {
    const { instances, said } = read('$version=1.1\nh n n /x/$(echo y) -c y\n', 0o622)
    expect(instances).toEqual([])
    expect(said).toContain('chmod go-w FILE')
  })

  test('come from the file and its directory, except backup files', () => {
    const path = join(dir, 'control')
    mkdirSync(`${path}.d`)
    for (const name of ['b', 'a', 'a~', 'c.rpmsave', 'd.dpkg-dist'])
      writeFileSync(join(`${path}.d`, name), '')
    expect(controlFiles(path)).toEqual([`${path}.d/a`, `${path}.d/b`])
    writeFileSync(path, '')
    expect(controlFiles(path)).toEqual([path, `${path}.d/a`, `${path}.d/b`])
  })
})
