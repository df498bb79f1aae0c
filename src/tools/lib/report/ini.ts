/** The syntax of report configurations: sections of keys with values. pmrep.conf(5) */
import { PcpError } from '../../../model/errors.ts'

/** Keys and values by section, in the order of the file. */
export type Sections = Map<string, Map<string, string>>

/**
 * Parses a file. Keys end with `=` or `:`; indented lines continue the previous value. Throws PM_ERR_GENERIC with the lines to
 * print for a line that is neither a section nor a key with a value.
 */
export function parseIni(source: string, file: string): Sections {
  const sections: Sections = new Map()
  let section: Map<string, string> | undefined
  let name = ''
  let key: string | undefined
  for (const [i, line] of source.split('\n').entries()) {
    const stripped = line.trim()
    if (stripped === '' || stripped.startsWith('#') || stripped.startsWith(';')) continue
    if (/^\s/.test(line) && section !== undefined && key !== undefined) {
      section.set(key, `${section.get(key)}\n${unescaped(stripped)}`)
      continue
    }
    const heading = /^\[(.+)\]/.exec(stripped)
    if (heading !== null) {
      name = heading[1]!
      if (sections.has(name)) throw twice(file, i, `section '${name}'`)
      section = new Map()
      sections.set(name, section)
      key = undefined
      continue
    }
    if (section === undefined)
      throw unreadable(
        file,
        i,
        `File contains no section headers.\nfile: '${file}', line: ${i + 1}\n'${line}\\n'`,
      )
    const at = stripped.search(/[=:]/)
    if (at <= 0)
      throw unreadable(file, i, `Source contains parsing errors: '${file}'\n\t${numbered(i)}: '${line}\\n'`)
    key = stripped.slice(0, at).trim()
    if (section.has(key)) throw twice(file, i, `option '${key}' in section '${name}'`)
    section.set(key, unescaped(stripped.slice(at + 1).trim()))
  }
  return sections
}

/** 6.0.3 requires `%%` for a percent sign; 7.2 also accepts a single one. */
function unescaped(value: string): string {
  return value.replaceAll('%%', '%')
}

/** Returns Python's error about a duplicate, as printed by 6.0.3. */
function twice(file: string, line: number, what: string): PcpError {
  return unreadable(file, line, `While reading from '${file}' ${numbered(line)}: ${what} already exists`)
}

function numbered(line: number): string {
  return `[line ${String(line + 1).padStart(2)}]`
}

function unreadable(file: string, line: number, why: string): PcpError {
  return new PcpError(
    'PM_ERR_GENERIC',
    `Failed to read configuration file '${file}', line ${line + 1}:\n${why}`,
  )
}
