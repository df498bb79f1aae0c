/** Runs recorded pmcpp cases in a temporary directory. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { decodeText, encodeText } from '../../src/base/text.ts'
import type { Output, ToolIo } from '../../src/tools/lib/tool.ts'
import { tool } from '../../src/tools/pmcpp.ts'
import { readVectors } from '../vectors.ts'

export interface PmcppCase {
  readonly name: string
  readonly args: readonly string[]
  /** Content of the file `in`; null without the file. */
  readonly input: string | null
  readonly bytes?: Uint8Array
  readonly stdin?: boolean
  readonly outfile?: boolean
  /** Further files; null makes a directory. */
  readonly files?: Readonly<Record<string, string | null>>
  readonly rc: number
  readonly stdout: string
  readonly stderr: string
}

/** Expected output that differs because of defects in the reference, listed in docs/formats/pmns.md. */
export const FIXED_DEFECTS: Readonly<Record<string, Partial<PmcppCase>>> = {
  // Not a defect: the recording replaced CR LF by LF. The reference's output is the same as ours (test/interop).
  CRLF: { stdout: '# 1 "in"\n\n1\r\n' },
  'last line without newline': { stdout: '# 1 "in"\na\nb\n' },
  'only line without newline': { stdout: '# 1 "in"\nabc\n' },
  'include file last line no newline': { stdout: '# 1 "in"\n# 1 "d"\none\ntwo\n# 2 "in"\nB\n' },
  'include last line without newline': { stdout: '# 1 "in"\na\n# 1 "x"\nhello\n# 3 "in"\n' },
  'shell no newline at end': { stdout: '# 1 "in"\n# 1 "<shell>"\na\nb\n# 2 "in"\nend\n' },
  'two taken else': { rc: 0, stderr: '', stdout: '# 1 "in"\n\n\n\nn\n\n\n\n\nn\n\nz\n' },
  'unterminated ifdef true': {
    stderr: 'pmcpp: in:\npmcpp: Error: End of input and no matching #endif for #ifdef or #ifndef at line 3\n',
  },
  'unknown hash line in false block': { stdout: '# 1 "in"\n\n\n\n\n\n3\n' },
}

export const pmcppCases = (): readonly PmcppCase[] => readVectors<PmcppCase>('pmns/pmcpp.json').cases

/** Does the case start a process? */
export const isShellCase = ({ name }: PmcppCase): boolean => /^(-s )?shell/.test(name)

export async function run(
  testCase: PmcppCase,
): Promise<{ rc: number; stdout: string; stderr: string; stdoutBytes: Uint8Array }> {
  const cwd = mkdtempSync(join(tmpdir(), 'pmcpp-'))
  try {
    return await runIn(cwd, testCase)
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

async function runIn(
  cwd: string,
  { args, input, bytes, stdin, outfile, files }: PmcppCase,
): Promise<{ rc: number; stdout: string; stderr: string; stdoutBytes: Uint8Array }> {
  const content = bytes ?? encodeText(input ?? '')
  for (const [name, text] of Object.entries(files ?? {})) {
    mkdirSync(join(cwd, text === null ? name : dirname(name)), { recursive: true })
    if (text !== null) writeFileSync(join(cwd, name), text)
  }
  if (input !== null && !stdin) writeFileSync(join(cwd, 'in'), content)
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr'): Output => ({
    write(text) {
      written[name] += text
    },
    writeControls(text) {
      written[name] += text
    },
    writeBytes(bytes) {
      written[name] += decodeText(bytes)
    },
    flush: async () => {},
    isTerminal: false,
  })
  const io: ToolIo = {
    progname: 'pmcpp',
    args: [...args, ...(stdin ? [] : ['in']), ...(outfile ? ['out'] : [])],
    env: { PATH: '/usr/bin:/bin', PCP_CONF: join(cwd, 'pcp.conf'), PCP_VAR_DIR: cwd },
    cwd,
    stdin: (async function* () {
      // In small pieces, as a terminal or pipe does not promise whole lines.
      for (let at = 0; at < content.length; at += 3) yield content.subarray(at, at + 3)
    })(),
    stdout: output('stdout'),
    stderr: output('stderr'),
    now: Date.now,
    signal: new AbortController().signal,
  }
  writeFileSync(join(cwd, 'pcp.conf'), '')
  const rc = await tool.run(io)
  const stdout = outfile ? decodeText(readFileSync(join(cwd, 'out'))) : written.stdout
  return { rc, stdout, stderr: written.stderr, stdoutBytes: encodeText(stdout) }
}
