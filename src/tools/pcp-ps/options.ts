/** The command line of pcp ps. pcp-ps(1) */
import { type GivenOption, HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { parsePids } from '../lib/processes/process-values.ts'
import { STANDARD } from '../lib/standard.ts'
import { COLUMNS, isColumn } from './columns.ts'
import type { LayoutName } from './layouts.ts'

/** Sort keys. */
export type SortKey = '%cpu' | '%mem'

/** The parsed command line. */
export interface PsOptions {
  /** A predefined layout, or columns. */
  readonly layout: LayoutName | readonly string[]
  readonly commands: ReadonlySet<string> | undefined
  readonly pids: ReadonlySet<number> | undefined
  readonly parents: ReadonlySet<number> | undefined
  readonly user: string | undefined
  /** In descending order. */
  readonly sort: SortKey | undefined
}

export const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'General options' },
    STANDARD.debug,
    STANDARD.samples,
    STANDARD.interval,
    STANDARD.timezone,
    STANDARD.hostzone,
    VERSION_ROW,
    HELP_ROW,
    { heading: 'Processes' },
    { short: 'e', help: 'all processes, with their terminals' },
    { short: 'c', arg: 'NAME,...', kind: 'none', help: 'processes of these commands' },
    { short: 'p', arg: 'PID,...', kind: 'none', help: 'these processes' },
    { short: 'P', arg: 'PPID,...', kind: 'none', help: 'children of these processes' },
    { short: 'U', arg: 'USER', kind: 'none', help: 'processes of this user' },
    { heading: 'Columns' },
    { short: 'u', help: 'the usual columns: owner, processor, memory, state, start' },
    {
      short: 'o',
      arg: 'COLUMN,...',
      kind: 'none',
      help: `ALL, or any of: ${Object.keys(COLUMNS).join(' ')}`,
    },
    { short: 'O', long: 'sort', arg: 'COLUMN', kind: 'none', help: 'sort by %cpu or %mem, largest first' },
  ],
}

/** Reads the options; operands are added to `problems`. Returns a text for other errors. */
export function readOptions(
  given: readonly GivenOption[],
  { operands, problems }: { readonly operands: readonly string[]; readonly problems: string[] },
): PsOptions | string {
  const last = (letter: string): string | undefined => given.findLast(({ name }) => name === letter)?.value
  for (const operand of operands) problems.push(`unexpected argument "${operand}"`)
  const pids = numbersOf(last('p'))
  if (pids === 'invalid') return 'Invalid pid Id List: use comma separated pids without whitespaces'
  const parents = numbersOf(last('P'))
  if (parents === 'invalid') return 'Invalid ppid Id List: use comma separated pids without whitespaces'
  const columns = last('o')
  const sort = last('O')
  if (sort !== undefined && sort !== '%cpu' && sort !== '%mem')
    return `Cannot sort by "${sort}": use %cpu or %mem`
  const layout =
    columns === undefined || columns.toLowerCase() === 'all' ? layoutOf(last) : columns.split(',')
  if (typeof layout !== 'string' && !layout.every(isColumn))
    return 'Invalid Column List: incorrect name or improper comma-separated format'
  const commands = last('c')
  return {
    layout,
    commands: commands === undefined ? undefined : new Set(commands.split(',')),
    pids,
    parents,
    user: last('U'),
    sort,
  }
}

/** Returns the layout of the most specific option. */
function layoutOf(last: (letter: string) => string | undefined): LayoutName {
  if (last('o') !== undefined) return 'all'
  if (last('U') !== undefined) return 'of-user'
  if (last('u') !== undefined) return 'user'
  if (last('e') !== undefined) return 'every'
  return (last('c') ?? last('p') ?? last('P')) ? 'selected' : 'plain'
}

function numbersOf(list: string | undefined): ReadonlySet<number> | undefined | 'invalid' {
  return list === undefined ? undefined : (parsePids(list) ?? 'invalid')
}
