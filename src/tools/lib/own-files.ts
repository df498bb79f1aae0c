/** Files in the user's home or working directory that tools obey. */
import { PcpError } from '../../model/errors.ts'
import { insistOnTrustedTree, trustedPath } from '../../sys/trusted-path.ts'

/** Throws EACCES, ending with `remedy`, when another user could have written a file; missing ones are fine. */
export function insistOnOwnFile(path: string, remedy: string): void {
  insist(() => trustedPath(path, remedy))
}

/** Throws EACCES, ending with `remedy`, when another user could have written anything in a directory. */
export function insistOnOwnTree(path: string, remedy: string): void {
  insist(() => insistOnTrustedTree(path, remedy))
}

function insist(check: () => void): void {
  try {
    check()
  } catch (error) {
    throw PcpError.from(error)
  }
}
