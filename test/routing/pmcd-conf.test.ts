import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAccessFile, parseConfig } from '../../src/routing/pmcd-conf.ts'

const GOOD = 'pmcd 2 dso pmcd_init /lib/pmda_pmcd.so'
const context = { servicePort: (name: string): number | undefined => (name === 'known' ? 4711 : undefined) }

/** Returns the messages for a configuration that starts with one valid line. */
function problemsOf(text: string): readonly string[] {
  return parseConfig(`${GOOD}\n${text}\n`, context).problems
}

test('a dso line whose entry has a prefix is an agent in a thread, and stays valid for PCP', () => {
  const { agents, problems } = parseConfig('dice 481 dso worker:agent /opt/dice.mjs\n')
  expect(problems).toEqual([])
  expect(agents).toEqual([
    { kind: 'worker', name: 'dice', domain: 481, line: 1, entry: 'agent', path: '/opt/dice.mjs' },
  ])
})

test('reads every kind of agent', () => {
  const text = `# a comment
pmcd 2 DSO pmcd_init /lib/pmda_pmcd.so   # another
simple 253 pipe binary notready /usr/bin/simple -d "two words" \\"q\\" \\# \\
  -x
web 10 socket inet known
six 11 socket ipv6 4712 /bin/six
unix 12 socket unix /run/agent /bin/agent -u`
  const { agents, problems, isValid } = parseConfig(text, context)
  expect(problems).toEqual([])
  expect(isValid).toBe(true)
  expect(agents).toEqual([
    { kind: 'dso', name: 'pmcd', domain: 2, line: 2, entry: 'pmcd_init', path: '/lib/pmda_pmcd.so' },
    {
      kind: 'pipe',
      name: 'simple',
      domain: 253,
      line: 3,
      argv: ['/usr/bin/simple', '-d', 'two words', '"q"', '#', '-x'],
      startsNotReady: true,
    },
    { kind: 'socket', name: 'web', domain: 10, line: 5, family: 'inet', path: '', port: 4711, argv: [] },
    {
      kind: 'socket',
      name: 'six',
      domain: 11,
      line: 6,
      family: 'ipv6',
      path: '',
      port: 4712,
      argv: ['/bin/six'],
    },
    {
      kind: 'socket',
      name: 'unix',
      domain: 12,
      line: 7,
      family: 'unix',
      path: '/run/agent',
      port: 0,
      argv: ['/bin/agent', '-u'],
    },
  ])
})

