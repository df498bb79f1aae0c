/** Version of this package; a test keeps it equal to package.json. */
export const VERSION = '0.1.0'

/** What a command says when it is asked for its version. @see pmGetOptions(3) */
export function versionLine(progname: string): string {
  return `${progname} version ${VERSION}\n`
}
