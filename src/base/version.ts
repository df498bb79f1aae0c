/** Version of this package; a test keeps it equal to package.json. */
export const VERSION = '0.1.0'

/** Returns the output of a command's --version option. @see pmGetOptions(3) */
export function versionLine(progname: string): string {
  return `${progname} version ${VERSION}\n`
}
