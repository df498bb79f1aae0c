/** Runs commands in-process, over any source. */
import { decodeText } from '../../src/base/text.ts'
import type { MetricSource } from '../../src/model/source.ts'
import type { connect } from '../../src/pmapi/connect.ts'
import { Context } from '../../src/pmapi/context.ts'
import { withLocalNames } from '../../src/pmns/local-names.ts'
import type { Output, Tool, ToolIo } from '../../src/tools/lib/tool.ts'

/** Output of a command. */
export interface Printed {
  stdout: string
  stderr: string
}

/** The environment of a command in a test. */
export interface TestIo extends ToolIo {
  readonly printed: Printed
}

/** Makes the environment of a command; contexts are opened over `source`. */
export function testIo(
  progname: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  source?: MetricSource,
): TestIo {
  const printed: Printed = { stdout: '', stderr: '' }
  const output = (stream: keyof Printed): Output => ({
    write: (text) => {
      printed[stream] += text
    },
    writeControls: (text) => {
      printed[stream] += text
    },
    writeBytes: (bytes) => {
      printed[stream] += decodeText(bytes)
    },
    flush: async () => {},
    isTerminal: false,
  })
  return {
    progname,
    args,
    env: { TZ: 'UTC', ...env },
    cwd: '/',
    stdin: (async function* () {})(),
    stdout: output('stdout'),
    stderr: output('stderr'),
    now: () => 0,
    signal: new AbortController().signal,
    printed,
    ...(source === undefined ? {} : { connect: contextsOver(source) }),
  }
}

/** Returns a replacement of `connect` that opens contexts without connecting. */
function contextsOver(source: MetricSource): typeof connect {
  return async (_, { names, derived } = {}) =>
    Context.over(names === undefined ? source : withLocalNames(source, names), {
      hostname: 'testhost',
      ...(derived === undefined ? {} : { derived }),
    })
}

/** Runs a command over a source. Errors that end it are printed as by `main`. */
export async function runTool(
  tool: Tool,
  args: readonly string[],
  source?: MetricSource,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  const io = testIo(tool.name, args, env, source)
  let status = 1
  try {
    status = await tool.run(io)
  } catch (error) {
    io.stderr.write(`${tool.name}: ${(error as Error).message}\n`)
  }
  return { status, ...io.printed }
}
