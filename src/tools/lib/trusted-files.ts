/** Trusted files in the user's home or working directory. */
import { PcpError } from '../../model/errors.ts'
import { hasTrustedTree, readTrustedFile, trustedPath, UntrustedPathError } from '../../sys/trusted-path.ts'

/** Throws EACCES, ending with `remedy`, if another user could have written a file. */
export function requireTrustedFile(path: string, remedy: string): void {
  orEacces(() => trustedPath(path, remedy))
}

/** Returns the text of a file; undefined if it cannot be read. Throws EACCES, ending with `remedy`, if another user could have written it. */
export function readTrustedText(path: string, remedy: string): string | undefined {
  return orEacces(() => {
    try {
      return readTrustedFile(path, remedy)
    } catch (error) {
      if (error instanceof UntrustedPathError) throw error
      return undefined // the file is optional
    }
  })
}

/** Returns whether a directory exists. Throws EACCES, ending with `remedy`, if another user could have written a file in it. */
export function hasTrustedDir(path: string, remedy: string): boolean {
  return orEacces(() => hasTrustedTree(path, remedy))
}

function orEacces<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw PcpError.from(error)
  }
}
