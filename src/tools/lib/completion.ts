/** Completion in bash and zsh, from the option tables of all commands. docs/how-to/tools.md */
import { DEBUG_NAMES } from '../../model/debug.ts'
import type { ArgumentKind, Option, OptionTable } from './options.ts'
import { STANDARD } from './standard.ts'
import type { Tool } from './tool.ts'

/** The command that runs others; its arguments are completed as theirs. */
const ALL = 'pcp-ts'

/** Kinds by the usual names of arguments. */
const KINDS: readonly (readonly [RegExp, ArgumentKind])[] = [
  [/archive/i, 'archive'],
  [/metric/i, 'metric'],
  [/host/i, 'host'],
  [/dir/i, 'directory'],
  [/file|path/i, 'file'],
]

/** Returns the kind of an option's argument; undefined for an option without one. */
export function argumentKind(option: Option): ArgumentKind | undefined {
  if (option.arg === undefined) return undefined
  if (option.kind !== undefined) return option.kind
  if (option === STANDARD.debug) return 'debug'
  if (option.long === 'archive') return 'archive'
  return kindOf(option.arg)
}

/** Returns the kind of a command's operands: as the table declares, or the first word of its synopsis. */
export function operandKind(table: OptionTable | undefined): ArgumentKind {
  return table?.operands ?? kindOf(table?.synopsis ?? '')
}

