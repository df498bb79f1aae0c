/** Parses configuration files: `[section]`, `name = value`, comments after # or ;. pmproxy(1) */

/** Values by `section.name`. */
export type Ini = ReadonlyMap<string, string>

/** Parses a text; `report` gets invalid lines, `onSetting` the settings, both with line numbers from 1. */
export function parseIni(
  text: string,
  report: (line: number, text: string) => void = () => undefined,
  onSetting: (line: number, key: string) => void = () => undefined,
): Ini {
  const found = new Map<string, string>()
  let section = ''
  text.split('\n').forEach((raw, i) => {
    const line = raw.trim()
    if (line === '' || line.startsWith('#') || line.startsWith(';')) return
    const heading = /^\[([^\]]*)\]$/.exec(line)
    const equals = line.search(/[=:]/)
    if (heading !== null) section = heading[1]!.trim()
    else if (equals <= 0) report(i + 1, line)
    else {
      const key = `${section}.${line.slice(0, equals).trim()}`
      found.set(key, unquoted(line.slice(equals + 1)))
      onSetting(i + 1, key)
    }
  })
  return found
}

/** Strips quotes, and a comment, which starts with a space and # or ;. */
function unquoted(value: string): string {
  const text = value.replace(/\s[#;].*$/, '').trim()
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text
}
