/** Completion in fish, from the option tables of all commands. docs/how-to/tools.md */
import { DEBUG_NAMES } from '../../model/debug.ts'
import { argumentKind, operandKind, optionsOf } from './completion.ts'
import type { ArgumentKind, Option } from './options.ts'
import type { Tool } from './tool.ts'

/** The fish code shared by all commands. */
const FISH = `# Completion of PCP's commands in fish. Generated from their option tables.

# Options of the words before the cursor that say where names come from.
function __pcp_source
    set -l words (commandline -opc)
    set -l i 2
    while test $i -le (count $words)
        switch $words[$i]
            case -h -a -n -N -K
                set -l next (math $i + 1)
                test $next -le (count $words); and printf '%s\\n' $words[$i] $words[$next]
            case '--host=*' '--archive=*' '--namespace=*'
                printf '%s\\n' -(string sub -s 3 -l 1 -- $words[$i]) (string replace -r '^[^=]*=' '' -- $words[$i])
            case -L --local-PMDA
                echo -- -L
        end
        set i (math $i + 1)
    end
end

# Names of metrics that begin with the word, up to their next dot.
function __pcp_metrics
    set -l word (commandline -ct)
    set -l parent (string match -r '^(.*)\\.' -- $word)[2]
    set -l depth (count (string split . -- $word))
    pcp-ts pminfo (__pcp_source) $parent 2>/dev/null </dev/null | string match -- "$word*" | while read -l name
        set -l parts (string split . -- $name)
        if test (count $parts) -gt $depth
            echo (string join . -- $parts[1..$depth]).
        else
            echo $name
        end
    end | sort -u
end

# Archives by the name their files share.
function __pcp_archives
    for file in (commandline -ct)*
        if test -d $file
            echo $file/
        else if string match -q '*.index' -- $file
            string replace -r '\\.index$' '' -- $file
        end
    end
end

function __pcp_debug
    set -l before (string match -r '^.*,' -- (commandline -ct))
    for name in ${DEBUG_NAMES.join(' ')} all
        echo $before$name
    end
end
`

const ACTIONS: Readonly<Record<ArgumentKind, string>> = {
  metric: "-f -a '(__pcp_metrics)'",
  archive: "-f -a '(__pcp_archives)'",
  file: '-F',
  directory: "-f -a '(__fish_complete_directories)'",
  host: "-f -a '(__fish_print_hostnames) local: localhost'",
  debug: "-f -a '(__pcp_debug)'",
  command: "-f -a '(__pcp_words)'",
  none: '-f',
}

/** Returns the completion file for fish, with the help texts of options. `all` is the command that runs others. */
export function fishCompletion(tools: readonly Tool[], all: string): string {
  const lines = tools.flatMap((tool) => {
    const { name, summary, options } = tool
    if (name === all) {
      const others = tools.filter((each) => each.name !== all)
      const names = others.filter((each) => !isSubcommand(each, all)).map((each) => each.name)
      return [
        ...others.map(
          (each) =>
            `complete -c ${all} -n __fish_use_subcommand -f -a ${wordOf(each, all)} -d ${quoted(each.summary)}`,
        ),
        `complete -c ${all} -n '__fish_seen_subcommand_from ${names.join(' ')}' -f -a '(__fish_complete_subcommand)'`,
        `function __pcp_words\n    printf '%s\\n' ${others.map((each) => wordOf(each, all)).join(' ')}\nend`,
      ]
    }
    const target = isSubcommand(tool, all)
      ? `${all} -n '__fish_seen_subcommand_from ${wordOf(tool, all)}'`
      : name
    const rows = optionsOf(options).map((option) => `complete -c ${target} ${optionWords(option)}`)
    return [`# ${name}: ${summary}`, `complete -c ${target} ${ACTIONS[operandKind(options)]}`, ...rows]
  })
  return `${FISH}\n${lines.join('\n')}\n`
}

const isSubcommand = ({ name }: Tool, all: string): boolean => name.startsWith(`${all}-`)

/** Returns the argument that runs a command. */
const wordOf = (tool: Tool, all: string): string =>
  isSubcommand(tool, all) ? tool.name.slice(all.length + 1) : tool.name

function optionWords(option: Option): string {
  const { short, long, help = 'print diagnostics' } = option
  const kind = argumentKind(option)
  const names = [
    ...(short === undefined ? [] : [`-s ${quoted(short)}`]),
    ...(long === undefined ? [] : [`-l ${long}`]),
  ]
  const argument = kind === undefined ? '' : ` -r ${ACTIONS[kind]}`
  return `${names.join(' ')}${argument} -d ${quoted(help)}`
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
