/** Loading name spaces. The caller provides file access (`sys/pmns-files.ts` for Node). docs/formats/pmns.md §5 */
import { PcpError } from '../model/errors.ts'
import { type CppInclude, preprocess } from './cpp.ts'
import { diagnosticText, parsePmns } from './parse.ts'
import type { Pmns } from './tree.ts'

/** File access of the loader. */
export interface PmnsFiles {
  /** Reads a file; throws the system's error with its errno name as `code`. */
  readonly readText: (path: string) => string
  /** Finds the file of an #include in `mainFile`. */
  readonly findInclude: (name: string, mainFile: string) => CppInclude | undefined
}

/** Options of `loadPmns`. */
export interface LoadOptions {
  /** Runs the preprocessor; default true. */
  readonly preprocess?: boolean
  /** Rejects a second name for a PMID; default false. */
  readonly unique?: boolean
  /** Allows a subtree instead of a whole name space; default false. */
  readonly subtree?: boolean
  readonly defines?: Readonly<Record<string, string>>
}

/**
 * Loads a name space. Throws PcpError with PCP's complete output about the failure as its message: PM_ERR_PMNS, or
 * the errno if the file cannot be read. #shell is rejected. @see pmLoadASCIINameSpace(3)
 */
export function loadPmns(path: string, files: PmnsFiles, options: LoadOptions = {}): Pmns {
  const usesCpp = options.preprocess ?? true
  let text = readMain(path, files, usesCpp)
  if (usesCpp) {
    const { defines } = options
    const resolve = (name: string): CppInclude | undefined => files.findInclude(name, path)
    try {
      text = preprocess(text, { file: path, resolve, ...(defines && { defines }) })
    } catch (error) {
      throw cppFailure(error)
    }
  }
  const { pmns, diagnostics } = parsePmns(text, {
    file: path,
    unique: options.unique ?? false,
    subtree: options.subtree ?? false,
  })
  if (pmns !== undefined) return pmns
  const { reason } = diagnostics.find((diagnostic) => diagnostic.reason !== undefined) ?? {}
  throw new PcpError('PM_ERR_PMNS', diagnostics.map(diagnosticText).join('').replace(/\n+$/, ''), { reason })
}

function readMain(path: string, files: PmnsFiles, usesCpp: boolean): string {
  try {
    return files.readText(path)
  } catch (error) {
    const { code } = PcpError.from(error)
    // Opening a directory succeeds, so in PCP it is the preprocessor that reports a missing file.
    if (code === 'EISDIR' && usesCpp)
      throw cppFailure(
        new PcpError('PM_ERR_PMNS', `pmcpp: ${path}:\npmcpp: Error: No such file or directory`),
      )
    throw new PcpError(code, `Error Parsing ASCII PMNS: Cannot open "${path}"`, { cause: error })
  }
}

function cppFailure(error: unknown): PcpError {
  const text = error instanceof Error ? error.message : String(error)
  const message = `${text}\nError Parsing ASCII PMNS: pmcpp returned non-zero exit status`
  return new PcpError('PM_ERR_PMNS', message, { cause: error })
}