// Recorded from pmcd -v of 6.0.3.
test.each([
  ['x abc pipe binary foo', '[line 2]: Error: expected domain number for "x" agent'],
  ['x', '[line 2]: Error: expected domain number for "x" agent'],
  ['x 511 pipe binary foo', '[line 2]: Error: Illegal domain number (511) for "x" agent'],
  ['x 2 pipe binary foo', '[line 2]: Error: domain number for "x" agent clashes with "pmcd" agent'],
  ['x 5', "[line 2]: Error: expected `dso', `socket' or `pipe'"],
  ['x 5 foo', "[line 2]: Error: expected `dso', `socket' or `pipe'"],
  ['x 5 pipe text foo', "[line 2]: Error: pipe PDU type expected (`binary')"],
  ['x 5 pipe binary', '[line 2]: Error: command to create pipe agent expected.'],
  ['x 5 dso', '[line 2]: Error: expected DSO entry point'],
  ['x 5 dso a', '[line 2]: Error: expected DSO pathname'],
  ['x 5 dso a rel', '[line 2]: Error: path "rel" to PMDA is not absolute'],
  ['x 5 dso a /b c', '[line 2]: Error: too many parameters for DSO'],
  ['x 5 socket inet6 9', "[line 2]: Error: expected socket address domain (`inet', `ipv6', or `unix')"],
  ['x 5 socket inet', '[line 2]: Error: expected socket port name or number'],
  ['x 5 socket inet nosuch', '[line 2]: Error: failed to get port number for port name nosuch'],
  ['x 5 pipe binary "foo bar', '[line 2]: Error: unterminated quoted string'],
  ['[access]\nallow * : fetch, all;', '[line 3]: Error: can\'t have "all" mixed with specific permissions'],
  ['[access]\nallow * : all, fetch;', '[line 3]: Error: can\'t have "all" mixed with specific permissions'],
  ['[access]\nallow * : bogus;', '[line 3]: Error: bad access specifier'],
  ['[access]\nallow : all;', '[line 3]: Error: no hosts in allow/disallow statement'],
  ['[access]\nfoo * : all;', '[line 3]: Error: allow or disallow statement expected'],
  ['[access]\nallow * : all\nallow * : all;', "[line 4]: Error: ',' or ';' expected in permission list"],
  ['[access]\nallow * : fetch,;', "[line 3]: Error: misplaced (trailing) ',' in permission list"],
  [
    '[access]\nallow * : maximum 0 connections;',
    '[line 3]: Error: maximum connection limit must be a positive number',
  ],
  [
    '[access]\nallow * : maximum 3 connections, maximum 4 connections;',
    '[line 3]: Error: connection limit already specified',
  ],
  [
    '[access]\ndisallow * : maximum 3 connections;',
    "[line 3]: Error: can't specify connection limit in a disallow statement",
  ],
  [
    '[access]\nallow * : all except maximum 3 connections;',
    '[line 3]: Error: connection limit may not immediately follow "all except"',
  ],
  ['[access]\nallow * : all except all;', '[line 3]: Error: can\'t have "all" within an "all except"'],
  ['[other]\nallow * : all;', '[line 2]: Error: "access" keyword expected'],
  ['[access]', '[line 3]: Error: no valid statements in [access] section'],
])('reports the error in %j', (text, message) => {
  expect(problemsOf(text)).toEqual([message])
})

test('tolerates a bad agent line before a good one, not a bad last line', () => {
  expect(parseConfig(`x 5 pipe text foo\n${GOOD}\n`).isValid).toBe(true)
  expect(parseConfig(`${GOOD}\nx 5 pipe text foo\n`).isValid).toBe(false)
})

test('reads access statements over several lines, with quoted names and limits', () => {
  const { access, problems } = parseConfig(`${GOOD}
[ Access ]
disallow ".*", ":*" : store;
allow hosts "local:*" :
   all, maximum 7 connections;
disallow user root, adm : all except fetch ;
allow group * : unlimited connections;`)
  expect(problems).toEqual([])
  expect(access).toEqual([
    { subject: 'host', names: ['.*', ':*'], specified: 2, denied: 2, maxConnections: undefined, line: 3 },
    { subject: 'host', names: ['local:*'], specified: 3, denied: 0, maxConnections: 7, line: 4 },
    { subject: 'user', names: ['root', 'adm'], specified: 3, denied: 2, maxConnections: undefined, line: 6 },
    {
      subject: 'group',
      names: ['*'],
      specified: 0,
      denied: 0,
      maxConnections: Number.POSITIVE_INFINITY,
      line: 7,
    },
  ])
})

test('an access file is statements without a header, and may be empty', () => {
  expect(parseAccessFile('allow * : all;').access).toHaveLength(1)
  expect(parseAccessFile('# nothing\n')).toEqual({ access: [], problems: [], isValid: true })
})

test('refuses overlong lines', () => {
  const { isValid, problems } = parseConfig(`x 5 pipe binary ${'y'.repeat(3000)}`)
  expect(isValid).toBe(false)
  expect(problems[0]).toContain('line too long')
})

test('never throws, whatever the text', () => {
  const words = fc.constantFrom(
    'x',
    '5',
    'pipe',
    'binary',
    'dso',
    '/a',
    '[',
    'access',
    ']',
    'allow',
    ':',
    ';',
    ',',
    '"',
    '\\',
    '\n',
    '#',
    'all',
    'except',
    'maximum',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(words, fc.string()), { maxLength: 40 }), (parts) => {
      parseConfig(parts.join(' '))
      parseAccessFile(parts.join(' '))
    }),
  )
})