function kindOf(text: string): ArgumentKind {
  const found = KINDS.map(([pattern, kind]) => ({ at: text.search(pattern), kind }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
  return found[0]?.kind ?? 'none'
}

/** Returns the options that completion offers for a command. */
export function optionsOf(table: OptionTable | undefined): readonly Option[] {
  return (table?.rows ?? []).filter(
    (row): row is Option => !('heading' in row) && (row.help !== undefined || row === STANDARD.debug),
  )
}

/** The bash code shared by all commands; the option table follows it. */
const BASH = `# Completion of PCP's commands in bash. Generated from their option tables.
# _pcp_table sets what a command has: words LETTER:LONG:KIND, KIND empty for an option without argument.

_pcp_debug='${DEBUG_NAMES.join(' ')} all'

# Options of the words before the cursor that say where names come from, in _pcp_source.
_pcp_find_source() {
  local i word
  _pcp_source=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case $word in
      -h | -a | -n | -N | -K | --host | --archive | --namespace)
        [[ \${COMP_WORDS[i + 1]} == '=' ]] && ((i++))
        [[ $word == -[hanNK] ]] || word=-\${word:2:1}
        # The shell has split hosts with a port at the colon.
        local value=\${COMP_WORDS[i + 1]}
        [[ \${COMP_WORDS[i + 2]} == ':' ]] && value+=:\${COMP_WORDS[i + 3]}
        [[ -n $value ]] && _pcp_source+=("$word" "\${value/#\\~/$HOME}")
        ;;
      -L | --local-PMDA) _pcp_source+=(-L) ;;
    esac
  done
}

# Names of metrics that begin with $1, up to their next dot.
_pcp_metrics() {
  local cur=$1 parent='' name rest
  local -A seen=()
  local -a _pcp_source
  [[ $cur == *.* ]] && parent=\${cur%.*}
  _pcp_find_source
  while read -r name; do
    [[ $name == "$cur"* ]] || continue
    rest=\${name#"$cur"}
    [[ $rest == *.* ]] && name=$cur\${rest%%.*}.
    [[ -n \${seen[$name]} ]] && continue
    seen[$name]=1
    COMPREPLY+=("$name")
  done < <(pcp-ts pminfo "\${_pcp_source[@]}" \${parent:+"$parent"} 2>/dev/null </dev/null)
  ((\${#COMPREPLY[@]} == 1)) && [[ \${COMPREPLY[0]} == *. ]] && compopt -o nospace 2>/dev/null
}

# Archives by the name their files share.
_pcp_archives() {
  local file
  compopt -o filenames 2>/dev/null
  while read -r file; do
    case $file in
      *.index | *.meta | *.meta.* | *.[0-9] | *.[0-9].*) [[ $file == *.index ]] && COMPREPLY+=("\${file%.index}") ;;
      *) [[ -d $file ]] && COMPREPLY+=("$file") ;;
    esac
  done < <(compgen -f -- "$1")
}

_pcp_hosts() {
  local hosts
  hosts=$(compgen -A hostname -- "$1")
  mapfile -t COMPREPLY < <(compgen -W "$hosts local: localhost" -- "$1")
}

_pcp_argument() {
  case $1 in
    metric) _pcp_metrics "$2" ;;
    archive) _pcp_archives "$2" ;;
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    directory) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    host) _pcp_hosts "$2" ;;
    command) mapfile -t COMPREPLY < <(compgen -W "$_pcp_words" -- "$2") ;;
    debug)
      local before=''
      [[ $2 == *,* ]] && before=\${2%,*},
      mapfile -t COMPREPLY < <(compgen -P "$before" -W "$_pcp_debug" -- "\${2##*,}")
      compopt -o nospace 2>/dev/null
      ;;
  esac
}

_pcp() {
  local subcommand=''
  # The command that runs the others: what follows is theirs.
  if [[ \${COMP_WORDS[0]##*/} == pcp-ts ]]; then
    if ((COMP_CWORD == 1)); then
      mapfile -t COMPREPLY < <(compgen -W "$_pcp_words" -- "\${COMP_WORDS[1]}")
      return
    fi
    COMP_WORDS=("\${COMP_WORDS[@]:1}")
    ((COMP_CWORD--))
    subcommand=pcp-ts-\${COMP_WORDS[0]}
  fi
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} word letter long kind
  local -a _pcp_options
  local _pcp_operands
  COMPREPLY=()
  _pcp_table "$subcommand" || _pcp_table "\${COMP_WORDS[0]##*/}" || return
  # The shell has split --long=value at the equals sign.
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $prev == '=' ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for word in "\${_pcp_options[@]}"; do
    IFS=: read -r letter long kind <<<"$word"
    [[ -n $kind ]] || continue
    if [[ ( -n $long && $prev == "--$long" ) || ( -n $letter && $prev == -*([!-])"$letter" ) ]]; then
      _pcp_argument "$kind" "$cur"
      return
    fi
  done
  if [[ $cur == -* ]]; then
    local words=''
    for word in "\${_pcp_options[@]}"; do
      IFS=: read -r letter long kind <<<"$word"
      [[ -n $letter && $cur != --* ]] && words+=" -$letter"
      [[ -n $long ]] && words+=" --$long\${kind:+=}"
    done
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    [[ \${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return
  fi
  _pcp_argument "$_pcp_operands" "$cur"
}
`

/** An installed PCP has completion for its commands, which must stay. */
const BASH_END = `
# Completes pcp-ts, and each name that runs the command of this package.
_pcp_register() {
  local program bin name dir IFS=:
  complete -F _pcp pcp-ts
  program=$(type -P pcp-ts) || return 0
  bin=$(readlink -f -- "$program") || return 0
  bin=\${bin%/*}
  for name in "\${_pcp_names[@]}"; do
    for dir in $PATH; do
      [[ -f $dir/$name && -x $dir/$name ]] || continue
      [[ $dir/$name -ef $bin/$name ]] && complete -F _pcp "$name"
      break
    done
  done
  return 0
}

shopt -s extglob
_pcp_register
`

/** Returns the completion file for bash. */
export function bashCompletion(tools: readonly Tool[]): string {
  const rows = tools.map(({ name, options }) => {
    const specs = optionsOf(options).map(
      (option) => `${bashLetter(option)}:${option.long ?? ''}:${argumentKind(option) ?? ''}`,
    )
    const list = specs.map((spec) => `'${spec}'`).join(' ')
    return `    ${name}) _pcp_operands=${operandKind(options)} _pcp_options=(${list}) ;;`
  })
  const table = `_pcp_table() {\n  case $1 in\n${rows.join('\n')}\n    *) return 1 ;;\n  esac\n}\n`
  return `${BASH}\n${table}\n_pcp_words='${words(tools).join(' ')}'\n_pcp_names=(${classic(tools).join(' ')})\n${BASH_END}`
}

const isSubcommand = ({ name }: Tool): boolean => name.startsWith(`${ALL}-`)

/** Returns the names of PCP's commands. */
const classic = (tools: readonly Tool[]): readonly string[] =>
  tools.filter((tool) => tool.name !== ALL && !isSubcommand(tool)).map(({ name }) => name)

/** Returns the first arguments of the command that runs others. */
export function words(tools: readonly Tool[]): readonly string[] {
  return [...tools.filter(isSubcommand).map(({ name }) => name.slice(ALL.length + 1)), ...classic(tools)]
}

/** `-?` is left out, as it is a pattern to the shell; --help is the same. */
function bashLetter({ short }: Option): string {
  return short === undefined || short === '?' ? '' : short
}

/** The zsh code shared by all commands. */
const ZSH = `# Completion of PCP's commands in zsh. Generated from their option tables.

_pcp_metrics() {
  local -a from names
  local i parent='' word
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    case $word in
      -h | -a | -n | -N | -K) from+=($word $words[i+1]) ;;
      --host=* | --archive=* | --namespace=*) from+=(-$word[3] \${word#*=}) ;;
      -L | --local-PMDA) from+=(-L) ;;
    esac
  done
  [[ $PREFIX == *.* ]] && parent=\${PREFIX%.*}
  names=(\${(f)"$(pcp-ts pminfo $from $parent 2>/dev/null </dev/null)"})
  _multi_parts . names
}

_pcp_archives() {
  local -a bases
  bases=($PREFIX*.index(N:r))
  compadd -f -a bases
  _files -/
}

_pcp_debug() {
  _values -s , 'diagnostic' ${DEBUG_NAMES.join(' ')} all
}
`

const ZSH_ACTIONS: Readonly<Record<ArgumentKind, string>> = {
  metric: '_pcp_metrics',
  archive: '_pcp_archives',
  file: '_files',
  directory: '_files -/',
  host: '_hosts',
  debug: '_pcp_debug',
  command: '_pcp_words',
  none: ' ',
}

const ZSH_ALL = `if [[ $service == ${ALL} ]]; then
  if (( CURRENT > 2 )); then
    shift words
    (( CURRENT-- ))
    service=\${words[1]}
    (( \${_pcp_subcommands[(Ie)$service]} )) && service=${ALL}-$service
  fi
elif [[ ! \${commands[$service]} -ef \${commands[${ALL}]:A:h}/$service ]]; then
  # Another program of this name, such as an installed PCP's.
  if (( $+functions[_pcp] )); then _pcp "$@"; else _default; fi
  return
fi`

/** Returns the completion file for zsh, with the help texts of options. */
export function zshCompletion(tools: readonly Tool[]): string {
  const subcommands = tools.filter(isSubcommand).map(({ name }) => name.slice(ALL.length + 1))
  const cases = tools.map(({ name, options }) => {
    if (name === ALL) return `  ${name})\n    _pcp_words\n    ;;`
    const specs = optionsOf(options).flatMap(zshSpecs)
    const kind = operandKind(options)
    const operands = kind === 'none' ? [] : [`'*:${kind}:${ZSH_ACTIONS[kind]}'`]
    return `  ${name})\n    _arguments -s ${[...specs, ...operands].join(' \\\n      ')}\n    ;;`
  })
  return `#compdef ${[ALL, ...classic(tools)].join(' ')}\n${ZSH}\n_pcp_words() {\n  compadd -- ${words(tools).join(' ')}\n}\nlocal -a _pcp_subcommands=(${subcommands.join(' ')})\n${ZSH_ALL}\ncase $service in\n${cases.join('\n')}\nesac\n`
}

function zshSpecs(option: Option): string[] {
  const { short, long, arg, help = 'print diagnostics' } = option
  const kind = argumentKind(option)
  const text = `[${help.replace(/[[\]\\:]/g, '\\$&').replaceAll("'", "'\\''")}]`
  const action = kind === undefined ? '' : `:${arg}:${ZSH_ACTIONS[kind]}`
  const specs: string[] = []
  if (short !== undefined) specs.push(`'*-${short}${kind === undefined ? '' : '+'}${text}${action}'`)
  if (long !== undefined) specs.push(`'*--${long}${kind === undefined ? '' : '='}${text}${action}'`)
  return specs
}
