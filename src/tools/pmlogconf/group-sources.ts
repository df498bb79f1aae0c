/** Reads groups from a folder, or uses those of this package. pmlogconf(1) */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { BUILT_IN_GROUPS } from './built-in.ts'
import { type Group, isGroupFile, parseGroup } from './group-file.ts'

/** Groups by tag, which is the path of their file below the folder. */
export interface Groups {
  /** Folder as named in configurations. */
  readonly dir: string
  readonly groups: ReadonlyMap<string, Group>
  /** Errors of invalid files. */
  readonly problems: ReadonlyMap<string, PcpError>
}

/** Reads the groups of a folder. If the default folder does not exist, returns the groups of this package. */
export function readGroups(dir: string, isAskedFor: boolean, cwd: string): Groups {
  const folder = resolve(cwd, dir)
  const texts = !isAskedFor && !existsSync(folder) ? Object.entries(BUILT_IN_GROUPS) : groupTexts(dir, folder)
  const groups = new Map<string, Group>()
  const problems = new Map<string, PcpError>()
  for (const [tag, text] of texts) {
    try {
      groups.set(tag, parseGroup(text, `${dir}/${tag}`))
    } catch (error) {
      problems.set(tag, PcpError.from(error))
    }
  }
  return { dir, groups, problems }
}

/** Reads one group file. */
export function readGroup(file: string, cwd: string): Group {
  try {
    const text = decodeText(readFileSync(resolve(cwd, file)))
    if (!isGroupFile(text)) throw new PcpError('PM_ERR_GENERIC', `${file} is not a group file`)
    return parseGroup(text, file)
  } catch (error) {
    const { code, message } = PcpError.from(error)
    throw new PcpError(code, `Error: ${message}`, { cause: error })
  }
}

function groupTexts(dir: string, folder: string): [string, string][] {
  const found: [string, string][] = []
  const walk = (below: string): void => {
    for (const name of readdirSync(join(folder, below)).sort()) {
      const tag = below === '' ? name : `${below}/${name}`
      const stat = statSync(join(folder, tag), { throwIfNoEntry: false })
      if (stat?.isDirectory() === true) walk(tag)
      else if (stat?.isFile() === true) {
        const text = decodeText(readFileSync(join(folder, tag)))
        if (isGroupFile(text)) found.push([tag, text])
      }
    }
  }
  try {
    walk('')
  } catch (error) {
    const { code, text } = PcpError.from(error)
    throw new PcpError(code, `Cannot open pmlogconf groups path "${dir}": ${text}`, { cause: error })
  }
  return found
}
