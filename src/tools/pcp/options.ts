/** The command line of pcp: the options passed on, and their environment variables. pcp(1) */
import { type GivenOption, HELP_ROW, type Option, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { STANDARD, type StandardName } from '../lib/standard.ts'

/** The environment variable that passes each option to the command. */
const VARIABLES = [
  ['align', 'PCP_ALIGN_TIME'],
  ['archive', 'PCP_ARCHIVE'],
  ['debug', 'PCP_DEBUG'],
  ['guimode', 'PCP_GUIMODE'],
  ['host', 'PCP_HOST'],
  ['localPmda', 'PCP_LOCALMODE'],
  ['namespace', 'PCP_NAMESPACE'],
  ['origin', 'PCP_ORIGIN_TIME'],
  ['guiport', 'PCP_GUIPORT'],
  ['start', 'PCP_START_TIME'],
  ['samples', 'PCP_SAMPLES'],
  ['finish', 'PCP_FINISH_TIME'],
  ['interval', 'PCP_INTERVAL'],
  ['timezone', 'PCP_TIMEZONE'],
  ['hostzone', 'PCP_HOSTZONE'],
] as const satisfies readonly (readonly [StandardName, string])[]

const VARIABLE_OF: ReadonlyMap<Option, string> = new Map(
  VARIABLES.map(([name, variable]) => [STANDARD[name], variable]),
)

/** Statistics of pmie in the summary. */
export const PMIE_ROW: Option = { short: 'P', long: 'pmie', help: 'show what pmie evaluated, in the summary' }

/** The options; arguments after the command's name belong to the command. */
export const OPTIONS: OptionTable = {
  synopsis: '[options] [command [arguments]]',
  operands: 'none',
  posix: true,
  rows: [
    { heading: 'Options of the summary, which is shown without a command' },
    PMIE_ROW,
    { heading: 'Options for any command' },
    ...VARIABLES.map(([name]) => STANDARD[name]),
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Returns the environment variables for options. */
export function variablesFor(given: readonly GivenOption[]): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {}
  for (const { option, value } of given) {
    const variable = VARIABLE_OF.get(option)
    if (variable !== undefined) variables[variable] = option.arg === undefined ? 'true' : value
  }
  return variables
}
